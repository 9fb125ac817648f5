"""Queries over feedback."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from service.db.tables import FeedbackRow, PredictionRow
from service.domain.feedback import Feedback

#: Ids that one statement names; PostgreSQL takes 65,535 parameters, SQLite 32,766.
_BATCH = 5_000


def classes_of(session: Session, tenant: str, prediction_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """
    Classes of each answered decision that there is, by its id.

    The records are locked until the transaction ends, so that two who bring feedback on one wait for each
    other; always in the order of their ids.
    """
    found = dict[str, frozenset[str]]()
    for ids in _batches(sorted(prediction_ids)):
        query = select(PredictionRow.id, PredictionRow.probabilities).where(
            PredictionRow.tenant_id == tenant, PredictionRow.id.in_(ids), PredictionRow.shadow_of.is_(None)
        )
        rows = session.execute(query.order_by(PredictionRow.id).with_for_update())
        found |= {prediction_id: frozenset(probabilities) for prediction_id, probabilities in rows}
    return found


def current(session: Session, tenant: str, prediction_ids: Collection[str]) -> dict[str, Feedback]:
    """Give the feedback that counts, by the id of its decision."""
    found = dict[str, Feedback]()
    for ids in _batches(sorted(prediction_ids)):
        query = select(FeedbackRow).where(
            FeedbackRow.tenant_id == tenant,
            FeedbackRow.prediction_id.in_(ids),
            FeedbackRow.superseded_at.is_(None),
        )
        found |= {row.prediction_id: _value(row) for row in session.scalars(query)}
    return found


def supersede(session: Session, tenant: str, feedback_ids: Collection[str], at: datetime) -> None:
    """Write that others have taken the place of these."""
    for ids in _batches(sorted(feedback_ids)):
        of_tenant = (FeedbackRow.tenant_id == tenant) & FeedbackRow.id.in_(ids)
        session.execute(update(FeedbackRow).where(of_tenant).values(superseded_at=at))


def confirm(session: Session, tenant: str, observed: Mapping[str, datetime]) -> None:
    """Write, by the id of feedback, when the same was observed again."""
    for feedback_id, at in observed.items():
        of_tenant = (FeedbackRow.tenant_id == tenant) & (FeedbackRow.id == feedback_id)
        session.execute(update(FeedbackRow).where(of_tenant).values(observed_at=at))


def add_all(session: Session, feedback: Iterable[Feedback]) -> None:
    """Insert feedback."""
    rows = [asdict(one) for one in feedback]
    if rows:
        session.execute(insert(FeedbackRow), rows)


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def _value(row: Any) -> Feedback:
    return Feedback(**{field.name: getattr(row, field.name) for field in fields(Feedback)})
