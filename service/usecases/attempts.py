"""What a worker does with a training job: begin an attempt, tell how far it is, end it.

Each function is one transaction, and each write is fenced by the number of the attempt: what comes too late,
from a worker that was taken for dead, changes nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service.db import executors, jobs
from service.db.datasets import add_dataset
from service.db.models import add_version
from service.domain.batch_predictions import BatchPrediction
from service.domain.intake_jobs import IntakeJob
from service.domain.training import Job, JobError, JobStatus, Progress, TrainingJob
from service.usecases import ingredients
from service.usecases.datasets import described

Sessions = sessionmaker[Session]


@dataclass(frozen=True)
class NewVersion:
    """
    What a successful attempt makes: the names of its artifacts, and what is known about it.

    Attributes
    ----------
    params : dict
        Of the version: those of the job with what its search found.
    search : dict or None
        What was tried.
    warnings : sequence of pairs of str
        Code and detail of what must be known before the metrics are relied on.
    """

    dataset_sha256: str
    artifact_sha256: str
    artifact_bytes: int
    report_sha256: str
    test_part_sha256: str
    metrics: dict[str, Any]
    schema: dict[str, Any]
    library_versions: dict[str, Any]
    training_seconds: float
    params: dict[str, Any]
    search: dict[str, Any] | None = None
    warnings: Sequence[tuple[str, str]] = ()

    @property
    def content(self) -> dict[str, Any]:
        """Columns of `versions` as they are."""
        others = ("params", "search", "warnings")
        return {name: value for name, value in vars(self).items() if name not in others}


def begin(sessions: Sessions, job_id: str, executor_id: str, max_deaths: int) -> Job | None:
    """Begin the next attempt of a job that the queue brought.

    Returns
    -------
    Job or None
        None when there is nothing to do: the job is over, or another living worker has it. A job that was
        running lost its worker, which is counted; at the limit it fails here.
    """
    while True:
        with sessions() as session:
            job = jobs.fetch(session, job_id)
            if job is None or job.status.done or _is_held(session, job, executor_id):
                return None
            after = _begun(job, executor_id, max_deaths)
            if jobs.advance(session, job, after):
                session.commit()
                return after if after.status is JobStatus.RUNNING else None
        # Somebody changed it between our reading and our writing (a cancel, say): look again.


def is_last_chance(readers: Sessions, job_id: str, max_deaths: int) -> bool:
    """Whether one more death ends the job."""
    with readers() as session:
        job = jobs.fetch(session, job_id)
    if job is None or job.status.done:
        return False
    # One that is found running has lost its worker, which is not counted yet.
    return job.worker_deaths + (job.status is JobStatus.RUNNING) >= max_deaths - 1


def _is_held(session: Session, job: Job, executor_id: str) -> bool:
    holder = job.executor_id
    return holder not in (None, executor_id) and executors.is_alive(session, str(holder))


def _begun(job: Job, executor_id: str, max_deaths: int) -> Job:
    now = datetime.now(UTC)
    waiting = job if job.status is JobStatus.QUEUED else job.lost_worker(now, max_deaths)
    return waiting if waiting.status.done else waiting.started(now, executor_id)


def order(readers: Sessions, job: Job) -> dict[str, Any]:
    """Put together what the child of an attempt needs, as plain JSON.

    Raises
    ------
    InvalidError
        What the spec names is no longer there.
    """
    if isinstance(job, BatchPrediction | IntakeJob):
        return job.order
    assert isinstance(job, TrainingJob)
    with readers() as session:
        return ingredients.to_json(job.spec, *ingredients.find(session, job.tenant_id, job.spec))


def note(sessions: Sessions, job: Job, progress: Progress) -> bool:
    """Write how far an attempt is; False when it may no longer write."""
    with sessions.begin() as session:
        return jobs.advance(session, job, job.progressed(datetime.now(UTC), progress))


def stands(readers: Sessions, job_ids: Collection[str]) -> dict[str, tuple[int, JobStatus]]:
    """Attempt and status of each of these jobs."""
    with readers() as session:
        return jobs.stands(session, job_ids)


def succeed(sessions: Sessions, job: TrainingJob, version: NewVersion) -> bool:
    """End an attempt with a version; False when it may no longer write, and then there is none.

    The bytes are stored already: a row never points at nothing.
    """
    now = datetime.now(UTC)
    with sessions() as session:
        # Fence first: it also holds the row, so that no newer attempt can begin meanwhile.
        held = replace(job, heartbeat_at=now)
        if not jobs.advance(session, job, held):
            return False
        spec = job.spec.model_copy(update={"params": version.params})
        number = add_version(session, job, now, spec=spec, **version.content)
        told = [{"code": code, "detail": detail} for code, detail in version.warnings]
        result = {"model": job.model, "version": number, "metrics": version.metrics, "warnings": told}
        if version.search is not None:
            result |= {"params": version.params, "search": version.search}
        # The row is held, so this is written; were it not, nothing would be.
        is_written = jobs.advance(session, held, held.succeeded(now, result))
        (session.commit if is_written else session.rollback)()
        return is_written


def deliver(sessions: Sessions, job: BatchPrediction, output_sha256: str, result: dict[str, Any]) -> bool:
    """End an attempt with a file; False when it may no longer write."""
    told = {"model": job.model, "version": job.version, **result}
    with sessions.begin() as session:
        return jobs.advance(session, job, job.wrote(datetime.now(UTC), output_sha256, told))


def take_in(sessions: Sessions, job: IntakeJob, content_sha256: str, found: dict[str, Any]) -> bool:
    """End an attempt with a dataset; False when it may no longer write, and then there is none."""
    order = job.order
    dataset = described(
        found,
        id=order["dataset"],
        tenant_id=job.tenant_id,
        name=job.options.name,
        content_sha256=content_sha256,
        media_type=order["media_type"],
        sha256=order["sha256"],
        bytes=order["bytes"],
    )
    with sessions() as session:
        if not jobs.advance(session, job, job.took_in(datetime.now(UTC), dataset.id, dataset.rows)):
            return False
        add_dataset(session, dataset)
        session.commit()
        return True


def fail(sessions: Sessions, job: Job, error: JobError) -> bool:
    """End an attempt with an error; False when it may no longer write."""
    with sessions.begin() as session:
        return jobs.advance(session, job, job.failed(datetime.now(UTC), error))


def hand_back(sessions: Sessions, job: Job) -> bool:
    """Let a job wait again, because its worker stops; False when the attempt may no longer write."""
    with sessions.begin() as session:
        return jobs.advance(session, job, job.handed_back())


def settle(sessions: Sessions, job: Job) -> None:
    """End a job whose cancel was asked for; one that has a newer attempt is left alone."""
    cancelling = replace(job, status=JobStatus.CANCELLING)
    with sessions.begin() as session:
        jobs.advance(session, cancelling, cancelling.cancelled(datetime.now(UTC)))
