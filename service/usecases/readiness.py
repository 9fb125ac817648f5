"""Whether the service can do its work."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from service.artifacts.store import ArtifactStore
from service.db import migrations
from service.db.engine import READ_ONLY, database_now
from service.db.tables import ExecutorRow


@dataclass(frozen=True)
class Readiness:
    """What is usable.

    Attributes
    ----------
    database : bool
        Reachable, and its schema is the one this release knows.
    storage : bool
        Bytes can be written and made durable.
    worker : bool
        A worker has said within its lease that it lives.
    """

    database: bool
    storage: bool
    worker: bool

    @property
    def status(self) -> Literal["ready", "degraded", "unavailable"]:
        """Without worker requests are answered and jobs wait: that is degraded, not unavailable."""
        if not (self.database and self.storage):
            return "unavailable"
        return "ready" if self.worker else "degraded"


NOTHING = Readiness(database=False, storage=False, worker=False)


def check(database: Engine, store: ArtifactStore, lease_seconds: float) -> Readiness:
    """Look at database, storage and workers."""
    storage = store.writable()
    reading = database.execution_options(**{READ_ONLY: True})
    try:
        migrated = migrations.is_migrated(reading)
        worker = migrated and _has_worker(reading, lease_seconds)
    except SQLAlchemyError:
        return Readiness(database=False, storage=storage, worker=False)
    return Readiness(database=migrated, storage=storage, worker=worker)


def _has_worker(database: Engine, lease_seconds: float) -> bool:
    newest = select(func.max(ExecutorRow.beat_at), database_now()).where(ExecutorRow.reaped_at.is_(None))
    with Session(database) as session:
        beat, now = session.execute(newest).one()
    return beat is not None and now - beat <= timedelta(seconds=lease_seconds)
