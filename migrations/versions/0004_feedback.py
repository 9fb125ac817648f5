"""Feedback."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004_feedback"
down_revision: str | None = "0003_watched_models"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "feedback",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("prediction_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("amount", sa.Double(), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("superseded_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
    )
    name = op.f("ix_feedback_tenant_id_prediction_id")
    op.create_index(name, "feedback", ["tenant_id", "prediction_id"], unique=False)


def downgrade() -> None:
    """Go back."""
    op.drop_table("feedback")
