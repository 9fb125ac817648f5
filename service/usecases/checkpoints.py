"""What an attempt has done when it dies, and its successor need not do again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import checkpoints, jobs
from service.domain.errors import ConflictError, UnavailableError
from service.domain.training import Job
from service.learning import Checkpoints, stamp_of

Sessions = sessionmaker[Session]


def left(readers: Sessions, job: Job) -> list[str]:
    """Names of what the attempts of a job have left so far."""
    with readers() as session:
        return checkpoints.of_job(session, job)


def note(sessions: Sessions, job: Job, content_sha256: str) -> bool:
    """Write down what an attempt has stored; False when it may no longer write."""
    with sessions() as session:
        if not jobs.advance(session, job, replace(job, heartbeat_at=datetime.now(UTC))):
            return False
        checkpoints.add(session, job, content_sha256)
        session.commit()
        return True


def clear(sessions: Sessions, store: ArtifactStore, job_id: str | None = None) -> int:
    """Delete what jobs that are over have left, one or all, and tell how much."""
    with sessions.begin() as session:
        names = checkpoints.delete_of_finished(session, job_id)
    for name in names:
        with suppress(UnavailableError):  # nobody refers to it any more: a sweep will find it
            store.delete(name)
    return len(names)


def opened(
    store: ArtifactStore,
    *,
    job_id: str,
    order: dict[str, Any],
    names: Sequence[str],
    seconds: float,
    send: Callable[[dict[str, Any]], None],
) -> Checkpoints:
    """Open, in the child, what earlier attempts have left; what this one has done is stored."""

    def write(data: bytes) -> None:
        with suppress(UnavailableError):  # training goes on, and may find the store well at its end
            send({"checkpoint": store.put(data)})

    found = Checkpoints(stamp_of(job_id, order), _readable(store, names), write, seconds)
    if found.known:
        send({"known": found.fits})
    return found


def _readable(store: ArtifactStore, names: Sequence[str]) -> Iterator[bytes]:
    for name in names:
        with suppress(ConflictError):  # lost or damaged: it is done again
            yield store.read(name)
