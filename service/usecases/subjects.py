"""Erasing what is kept of one subject."""

import json
from dataclasses import dataclass, field

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import audit_log, batch_predictions, subjects, sweeping
from service.domain.errors import ConflictError
from service.queue import JobQueue
from service.rows import holds_text
from service.usecases.batch_removal import discard

Sessions = sessionmaker[Session]


@dataclass
class Erasure:
    """
    What was erased.

    Attributes
    ----------
    datasets : list of (id, name)
        Datasets never change: these still hold the subject, until they are deleted.
    """

    decision_records: int = 0
    feedback: int = 0
    batch_predictions: int = 0
    stored_answers: int = 0
    datasets: list[tuple[str, str]] = field(default_factory=list)


def erase(
    sessions: Sessions,
    readers: Sessions,
    store: ArtifactStore,
    queue: JobQueue,
    *,
    tenant: str,
    subject: str,
    by: str,
) -> Erasure:
    """Delete what is kept of a subject, and name the datasets that hold it.

    Decision records, feedback and stored answers go one by one, a batch prediction as a whole.
    """
    erased = Erasure()
    is_done = False
    while not is_done:
        with sessions.begin() as session:
            ids = subjects.some_records(session, tenant, subject)
            records, told = sweeping.delete_records(session, tenant, ids)
        erased.decision_records += records
        erased.feedback += told
        is_done = not ids
    holding = _batches(readers, store, tenant, subject)
    erased.batch_predictions = discard(sessions, store, queue, tenant, holding)
    with sessions.begin() as session:
        erased.stored_answers = subjects.forget_answers(session, tenant, _in_json(subject))
        names = ("decision_records", "feedback", "batch_predictions")
        counts = {name: getattr(erased, name) for name in names}
        # Not who it was: the log would then keep what is to be forgotten.
        audit_log.add(session, tenant, by, "subject.erase", "/v1/subjects", **counts)
    with readers() as session:
        candidates = subjects.datasets_with_subjects(session, tenant)
    erased.datasets = [
        (dataset_id, name)
        for dataset_id, name, content, column in candidates
        if _holds(store, content, column, subject, if_gone=False)
    ]
    return erased


def _in_json(subject: str) -> bytes:
    """The subject as a JSON answer spells it, without its quotes."""
    return json.dumps(subject, ensure_ascii=False)[1:-1].encode()


def _batches(readers: Sessions, store: ArtifactStore, tenant: str, subject: str) -> list[str]:
    """Batch predictions whose rows hold the subject; if their dataset is gone nobody can tell, so they do."""
    with readers() as session:
        candidates = batch_predictions.with_subjects(session, tenant)
    tables = {(content, column) for _, content, column in candidates}
    holding = {table for table in tables if _holds(store, *table, subject, if_gone=True)}
    return [job_id for job_id, *table in candidates if tuple(table) in holding]


def _holds(store: ArtifactStore, content: str, column: str, subject: str, *, if_gone: bool) -> bool:
    try:
        with store.open(content) as file:
            return holds_text(file, column, subject)
    except ConflictError:  # deleted meanwhile
        return if_gone
