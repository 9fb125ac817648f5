"""Sweeps, and artifacts that nobody refers to."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0010_sweeps"
down_revision: str | None = "0009_retired_models"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "artifact_marks",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("marked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_artifact_marks")),
    )
    op.create_table(
        "sweeps",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("report", JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweeps")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("sweeps")
    op.drop_table("artifact_marks")
