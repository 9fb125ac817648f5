"""Intake jobs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0015_intake_jobs"
down_revision: str | None = "0014_batch_predictions"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "intake_jobs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("order", JSON, nullable=False),
        sa.Column("source_sha256", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker_deaths", sa.Integer(), nullable=False),
        sa.Column("progress", JSON, nullable=True),
        sa.Column("result", JSON, nullable=True),
        sa.Column("error", JSON, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.Column("heartbeat_at", MOMENT, nullable=True),
        sa.Column("executor_id", sa.String(), nullable=True),
        sa.Column("request_id", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_intake_jobs")),
    )
    for columns in (["tenant_id", "id"], ["status", "id"]):
        op.create_index(op.f(f"ix_intake_jobs_{'_'.join(columns)}"), "intake_jobs", columns)


def downgrade() -> None:
    """Go back."""
    op.drop_table("intake_jobs")
