"""Queries over checkpoints: what an unfinished job has ready for its next attempt."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from service.db.engine import database_time
from service.db.tables import CheckpointRow, TrainingJobRow
from service.domain.ids import new_id
from service.domain.training import Job, JobStatus

_UNFINISHED = tuple(status for status in JobStatus if not status.done)


def add(session: Session, job: Job, content_sha256: str) -> None:
    """Insert one that an attempt has stored."""
    session.add(
        CheckpointRow(
            id=new_id("ckpt"),
            tenant_id=job.tenant_id,
            job_id=job.id,
            attempt=job.attempt,
            content_sha256=content_sha256,
            created_at=database_time(session),
        )
    )


def of_job(session: Session, job: Job) -> list[str]:
    """Names of the artifacts that the attempts of a job have left, oldest first."""
    mine = (CheckpointRow.tenant_id == job.tenant_id) & (CheckpointRow.job_id == job.id)
    return list(session.scalars(select(CheckpointRow.content_sha256).where(mine).order_by(CheckpointRow.id)))


def delete_of_finished(session: Session, job_id: str | None = None) -> list[str]:
    """Delete those of jobs that are over, of one or of all; tell the names of their artifacts."""
    unfinished = select(TrainingJobRow.id).where(TrainingJobRow.status.in_(_UNFINISHED))
    query = delete(CheckpointRow).where(CheckpointRow.job_id.not_in(unfinished))
    if job_id is not None:
        query = query.where(CheckpointRow.job_id == job_id)
    return list(session.scalars(query.returning(CheckpointRow.content_sha256)))
