"""Queries of the sweep: what is over, what nobody refers to, and when it was last swept."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Insert, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from service.db.engine import database_time, rows_of
from service.db.tables import ArtifactMarkRow, Base, FeedbackRow, ModelRow, PredictionRow, SweepRow

#: Records deleted in one transaction.
BATCH = 2_000


def delete_records(session: Session, tenant: str, ids: Sequence[str]) -> tuple[int, int]:
    """Delete decision records with their shadows and all feedback on them; tell how many of each."""
    of_rows = (PredictionRow.tenant_id == tenant) & PredictionRow.shadow_of.in_(ids)
    every = [*ids, *session.scalars(select(PredictionRow.id).where(of_rows))]
    on_them = (FeedbackRow.tenant_id == tenant) & FeedbackRow.prediction_id.in_(every)
    told = rows_of(session.execute(delete(FeedbackRow).where(on_them)))
    mine = (PredictionRow.tenant_id == tenant) & PredictionRow.id.in_(every)
    gone = rows_of(session.execute(delete(PredictionRow).where(mine)))
    return gone, told


def limits(session: Session) -> list[tuple[str, str, timedelta]]:
    """Tenant and id of each model whose records are not kept for ever, and how old they may be.

    Of a model that was deleted, nothing is kept.
    """
    models = select(ModelRow.tenant_id, ModelRow.id, ModelRow.retention_days)
    known = {model_id: days for _, model_id, days in session.execute(models)}
    recorded = session.execute(select(PredictionRow.tenant_id, PredictionRow.model_id).distinct())
    return [
        (tenant, model_id, timedelta(days=known.get(model_id) or 0))
        for tenant, model_id in recorded
        if known.get(model_id, 0) is not None
    ]


def older_records(session: Session, tenant: str, model_id: str, age: timedelta) -> list[str]:
    """Ids of some records of a model that are older than that."""
    query = select(PredictionRow.id).where(
        PredictionRow.tenant_id == tenant,
        PredictionRow.model_id == model_id,
        PredictionRow.decided_at <= database_time(session) - age,
    )
    return list(session.scalars(query.limit(BATCH)))


def referenced_artifacts(session: Session) -> set[str]:
    """
    Names of all artifacts that some row refers to.

    Every column that names an artifact ends in `_sha256`; what a new table keeps is then found by itself.
    """
    columns = [
        column
        for table in Base.metadata.tables.values()
        for column in table.columns
        if column.name.endswith("_sha256")
    ]
    return {
        name
        for column in columns
        for name in session.scalars(select(column).where(column.is_not(None)).distinct())
    }


def marks(session: Session) -> dict[str, datetime]:
    """Artifacts that nobody referred to at an earlier sweep, and when that was first seen."""
    rows = session.execute(select(ArtifactMarkRow.sha256, ArtifactMarkRow.marked_at))
    return {sha256: marked_at for sha256, marked_at in rows}  # noqa: C416  a row is a tuple to us, not to mypy


def mark(session: Session, names: Collection[str]) -> None:
    """Note that nobody refers to these."""
    now = database_time(session)
    if names:
        rows = [{"sha256": name, "marked_at": now} for name in sorted(names)]
        session.execute(_unless_there(session, ArtifactMarkRow, "sha256"), rows)


def unmark(session: Session, names: Collection[str]) -> None:
    """Forget what was noted of these."""
    session.execute(delete(ArtifactMarkRow).where(ArtifactMarkRow.sha256.in_(names)))


def begin(session: Session, sweep_id: str) -> bool:
    """Note that a sweep begins; False when one of this name has begun."""
    values = {"id": sweep_id, "started_at": database_time(session)}
    made = _unless_there(session, SweepRow, "id").values(**values).returning(SweepRow.id)
    return session.scalar(made) is not None


def end(session: Session, sweep_id: str, report: dict[str, Any]) -> None:
    """Note what a sweep did."""
    ended = {"finished_at": database_time(session), "report": report}
    session.execute(update(SweepRow).where(SweepRow.id == sweep_id).values(**ended))


def forget_sweeps(session: Session, age: timedelta) -> None:
    """Delete notes on sweeps of an age."""
    session.execute(delete(SweepRow).where(SweepRow.started_at < database_time(session) - age))


def _unless_there(session: Session, row: type[Base], key: str) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(row).on_conflict_do_nothing(index_elements=[key])
    return postgresql.insert(row).on_conflict_do_nothing(index_elements=[key])
