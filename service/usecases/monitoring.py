"""Figures that are read from the database, so that every process tells the same and a restart loses none."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from service.db.engine import database_time
from service.db.tables import (
    BatchPredictionRow,
    CheckpointRow,
    DeliveryRow,
    ExecutorRow,
    IntakeJobRow,
    TrainingJobRow,
)
from service.domain.training import JobStatus
from service.domain.webhooks import DeliveryStatus

Table = type[TrainingJobRow | BatchPredictionRow | IntakeJobRow]
_TABLES: Final[tuple[Table, ...]] = (TrainingJobRow, BatchPredictionRow, IntakeJobRow)


@dataclass(frozen=True)
class Figures:
    """
    How the work stands, over all tenants.

    Attributes
    ----------
    jobs, batches, intakes : dict of status to count
        Training jobs, batch predictions and intake jobs.
    resumed : int
        Running training jobs that go on from what an earlier attempt has kept.
    oldest_queued_seconds : float
        For how long the first of the queue has waited; 0 when none waits.
    workers : int
        Workers that nobody has declared dead.
    heartbeat_seconds : float or None
        Since the last word of that one of them that is silent the longest; None without workers.
    deliveries : int
        Deliveries of webhooks that have not arrived yet.
    """

    jobs: dict[str, int]
    batches: dict[str, int]
    intakes: dict[str, int]
    resumed: int
    oldest_queued_seconds: float
    workers: int
    heartbeat_seconds: float | None
    deliveries: int


def figures(readers: sessionmaker[Session]) -> Figures:
    """Count."""
    living = select(func.count(), func.min(ExecutorRow.beat_at)).where(ExecutorRow.reaped_at.is_(None))
    pending = select(func.count()).where(DeliveryRow.status == DeliveryStatus.PENDING)
    resumed = (
        select(func.count(CheckpointRow.job_id.distinct()))
        .join(TrainingJobRow, TrainingJobRow.id == CheckpointRow.job_id)
        .where(TrainingJobRow.status == JobStatus.RUNNING, CheckpointRow.attempt < TrainingJobRow.attempt)
    )
    with readers() as session:
        now = database_time(session)
        jobs, batches, intakes = (_counts(session, table) for table in _TABLES)
        waiting = [_oldest(session, table) for table in _TABLES]
        oldest = min((moment for moment in waiting if moment is not None), default=None)
        workers, beat = session.execute(living).one()
        deliveries = session.scalar(pending) or 0
        gone_on = session.scalar(resumed) or 0
    return Figures(
        jobs=jobs,
        batches=batches,
        intakes=intakes,
        resumed=gone_on,
        oldest_queued_seconds=_since(oldest, now) or 0.0,
        workers=workers,
        heartbeat_seconds=_since(beat, now),
        deliveries=deliveries,
    )


def _counts(session: Session, table: Table) -> dict[str, int]:
    query = select(table.status, func.count().label("jobs")).group_by(table.status)
    found = {row.status: row.jobs for row in session.execute(query)}
    return {status.value: found.get(status.value, 0) for status in JobStatus}


def _oldest(session: Session, table: Table) -> datetime | None:
    return session.scalar(select(func.min(table.created_at)).where(table.status == JobStatus.QUEUED))


def _since(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (now - moment).total_seconds())
