"""Queries over training jobs. Each change is one fenced UPDATE: an older attempt finds no row to write."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from service.db import webhooks
from service.db.engine import rows_of
from service.db.tables import TrainingJobRow
from service.domain.training import JobStatus, TrainingJob
from service.domain.webhooks import JOB_FINISHED

_FIELDS = tuple(field.name for field in fields(TrainingJob))
_UNFINISHED = tuple(status for status in JobStatus if not status.done)


def add(session: Session, job: TrainingJob) -> None:
    """Insert a new job."""
    session.add(TrainingJobRow(**_columns(job)))
    session.flush()


def advance(session: Session, before: TrainingJob, after: TrainingJob) -> bool:
    """Write the step from one value of a job to the next, if the job still stands where `before` says.

    Returns
    -------
    bool
        False: another attempt began or another status was written meanwhile; nothing was changed.
    """
    old, new = _columns(before), _columns(after)
    # The status is always written, so that a step that changes nothing else is a statement too.
    changed = {name: value for name, value in new.items() if name == "status" or value != old[name]}
    result = session.execute(
        update(TrainingJobRow)
        .where(
            TrainingJobRow.id == before.id,
            TrainingJobRow.attempt == before.attempt,
            TrainingJobRow.status == before.status,
        )
        .values(**changed)
        .execution_options(synchronize_session=False)
    )
    if rows_of(result) != 1:
        return False
    if after.status.done and not before.status.done:
        webhooks.announce(session, after.tenant_id, JOB_FINISHED, _finished(after))
    return True


def find(session: Session, tenant: str, job_id: str) -> TrainingJob | None:
    """Find a tenant's job."""
    query = select(TrainingJobRow).where(TrainingJobRow.tenant_id == tenant, TrainingJobRow.id == job_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(row)


def fetch(session: Session, job_id: str) -> TrainingJob | None:
    """Find a job of any tenant; for workers, whom the queue has told the id."""
    row = session.scalars(select(TrainingJobRow).where(TrainingJobRow.id == job_id)).one_or_none()
    return None if row is None else _value(row)


def list_jobs(
    session: Session,
    tenant: str,
    limit: int,
    after: str | None = None,
    *,
    status: JobStatus | None = None,
    model: str | None = None,
) -> list[TrainingJob]:
    """List jobs, newest first, with ids below `after`."""
    query = select(TrainingJobRow).where(TrainingJobRow.tenant_id == tenant)
    if after is not None:
        query = query.where(TrainingJobRow.id < after)
    if status is not None:
        query = query.where(TrainingJobRow.status == status)
    if model is not None:
        query = query.where(TrainingJobRow.model == model)
    return [_value(row) for row in session.scalars(query.order_by(TrainingJobRow.id.desc()).limit(limit))]


def count_queued(session: Session, tenant: str) -> int:
    """Count a tenant's waiting jobs; until the transaction ends nobody else adds one, so a quota is exact."""
    if session.get_bind().dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
        session.execute(lock, {"name": f"queue of {tenant}"})
    queued = TrainingJobRow.tenant_id == tenant, TrainingJobRow.status == JobStatus.QUEUED
    return session.scalars(select(func.count()).where(*queued)).one()


def queue_position(session: Session, job: TrainingJob) -> int | None:
    """Place of a waiting job, 1 being the next to start; None when it does not wait."""
    if job.status is not JobStatus.QUEUED:
        return None
    earlier = select(func.count()).where(
        TrainingJobRow.status == JobStatus.QUEUED, TrainingJobRow.id < job.id
    )
    return session.scalars(earlier).one() + 1


def stands(session: Session, ids: Collection[str]) -> dict[str, tuple[int, JobStatus]]:
    """Attempt and status of each of these jobs."""
    query = select(TrainingJobRow.id, TrainingJobRow.attempt, TrainingJobRow.status)
    rows = session.execute(query.where(TrainingJobRow.id.in_(ids)))
    return {job_id: (attempt, JobStatus(status)) for job_id, attempt, status in rows}


def unfinished(session: Session) -> list[str]:
    """Ids of all jobs that have no end yet, oldest first."""
    query = select(TrainingJobRow.id).where(TrainingJobRow.status.in_(_UNFINISHED))
    return list(session.scalars(query.order_by(TrainingJobRow.id)))


def _finished(job: TrainingJob) -> dict[str, Any]:
    """What a webhook is told: no metrics, for those are read by who has a key."""
    version = None if job.result is None else job.result["version"]
    error = None if job.error is None else job.error.code
    return {"job": job.id, "model": job.model, "status": job.status, "version": version, "error": error}


def _value(row: TrainingJobRow) -> TrainingJob:
    values = {name: getattr(row, name) for name in _FIELDS}
    return TrainingJob(**values | {"status": JobStatus(row.status)})


def _columns(job: TrainingJob) -> dict[str, Any]:
    return {name: getattr(job, name) for name in _FIELDS} | {"status": str(job.status)}
