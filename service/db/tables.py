"""The tables. Rows hold plain values; the rules about them live in `service.domain`."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, MetaData, UniqueConstraint, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from service.db.column_types import JsonDocument, UtcDateTime, json_type
from service.domain.training import JobError, JobStatus, Progress, SettledSpec, TrainingSpec

#: Names of constraints, so that migrations can name them on every database.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """All tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012  SQLAlchemy reads it from the class
        datetime: UtcDateTime(),
        dict[str, Any]: json_type(),
        list[Any]: json_type(),
        TrainingSpec: JsonDocument(SettledSpec),
        Progress: JsonDocument(Progress),
        JobError: JsonDocument(JobError),
    }


class DatasetRow(Base):
    """An uploaded table; its rows are a Parquet artifact."""

    __tablename__ = "datasets"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    name: Mapped[str]
    media_type: Mapped[str]
    sha256: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)
    content_sha256: Mapped[str]
    rows: Mapped[int] = mapped_column(BigInteger)
    label: Mapped[str]
    classes: Mapped[list[Any]]
    class_counts: Mapped[dict[str, Any]]
    positive_class: Mapped[str | None]
    positive_class_inferred: Mapped[bool]
    columns: Mapped[list[Any]]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "id"),)


class CostSpecRow(Base):
    """Named costs; a name grows by revisions, a revision never changes."""

    __tablename__ = "cost_specs"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    name: Mapped[str]
    revision: Mapped[int]
    currency: Mapped[str | None]
    spec: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "name", "revision"), Index(None, "tenant_id", "id"))


class JobColumns:
    """Columns of a job of any kind: where it stands, and how it ended."""

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    status: Mapped[str] = mapped_column(default=JobStatus.QUEUED)
    attempt: Mapped[int] = mapped_column(default=0)
    worker_deaths: Mapped[int] = mapped_column(default=0)
    progress: Mapped[Progress | None]
    result: Mapped[dict[str, Any] | None]
    error: Mapped[JobError | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    executor_id: Mapped[str | None]
    request_id: Mapped[str | None]


class TrainingJobRow(JobColumns, Base):
    """A training job: this row is the truth, the queue only brings it to a worker."""

    __tablename__ = "training_jobs"

    model: Mapped[str]
    dataset_id: Mapped[str] = mapped_column(ForeignKey("datasets.id"))
    spec: Mapped[TrainingSpec]

    __table_args__ = (
        Index(None, "tenant_id", "id"),
        Index(None, "status", "id"),
        Index(None, "dataset_id"),
    )


class CheckpointRow(Base):
    """What attempts of a training job have finished, an artifact; gone when the job is over."""

    __tablename__ = "checkpoints"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(ForeignKey("training_jobs.id"))
    attempt: Mapped[int]
    content_sha256: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "job_id"), Index(None, "job_id"))


class BatchPredictionRow(JobColumns, Base):
    """A batch prediction: a job like a training, whose result is a file."""

    __tablename__ = "batch_predictions"

    model: Mapped[str]
    version: Mapped[int]
    #: No foreign key: once the job is over, its dataset may be deleted.
    dataset_id: Mapped[str | None]
    spec: Mapped[dict[str, Any]]
    order: Mapped[dict[str, Any]]
    input_sha256: Mapped[str]
    output_sha256: Mapped[str | None]

    __table_args__ = (
        Index(None, "tenant_id", "id"),
        Index(None, "status", "id"),
        Index(None, "dataset_id"),
    )


class IntakeJobRow(JobColumns, Base):
    """A table that a worker takes in: a job like a training, whose result is a dataset."""

    __tablename__ = "intake_jobs"

    order: Mapped[dict[str, Any]]
    source_sha256: Mapped[str | None]

    __table_args__ = (Index(None, "tenant_id", "id"), Index(None, "status", "id"))


class ExecutorRow(Base):
    """A worker process; `beat_at` is written with the clock of the database."""

    __tablename__ = "executors"

    id: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    beat_at: Mapped[datetime]
    reaped_at: Mapped[datetime | None]
    groups: Mapped[list[Any]]


class SchemaFloorRow(Base):
    """One row: the oldest revision whose release runs on this schema, written by who migrates."""

    __tablename__ = "schema_floors"

    revision: Mapped[str] = mapped_column(primary_key=True)


class ApiKeyRow(Base):
    """A key of a tenant; of its secret only the hash is kept."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    name: Mapped[str]
    scopes: Mapped[list[Any]]
    secret_sha256: Mapped[str]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    revoked_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "id"),)


class AuditRow(Base):
    """Who did what to which thing, and when."""

    __tablename__ = "audit_log"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    at: Mapped[datetime]
    actor: Mapped[str]
    action: Mapped[str]
    target: Mapped[str]
    details: Mapped[dict[str, Any]]

    __table_args__ = (Index(None, "tenant_id", "id"),)


class ModelRow(Base):
    """A name under which versions are kept."""

    __tablename__ = "models"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    name: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    tags: Mapped[dict[str, Any]] = mapped_column(default=dict)
    record_rows: Mapped[bool] = mapped_column(default=False, server_default=false())
    retention_days: Mapped[int | None]
    control_share: Mapped[float | None]
    shadow_alias: Mapped[str | None]
    review_price: Mapped[float | None]
    reason_codes: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    revision: Mapped[int] = mapped_column(default=1)
    #: Numbers are never used twice, not even that of a deleted version.
    last_number: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "name"),)


class RetiredModelRow(Base):
    """A deleted model: the numbers of its versions are not used again, for caches may still hold them."""

    __tablename__ = "retired_models"

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    last_number: Mapped[int]


class VersionRow(Base):
    """The immutable result of one training job; its bytes are an artifact."""

    __tablename__ = "versions"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    model_id: Mapped[str] = mapped_column(ForeignKey("models.id"))
    number: Mapped[int]
    job_id: Mapped[str | None] = mapped_column(ForeignKey("training_jobs.id"), unique=True)
    dataset_id: Mapped[str | None] = mapped_column(ForeignKey("datasets.id"))
    dataset_sha256: Mapped[str]
    origin: Mapped[dict[str, Any] | None]
    spec: Mapped[TrainingSpec]
    schema: Mapped[dict[str, Any]]
    metrics: Mapped[dict[str, Any]]
    library_versions: Mapped[dict[str, Any]]
    training_seconds: Mapped[float]
    artifact_sha256: Mapped[str]
    artifact_bytes: Mapped[int] = mapped_column(BigInteger)
    report_sha256: Mapped[str | None]
    test_part_sha256: Mapped[str | None]
    created_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("model_id", "number"), Index(None, "dataset_id"))


class AliasRow(Base):
    """A movable pointer from a name to a version of the same model."""

    __tablename__ = "aliases"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    model_id: Mapped[str] = mapped_column(ForeignKey("models.id"))
    name: Mapped[str]
    version_number: Mapped[int]
    revision: Mapped[int] = mapped_column(default=1)
    reason: Mapped[str] = mapped_column(default="")
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("model_id", "name"),)


class PredictionRow(Base):
    """A decision record. It refers to no model: it is written late, and removed by the sweep."""

    __tablename__ = "predictions"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    model_id: Mapped[str]
    version_id: Mapped[str]
    version_number: Mapped[int]
    alias: Mapped[str | None]
    row_id: Mapped[str | None]
    subject: Mapped[str | None]
    decided_at: Mapped[datetime]
    probabilities: Mapped[dict[str, Any]]
    decision: Mapped[str]
    rule_decision: Mapped[str]
    label: Mapped[str | None]
    decision_source: Mapped[str]
    expected_cost: Mapped[dict[str, Any]]
    costs: Mapped[dict[str, Any]]
    propensity: Mapped[float]
    row: Mapped[dict[str, Any] | None]
    shadow_of: Mapped[str | None]

    __table_args__ = (
        Index(None, "tenant_id", "model_id", "decided_at"),
        Index(None, "tenant_id", "subject"),
        Index(None, "tenant_id", "shadow_of"),
    )


class FeedbackRow(Base):
    """What became known of a decision; of each one row counts, the others were corrected by it."""

    __tablename__ = "feedback"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    prediction_id: Mapped[str]
    label: Mapped[str]
    observed_at: Mapped[datetime]
    amount: Mapped[float | None]
    received_at: Mapped[datetime]
    superseded_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "prediction_id"),)


class IdempotencyRow(Base):
    """A request that named an `Idempotency-Key`, what it made, and what was answered to it."""

    __tablename__ = "idempotency_keys"

    #: Hash of the scope: tenant, API key, method, path with query, key.
    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    #: The request that works on it; a write of any other changes nothing.
    owner: Mapped[str]
    created_at: Mapped[datetime]
    beat_at: Mapped[datetime]
    location: Mapped[str | None]
    fingerprint: Mapped[str | None]
    status: Mapped[int | None]
    headers: Mapped[dict[str, Any] | None]
    body: Mapped[bytes | None]

    __table_args__ = (Index(None, "created_at"),)


class WebhookRow(Base):
    """Who is told what; the secret signs, so it is kept as it is."""

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    url: Mapped[str]
    events: Mapped[list[Any]]
    secret: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "id"),)


class DeliveryRow(Base):
    """An event on its way to a webhook; written in the transaction that made it true."""

    __tablename__ = "deliveries"

    id: Mapped[str] = mapped_column(primary_key=True)
    tenant_id: Mapped[str]
    webhook_id: Mapped[str]
    event: Mapped[str]
    body: Mapped[str]
    status: Mapped[str]
    attempts: Mapped[int]
    next_at: Mapped[datetime]
    last_status: Mapped[int | None]
    last_error: Mapped[str | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "webhook_id", "id"), Index(None, "status", "next_at"))


class ArtifactMarkRow(Base):
    """An artifact that no row referred to when it was last swept; deleted if that is still so."""

    __tablename__ = "artifact_marks"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    marked_at: Mapped[datetime]


class SweepRow(Base):
    """A sweep and what it did; of the scheduled ones each hour has one, whoever does it."""

    __tablename__ = "sweeps"

    id: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    report: Mapped[dict[str, Any] | None]
