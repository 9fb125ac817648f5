"""Life of data: what has had its time is deleted, a little at a time, with a report."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import batch_predictions, executors, idempotency, sweeping, webhooks
from service.db.engine import database_time
from service.domain.ids import new_id
from service.queue import JobQueue
from service.usecases import checkpoints
from service.usecases.batch_removal import discard
from service.usecases.idempotency import KEPT

Sessions = sessionmaker[Session]

#: Bytes younger than this may belong to a row that is not written yet.
UNREFERENCED_SECONDS = 24 * 3600.0
#: At least so long lies between the sweep that marks an artifact and the one that deletes it.
MARKED = timedelta(minutes=30)
#: For so long deliveries that ended, entries of the queue that ended, and notes on sweeps are kept.
DELIVERIES, QUEUE_ENTRIES, SWEEPS = timedelta(days=30), timedelta(days=7), timedelta(days=90)

log = structlog.get_logger("service.sweep")


@dataclass
class Report:
    """What was deleted; of artifacts also how many will be, unless somebody refers to them again."""

    decision_records: int = 0
    feedback: int = 0
    batch_predictions: int = 0
    checkpoints: int = 0
    stored_answers: int = 0
    deliveries: int = 0
    queue_entries: int = 0
    artifacts_marked: int = 0
    artifacts_deleted: int = 0
    incoming_files: int = 0


def scheduled(
    sessions: Sessions, readers: Sessions, store: ArtifactStore, queue: JobQueue, every: float
) -> bool:
    """Sweep unless this stretch of time has its sweep already; tell whether it was done."""
    with readers() as session:
        stretch = int(database_time(session).timestamp() // every)
    return _noted(sessions, f"sweep_{stretch}", lambda: _sweep(sessions, readers, store, queue)) is not None


def sweep(sessions: Sessions, readers: Sessions, store: ArtifactStore, queue: JobQueue) -> Report:
    """Delete what has had its time."""
    report = _noted(sessions, new_id("sweep"), lambda: _sweep(sessions, readers, store, queue))
    assert report is not None  # nobody else has this name
    return report


def _noted(sessions: Sessions, name: str, do: Callable[[], Report]) -> Report | None:
    with sessions.begin() as session:
        if not sweeping.begin(session, name):
            return None
    report = do()
    with sessions.begin() as session:
        sweeping.end(session, name, asdict(report))
    log.info("swept", **asdict(report))
    return report


def _sweep(sessions: Sessions, readers: Sessions, store: ArtifactStore, queue: JobQueue) -> Report:
    report = Report()
    _delete_records(sessions, readers, report)
    _delete_batches(sessions, readers, store, queue, report)
    report.checkpoints = checkpoints.clear(sessions, store)
    with sessions.begin() as session:
        report.stored_answers = idempotency.delete_older(session, KEPT)
        report.deliveries = webhooks.delete_finished(session, database_time(session) - DELIVERIES)
        executors.forget(session)
        sweeping.forget_sweeps(session, SWEEPS)
    report.queue_entries = queue.forget(datetime.now(UTC) - QUEUE_ENTRIES)
    _delete_artifacts(sessions, readers, store, report)
    report.incoming_files = store.delete_incoming(UNREFERENCED_SECONDS)
    return report


def _delete_records(sessions: Sessions, readers: Sessions, report: Report) -> None:
    with readers() as session:
        limits = sweeping.limits(session)
    for tenant, model_id, age in limits:
        is_done = False
        while not is_done:  # one transaction for each batch, so that nobody waits long for it
            with sessions.begin() as session:
                ids = sweeping.older_records(session, tenant, model_id, age)
                records, told = sweeping.delete_records(session, tenant, ids)
            report.decision_records += records
            report.feedback += told
            is_done = not ids


def _delete_batches(
    sessions: Sessions, readers: Sessions, store: ArtifactStore, queue: JobQueue, report: Report
) -> None:
    with readers() as session:
        limits = batch_predictions.limits(session)
    for tenant, model, age in limits:
        is_done = False
        while not is_done:
            with readers() as session:
                ids = batch_predictions.older(session, tenant, model, age)
            report.batch_predictions += discard(sessions, store, queue, tenant, ids)
            is_done = not ids


def _delete_artifacts(sessions: Sessions, readers: Sessions, store: ArtifactStore, report: Report) -> None:
    # Listed first: a row that is written after the look at the rows has bytes that are too young.
    aged = set(store.aged(UNREFERENCED_SECONDS))
    with readers() as session:
        unreferenced = aged - sweeping.referenced_artifacts(session)
        marked, now = sweeping.marks(session), database_time(session)
    over = {name for name in unreferenced if name in marked and now - marked[name] >= MARKED}
    report.artifacts_deleted = sum(store.discard(name, UNREFERENCED_SECONDS) for name in sorted(over))
    with sessions.begin() as session:
        sweeping.unmark(session, over | (marked.keys() - unreferenced))
        sweeping.mark(session, unreferenced - marked.keys())
    report.artifacts_marked = len(unreferenced - over)
