"""What all kinds of jobs have in common for those who ask for them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from sqlalchemy.orm import Session, sessionmaker

from service.db import jobs
from service.domain.errors import NotFoundError, TooManyError
from service.domain.training import Job, JobStatus
from service.queue import JobQueue

Sessions = sessionmaker[Session]
Kind = TypeVar("Kind", bound=Job)


@dataclass(frozen=True)
class JobView(Generic[Kind]):
    """A job and its place in the queue (1 is next; None when it does not wait)."""

    job: Kind
    queue_position: int | None


def view(session: Session, job: Kind) -> JobView[Kind]:
    """Look where a job stands in the queue."""
    return JobView(job, jobs.queue_position(session, job))


def find(session: Session, kind: type[Kind], tenant: str, job_id: str) -> Kind:
    """
    Find one job.

    Raises
    ------
    NotFoundError
    """
    job = jobs.find(session, kind, tenant, job_id)
    if job is None:
        raise NotFoundError("job", job_id)
    return job


def read(readers: Sessions, kind: type[Kind], tenant: str, job_id: str) -> JobView[Kind]:
    """Read how one job stands.

    Raises
    ------
    NotFoundError
    """
    with readers() as session:
        return view(session, find(session, kind, tenant, job_id))


def list_jobs(
    readers: Sessions,
    kind: type[Kind],
    tenant: str,
    limit: int,
    after: str | None = None,
    *,
    status: JobStatus | None = None,
    model: str | None = None,
) -> list[JobView[Kind]]:
    """List jobs of a kind, newest first; trainings also of one model alone."""
    with readers() as session:
        found = jobs.list_jobs(session, kind, tenant, limit, after, status=status, model=model)
        return [view(session, job) for job in found]


def require_room(session: Session, tenant: str, most: int) -> None:
    """
    Count a tenant's waiting jobs, in the transaction that adds one.

    Raises
    ------
    TooManyError
    """
    if jobs.count_queued(session, tenant) >= most:
        raise TooManyError("too_many_jobs", f"{most} jobs are waiting already", retry_after=30)


def cancel(sessions: Sessions, queue: JobQueue, kind: type[Kind], tenant: str, job_id: str) -> JobView[Kind]:
    """Ask a job to end; once this returns it can no longer succeed.

    Raises
    ------
    ConflictError
        It is over already.
    """
    while True:
        with sessions() as session:
            job = find(session, kind, tenant, job_id)
            if job.status in (JobStatus.CANCELLING, JobStatus.CANCELLED):
                return JobView(job, None)  # twice is safe
            after = job.cancel_requested(datetime.now(UTC))
            if jobs.advance(session, job, after):
                session.commit()
                break
        # It moved between our reading and our writing: look again.
    if after.status is JobStatus.CANCELLED:
        queue.cancel(job_id)
    return JobView(after, None)
