"""The oldest release that runs on this schema."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017_schema_floors"
down_revision: str | None = "0016_checkpoints"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "schema_floors",
        sa.Column("revision", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_schema_floors")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("schema_floors")
