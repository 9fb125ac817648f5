"""Queries over jobs. Each change is one fenced UPDATE: an older attempt finds no row to write."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any, Final, TypeVar

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from service.db import webhooks
from service.db.engine import rows_of
from service.db.tables import Base, BatchPredictionRow, IntakeJobRow, TrainingJobRow
from service.domain.batch_predictions import BatchPrediction
from service.domain.intake_jobs import IntakeJob
from service.domain.training import Job, JobStatus, TrainingJob
from service.domain.webhooks import BATCH_FINISHED, INTAKE_FINISHED, JOB_FINISHED, EventType

Row = TrainingJobRow | BatchPredictionRow | IntakeJobRow
Kind = TypeVar("Kind", bound=Job)

#: Each kind of job has a table of its own.
_ROWS: Final[dict[type[Job], type[Row]]] = {
    TrainingJob: TrainingJobRow,
    BatchPrediction: BatchPredictionRow,
    IntakeJob: IntakeJobRow,
}
_EVENTS: Final[dict[type[Job], EventType]] = {
    TrainingJob: JOB_FINISHED,
    BatchPrediction: BATCH_FINISHED,
    IntakeJob: INTAKE_FINISHED,
}
#: Kind of a job by the beginning of its id.
_KINDS: Final[dict[str, type[Job]]] = {"job": TrainingJob, "bp": BatchPrediction, "in": IntakeJob}
_UNFINISHED = tuple(status for status in JobStatus if not status.done)


def add(session: Session, job: Job) -> None:
    """Insert a new job."""
    session.add(_ROWS[type(job)](**_columns(job)))
    session.flush()


def advance(session: Session, before: Job, after: Job) -> bool:
    """Write the step from one value of a job to the next, if the job still stands where `before` says.

    Returns
    -------
    bool
        False: another attempt began or another status was written meanwhile; nothing was changed.
    """
    old, new = _columns(before), _columns(after)
    # The status is always written, so that a step that changes nothing else is a statement too.
    changed = {name: value for name, value in new.items() if name == "status" or value != old[name]}
    table = _ROWS[type(before)]
    result = session.execute(
        update(table)
        .where(table.id == before.id, table.attempt == before.attempt, table.status == before.status)
        .values(**changed)
        .execution_options(synchronize_session=False)
    )
    if rows_of(result) != 1:
        return False
    if after.status.done and not before.status.done:
        webhooks.announce(session, after.tenant_id, _EVENTS[type(after)], _finished(after))
    return True


def find(session: Session, kind: type[Kind], tenant: str, job_id: str) -> Kind | None:
    """Find a tenant's job of a kind."""
    table = _ROWS[kind]
    row = session.scalars(select(table).where(table.tenant_id == tenant, table.id == job_id)).one_or_none()
    return None if row is None else _value(kind, row)


def fetch(session: Session, job_id: str) -> Job | None:
    """Find a job of any kind and tenant; for workers, whom the queue has told the id."""
    kind = _kind_of(job_id)
    table = _ROWS[kind]
    row = session.scalars(select(table).where(table.id == job_id)).one_or_none()
    return None if row is None else _value(kind, row)


def list_jobs(
    session: Session,
    kind: type[Kind],
    tenant: str,
    limit: int,
    after: str | None = None,
    *,
    status: JobStatus | None = None,
    model: str | None = None,
) -> list[Kind]:
    """List jobs of a kind, newest first, with ids below `after`; trainings also of one model alone."""
    table = _ROWS[kind]
    query = select(table).where(table.tenant_id == tenant)
    if after is not None:
        query = query.where(table.id < after)
    if status is not None:
        query = query.where(table.status == status)
    if model is not None:
        query = query.where(TrainingJobRow.model == model)
    return [_value(kind, row) for row in session.scalars(query.order_by(table.id.desc()).limit(limit))]


def count_queued(session: Session, tenant: str) -> int:
    """Count a tenant's waiting jobs; until the transaction ends nobody else adds one, so a quota is exact."""
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
        session.execute(lock, {"name": f"queue of {tenant}"})
    return sum(
        session.scalars(
            select(func.count()).where(table.tenant_id == tenant, table.status == JobStatus.QUEUED)
        ).one()
        for table in _ROWS.values()
    )


def queue_position(session: Session, job: Job) -> int | None:
    """Place of a waiting job, 1 being the next to start; None when it does not wait."""
    if job.status is not JobStatus.QUEUED:
        return None
    own, position = _ROWS[type(job)], 1
    for table in _ROWS.values():
        # Ids of one kind sort by time; those of another have another prefix.
        earlier = table.id < job.id if table is own else table.created_at < job.created_at
        position += session.scalars(
            select(func.count()).where(table.status == JobStatus.QUEUED, earlier)
        ).one()
    return position


def stands(session: Session, ids: Collection[str]) -> dict[str, tuple[int, JobStatus]]:
    """Attempt and status of each of these jobs."""
    found: dict[str, tuple[int, JobStatus]] = {}
    for table in {_ROWS[_kind_of(job_id)] for job_id in ids}:
        rows = session.execute(select(table.id, table.attempt, table.status).where(table.id.in_(ids)))
        found |= {job_id: (attempt, JobStatus(status)) for job_id, attempt, status in rows}
    return found


def unfinished(session: Session) -> list[str]:
    """Ids of all jobs that have no end yet, of each kind the oldest first."""
    return [
        job_id
        for table in _ROWS.values()
        for job_id in session.scalars(
            select(table.id).where(table.status.in_(_UNFINISHED)).order_by(table.id)
        )
    ]


def _kind_of(job_id: str) -> type[Job]:
    return _KINDS[job_id.partition("_")[0]]


def _finished(job: Job) -> dict[str, Any]:
    """What a webhook is told: no metrics, for those are read by who has a key."""
    error = None if job.error is None else job.error.code
    told = {"job": job.id, "status": job.status, "error": error}
    if isinstance(job, TrainingJob):
        return told | {"model": job.model, "version": (job.result or {}).get("version")}
    if isinstance(job, BatchPrediction):
        return told | {"model": job.model, "version": job.version}
    return told | {"dataset": (job.result or {}).get("dataset")}


def _fields(kind: type[Job]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _value(kind: type[Kind], row: Base) -> Kind:
    values = {name: getattr(row, name) for name in _fields(kind)}
    return kind(**values | {"status": JobStatus(values["status"])})


def _columns(job: Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in _fields(type(job))} | {"status": str(job.status)}
