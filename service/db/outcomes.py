"""Queries that join decision records to the feedback on them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased, defer

from service.db.tables import FeedbackRow, PredictionRow
from service.domain.models import Model
from service.domain.outcomes import CONTROL, Outcome, Pair, Recorded, Span

#: By version id its positive class; None for more than two classes.
Positives = Mapping[str, str | None]

#: The feedback that counts of a record.
_COUNTS = and_(
    FeedbackRow.tenant_id == PredictionRow.tenant_id,
    FeedbackRow.prediction_id == PredictionRow.id,
    FeedbackRow.superseded_at.is_(None),
)


def outcomes(
    session: Session, model: Model, positives: Positives, span: Span, limit: int
) -> list[tuple[int, Outcome]]:
    """Give answered decisions of a time with the number of their version, the newest first."""
    query = (
        select(PredictionRow, FeedbackRow.label, FeedbackRow.observed_at, FeedbackRow.amount)
        .outerjoin(FeedbackRow, _COUNTS)
        .options(defer(PredictionRow.row))
    )
    rows = session.execute(
        query.where(*_answered(model, span)).order_by(PredictionRow.decided_at.desc()).limit(limit)
    )
    return [
        (
            record.version_number,
            _outcome(record, positives.get(record.version_id), label, observed_at, amount),
        )
        for record, label, observed_at, amount in rows
    ]


def pairs(session: Session, model: Model, positives: Positives, span: Span, limit: int) -> list[Pair]:
    """Give rows that two versions decided, the newest first."""
    shadow = aliased(PredictionRow)
    of_row = and_(shadow.tenant_id == PredictionRow.tenant_id, shadow.shadow_of == PredictionRow.id)
    query = (
        select(PredictionRow, shadow.version_number, shadow.rule_decision, FeedbackRow.label)
        .join(shadow, of_row)
        .outerjoin(FeedbackRow, _COUNTS)
        .options(defer(PredictionRow.row))
    )
    rows = session.execute(
        query.where(*_answered(model, span)).order_by(PredictionRow.decided_at.desc()).limit(limit)
    )
    return [
        _pair(record, positives.get(record.version_id), number, decision, label)
        for record, number, decision, label in rows
        if decision in record.expected_cost
    ]


def recorded(session: Session, model: Model, positives: Positives, span: Span, limit: int) -> list[Recorded]:
    """Give what was said about rows of a time, the newest first, with their labels."""
    query = select(PredictionRow, FeedbackRow.label).outerjoin(FeedbackRow, _COUNTS)
    rows = session.execute(
        query.where(*_answered(model, span)).order_by(PredictionRow.decided_at.desc()).limit(limit)
    )
    return [
        Recorded(
            version_id=record.version_id,
            probabilities=record.probabilities,
            row=record.row,
            reveal=_reveal(record, positives.get(record.version_id)),
            label=label,
        )
        for record, label in rows
    ]


def _answered(model: Model, span: Span) -> tuple[Any, ...]:
    decided: InstrumentedAttribute[datetime] = PredictionRow.decided_at
    return (
        PredictionRow.tenant_id == model.tenant_id,
        PredictionRow.model_id == model.id,
        PredictionRow.shadow_of.is_(None),
        decided >= span.since,
        decided < span.until,
    )


def _outcome(
    record: PredictionRow,
    positive: str | None,
    label: str | None,
    observed_at: datetime | None,
    amount: float | None,
) -> Outcome:
    costs = _column(record, record.rule_decision)
    # What it cost in the end is that of the action taken, so of a row let through it says nothing here.
    if label is not None and amount is not None and record.decision == record.rule_decision:
        costs[label] = amount
    return Outcome(
        decided_at=record.decided_at,
        decision=record.rule_decision,
        expected_cost=record.expected_cost[record.rule_decision],
        costs=costs,
        reveal=_reveal(record, positive),
        label=label,
        observed_at=observed_at,
    )


def _pair(record: PredictionRow, positive: str | None, shadow: int, decision: str, label: str | None) -> Pair:
    own, other = _column(record, record.rule_decision), _column(record, decision)
    return Pair(
        answered=record.version_number,
        shadow=shadow,
        costs={name: other[name] - own[name] for name in own},
        expected_cost=record.expected_cost[decision] - record.expected_cost[record.rule_decision],
        reveal=_reveal(record, positive),
        label=label,
    )


def _column(record: PredictionRow, action: str) -> dict[str, float]:
    """What an action costs under each class, in the order of the classes."""
    return {name: record.costs[name][action] for name in sorted(record.probabilities)}


def _reveal(record: PredictionRow, positive: str | None) -> float:
    if record.decision_source == CONTROL:
        return record.propensity
    return 0.0 if positive is not None and record.label == positive else 1.0
