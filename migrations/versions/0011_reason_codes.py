"""What a model says of its reviews and reasons: a price, and codes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0011_reason_codes"
down_revision: str | None = "0010_sweeps"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.add_column("models", sa.Column("review_price", sa.Double(), nullable=True))
    op.add_column("models", sa.Column("reason_codes", JSON, server_default="{}", nullable=False))


def downgrade() -> None:
    """Go back."""
    for column in ("reason_codes", "review_price"):
        op.drop_column("models", column)
