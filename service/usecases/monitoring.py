"""Figures that are read from the database, so that every process tells the same and a restart loses none."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from service.db.engine import database_time
from service.db.tables import DeliveryRow, ExecutorRow, TrainingJobRow
from service.domain.training import JobStatus
from service.domain.webhooks import DeliveryStatus


@dataclass(frozen=True)
class Figures:
    """
    How the work stands, over all tenants.

    Attributes
    ----------
    jobs : dict of status to count
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
    oldest_queued_seconds: float
    workers: int
    heartbeat_seconds: float | None
    deliveries: int


def figures(readers: sessionmaker[Session]) -> Figures:
    """Count."""
    by_status = select(TrainingJobRow.status, func.count().label("jobs")).group_by(TrainingJobRow.status)
    queued = select(func.min(TrainingJobRow.created_at)).where(TrainingJobRow.status == JobStatus.QUEUED)
    living = select(func.count(), func.min(ExecutorRow.beat_at)).where(ExecutorRow.reaped_at.is_(None))
    pending = select(func.count()).where(DeliveryRow.status == DeliveryStatus.PENDING)
    with readers() as session:
        now = database_time(session)
        counts = dict.fromkeys((status.value for status in JobStatus), 0)
        counts |= {row.status: row.jobs for row in session.execute(by_status)}
        oldest = session.scalar(queued)
        workers, beat = session.execute(living).one()
        deliveries = session.scalar(pending) or 0
    return Figures(
        jobs=counts,
        oldest_queued_seconds=_since(oldest, now) or 0.0,
        workers=workers,
        heartbeat_seconds=_since(beat, now),
        deliveries=deliveries,
    )


def _since(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (now - moment).total_seconds())
