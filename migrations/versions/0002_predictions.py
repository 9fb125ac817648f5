"""Decision records."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0002_predictions"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "predictions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("version_number", sa.Integer(), nullable=False),
        sa.Column("alias", sa.String(), nullable=True),
        sa.Column("row_id", sa.String(), nullable=True),
        sa.Column("subject", sa.String(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("probabilities", JSON, nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("rule_decision", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=True),
        sa.Column("decision_source", sa.String(), nullable=False),
        sa.Column("expected_cost", JSON, nullable=False),
        sa.Column("costs", JSON, nullable=False),
        sa.Column("propensity", sa.Double(), nullable=False),
        sa.Column("row", JSON, nullable=True),
        sa.Column("shadow_of", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_predictions")),
    )
    for columns in (("model_id", "decided_at"), ("subject",), ("shadow_of",)):
        name = op.f("ix_predictions_" + "_".join(("tenant_id", *columns)))
        op.create_index(name, "predictions", ["tenant_id", *columns], unique=False)


def downgrade() -> None:
    """Go back."""
    op.drop_table("predictions")
