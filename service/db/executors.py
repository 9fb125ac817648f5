"""Queries over worker processes: who lives, who is dead. Times are those of the database's clock."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from service.db.engine import database_now, database_time, rows_of
from service.db.tables import ExecutorRow

#: For so long after a death its jobs are looked for again, so that a reaper that dies itself loses none.
REAP_AGAIN = timedelta(seconds=120)
#: For so long a dead executor is remembered at all.
FORGET = timedelta(days=7)

#: A process group and the time at which its leader was made (seconds since the epoch).
Group = tuple[int, float]


def register(session: Session, executor_id: str, host: str, pid: int) -> None:
    """Enter a new worker process."""
    now = database_time(session)
    session.add(ExecutorRow(id=executor_id, host=host, pid=pid, started_at=now, beat_at=now, groups=[]))
    session.flush()


def beat(session: Session, executor_id: str, groups: Sequence[Group]) -> bool:
    """Say that a worker lives, and which process groups it has; False when it was declared dead."""
    living = update(ExecutorRow).where(ExecutorRow.id == executor_id, ExecutorRow.reaped_at.is_(None))
    values = {"beat_at": database_now(), "groups": [list(group) for group in groups]}
    return rows_of(session.execute(living.values(values))) == 1


def is_alive(session: Session, executor_id: str) -> bool:
    """Whether nobody has declared it dead."""
    query = select(ExecutorRow.id).where(ExecutorRow.id == executor_id, ExecutorRow.reaped_at.is_(None))
    return session.scalars(query).one_or_none() is not None


def is_heard(session: Session, host: str, lease: timedelta) -> bool:
    """Whether a worker of a host has said within the lease that it lives."""
    limit = database_time(session) - lease
    lately = (ExecutorRow.host == host) & ExecutorRow.reaped_at.is_(None) & (ExecutorRow.beat_at >= limit)
    return session.scalars(select(ExecutorRow.id).where(lately).limit(1)).one_or_none() is not None


def reap(session: Session, executor_id: str) -> None:
    """Declare one dead of which it is known."""
    living = update(ExecutorRow).where(ExecutorRow.id == executor_id, ExecutorRow.reaped_at.is_(None))
    session.execute(living.values({"reaped_at": database_now()}))


def beats(session: Session) -> dict[str, datetime]:
    """When each that nobody has declared dead last said that it lives."""
    query = select(ExecutorRow.id, ExecutorRow.beat_at).where(ExecutorRow.reaped_at.is_(None))
    return dict(session.execute(query).all())


def reap_silent(session: Session, executor_id: str, beat_at: datetime) -> None:
    """Declare one dead that has said nothing since."""
    silent = (
        (ExecutorRow.id == executor_id) & ExecutorRow.reaped_at.is_(None) & (ExecutorRow.beat_at == beat_at)
    )
    session.execute(update(ExecutorRow).where(silent).values({"reaped_at": database_now()}))


def lately_dead(session: Session) -> list[str]:
    """Ids of those declared dead a short while ago."""
    limit = database_time(session) - REAP_AGAIN
    return list(session.scalars(select(ExecutorRow.id).where(ExecutorRow.reaped_at >= limit)))


def left_groups(session: Session, host: str) -> list[Group]:
    """Process groups that dead workers of this host had."""
    query = select(ExecutorRow.groups).where(ExecutorRow.host == host, ExecutorRow.reaped_at.is_not(None))
    return [(int(pid), float(born)) for groups in session.scalars(query) for pid, born in groups]


def forget(session: Session) -> None:
    """Delete those that are dead for long."""
    session.execute(delete(ExecutorRow).where(ExecutorRow.reaped_at < database_time(session) - FORGET))
