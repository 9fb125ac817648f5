"""Begin: datasets, cost specs, training jobs, executors, models, versions, aliases."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None
expands: bool = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "cost_specs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(), nullable=True),
        sa.Column("spec", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cost_specs")),
        sa.UniqueConstraint(
            "tenant_id", "name", "revision", name=op.f("uq_cost_specs_tenant_id_name_revision")
        ),
    )
    op.create_index(op.f("ix_cost_specs_tenant_id_id"), "cost_specs", ["tenant_id", "id"], unique=False)

    op.create_table(
        "datasets",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("classes", JSON, nullable=False),
        sa.Column("class_counts", JSON, nullable=False),
        sa.Column("positive_class", sa.String(), nullable=True),
        sa.Column("positive_class_inferred", sa.Boolean(), nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
    )
    op.create_index(op.f("ix_datasets_tenant_id_id"), "datasets", ["tenant_id", "id"], unique=False)

    op.create_table(
        "executors",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reaped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("groups", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executors")),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("tags", JSON, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_models_tenant_id_name")),
    )
    op.create_table(
        "aliases",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version_number", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_aliases_model_id_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_aliases")),
        sa.UniqueConstraint("model_id", "name", name=op.f("uq_aliases_model_id_name")),
    )
    op.create_table(
        "training_jobs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("spec", JSON, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker_deaths", sa.Integer(), nullable=False),
        sa.Column("progress", JSON, nullable=True),
        sa.Column("result", JSON, nullable=True),
        sa.Column("error", JSON, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("executor_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name=op.f("fk_training_jobs_dataset_id_datasets")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_training_jobs")),
    )
    op.create_index(op.f("ix_training_jobs_dataset_id"), "training_jobs", ["dataset_id"], unique=False)
    op.create_index(op.f("ix_training_jobs_status_id"), "training_jobs", ["status", "id"], unique=False)
    op.create_index(op.f("ix_training_jobs_tenant_id_id"), "training_jobs", ["tenant_id", "id"], unique=False)

    op.create_table(
        "versions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("dataset_sha256", sa.String(), nullable=False),
        sa.Column("spec", JSON, nullable=False),
        sa.Column("schema", JSON, nullable=False),
        sa.Column("metrics", JSON, nullable=False),
        sa.Column("library_versions", JSON, nullable=False),
        sa.Column("training_seconds", sa.Double(), nullable=False),
        sa.Column("artifact_sha256", sa.String(), nullable=False),
        sa.Column("artifact_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name=op.f("fk_versions_dataset_id_datasets")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["training_jobs.id"], name=op.f("fk_versions_job_id_training_jobs")
        ),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name=op.f("fk_versions_model_id_models")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("job_id", name=op.f("uq_versions_job_id")),
        sa.UniqueConstraint("model_id", "number", name=op.f("uq_versions_model_id_number")),
    )
    op.create_index(op.f("ix_versions_dataset_id"), "versions", ["dataset_id"], unique=False)


def downgrade() -> None:
    """Go back."""
    op.drop_index(op.f("ix_versions_dataset_id"), table_name="versions")

    op.drop_table("versions")
    op.drop_index(op.f("ix_training_jobs_tenant_id_id"), table_name="training_jobs")
    op.drop_index(op.f("ix_training_jobs_status_id"), table_name="training_jobs")
    op.drop_index(op.f("ix_training_jobs_dataset_id"), table_name="training_jobs")

    op.drop_table("training_jobs")
    op.drop_table("aliases")
    op.drop_table("models")
    op.drop_table("executors")
    op.drop_index(op.f("ix_datasets_tenant_id_id"), table_name="datasets")

    op.drop_table("datasets")
    op.drop_index(op.f("ix_cost_specs_tenant_id_id"), table_name="cost_specs")

    op.drop_table("cost_specs")
