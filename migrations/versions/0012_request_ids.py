"""The request that asked for a training job."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012_request_ids"
down_revision: str | None = "0011_reason_codes"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.add_column("training_jobs", sa.Column("request_id", sa.String(), nullable=True))


def downgrade() -> None:
    """Go back."""
    op.drop_column("training_jobs", "request_id")
