"""Versions may come from elsewhere: without training job and dataset here."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0013_exchange"
down_revision: str | None = "0012_request_ids"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
#: No: the release before cannot read versions that no job has made.
expands: bool = False

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("versions") as versions:
        versions.add_column(sa.Column("origin", JSON, nullable=True))
        for column in ("job_id", "dataset_id"):
            versions.alter_column(column, existing_type=sa.String(), nullable=True)


def downgrade() -> None:
    """Go back; what came from elsewhere cannot stay."""
    op.execute("DELETE FROM versions WHERE job_id IS NULL")
    with op.batch_alter_table("versions") as versions:
        for column in ("job_id", "dataset_id"):
            versions.alter_column(column, existing_type=sa.String(), nullable=False)
        versions.drop_column("origin")
