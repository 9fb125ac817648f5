"""Versions keep a report and their test part."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006_reports"
down_revision: str | None = "0005_idempotency_keys"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    for column in ("report_sha256", "test_part_sha256"):
        op.add_column("versions", sa.Column(column, sa.String(), nullable=True))


def downgrade() -> None:
    """Go back."""
    for column in ("test_part_sha256", "report_sha256"):
        op.drop_column("versions", column)
