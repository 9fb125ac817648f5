"""Queries over decision records."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from sqlalchemy import Insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from service.db.tables import PredictionRow
from service.domain.decision_records import DecisionRecord


def add_all(session: Session, records: Sequence[DecisionRecord]) -> None:
    """Insert a batch; what is there already stays, so a batch can be tried again."""
    if records:
        session.execute(_insert_unless_there(session), [asdict(record) for record in records])


def find(session: Session, tenant: str, prediction_id: str) -> DecisionRecord | None:
    """Find a tenant's record."""
    query = select(PredictionRow).where(PredictionRow.tenant_id == tenant, PredictionRow.id == prediction_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(row)


def newest(session: Session, tenant: str, model_id: str, limit: int) -> list[DecisionRecord]:
    """Answered decisions of a model, the newest first; those of challengers were answered to nobody."""
    query = (
        select(PredictionRow)
        .where(
            PredictionRow.tenant_id == tenant,
            PredictionRow.model_id == model_id,
            PredictionRow.shadow_of.is_(None),
        )
        .order_by(PredictionRow.decided_at.desc(), PredictionRow.id.desc())
        .limit(limit)
    )
    return [_value(row) for row in session.scalars(query)]


def _insert_unless_there(session: Session) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(PredictionRow).on_conflict_do_nothing(index_elements=["id"])
    return postgresql.insert(PredictionRow).on_conflict_do_nothing(index_elements=["id"])


def _value(row: PredictionRow) -> DecisionRecord:
    return DecisionRecord(**{field.name: getattr(row, field.name) for field in fields(DecisionRecord)})
