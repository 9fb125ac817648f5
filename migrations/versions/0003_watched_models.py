"""What a model says about its decision records: rows, retention, control share, shadow."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003_watched_models"
down_revision: str | None = "0002_predictions"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.add_column("models", sa.Column("record_rows", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("models", sa.Column("retention_days", sa.Integer(), nullable=True))
    op.add_column("models", sa.Column("control_share", sa.Double(), nullable=True))
    op.add_column("models", sa.Column("shadow_alias", sa.String(), nullable=True))


def downgrade() -> None:
    """Go back."""
    for column in ("shadow_alias", "control_share", "retention_days", "record_rows"):
        op.drop_column("models", column)
