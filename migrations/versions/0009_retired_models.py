"""Deleted models: the last number of their versions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009_retired_models"
down_revision: str | None = "0008_webhooks"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "retired_models",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "name", name=op.f("pk_retired_models")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("retired_models")
