"""Checkpoints of training jobs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016_checkpoints"
down_revision: str | None = "0015_intake_jobs"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "checkpoints",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name=op.f("fk_checkpoints_job_id_training_jobs")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoints")),
    )
    for columns in (["tenant_id", "job_id"], ["job_id"]):
        op.create_index(op.f(f"ix_checkpoints_{'_'.join(columns)}"), "checkpoints", columns)


def downgrade() -> None:
    """Go back."""
    op.drop_table("checkpoints")
