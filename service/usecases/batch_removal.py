"""The end of batch predictions: on request, with their time, or with a subject that is to be forgotten."""

from collections.abc import Iterable

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import YOUNG_SECONDS, ArtifactStore
from service.db import audit_log, batch_predictions
from service.db import jobs as rows_of_jobs
from service.domain.batch_predictions import BatchPrediction
from service.queue import JobQueue
from service.usecases import jobs

Sessions = sessionmaker[Session]


def delete_batch(
    sessions: Sessions, store: ArtifactStore, queue: JobQueue, tenant: str, job_id: str, *, by: str
) -> None:
    """Delete a batch prediction with its files; one that is not over ends with it.

    Raises
    ------
    NotFoundError
    """
    with sessions.begin() as session:
        job = jobs.find(session, BatchPrediction, tenant, job_id)
        batch_predictions.remove(session, job)
        target = f"/v1/batch-predictions/{job.id}"
        audit_log.add(session, tenant, by, "batch_prediction.delete", target, model=job.model)
    _clear(sessions, store, queue, job)


def discard(
    sessions: Sessions, store: ArtifactStore, queue: JobQueue, tenant: str, job_ids: Iterable[str]
) -> int:
    """Remove those of these batch predictions that are still there, with their files; tell how many."""
    count = 0
    for job_id in job_ids:
        with sessions.begin() as session:
            job = rows_of_jobs.find(session, BatchPrediction, tenant, job_id)
            if job is None:
                continue
            batch_predictions.remove(session, job)
        _clear(sessions, store, queue, job)
        count += 1
    return count


def _clear(sessions: Sessions, store: ArtifactStore, queue: JobQueue, job: BatchPrediction) -> None:
    # After the commit: a crash in between leaves bytes without a row, which the sweep finds.
    if not job.status.done:
        queue.cancel(job.id)
    own_input = None if job.dataset_id is not None else job.input_sha256
    digests = [digest for digest in (own_input, job.output_sha256) if digest is not None]
    with sessions() as session:
        unused = batch_predictions.unused_files(session, digests)
    for digest in unused:
        if digest == own_input:
            store.delete(digest)  # its owner is written into it, so that nobody else stores the same
        else:
            store.discard(digest, YOUNG_SECONDS)
