"""Workers among themselves: entering, living, declaring dead, and taking over what the dead had begun."""

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from service.db import executors, jobs
from service.db.engine import exclusively
from service.db.executors import Group
from service.queue import JobQueue

Sessions = sessionmaker[Session]


def enter(sessions: Sessions, executor_id: str, replaces: str | None) -> list[Group]:
    """Enter a new worker; one of which it is known that it is dead may be named.

    Returns
    -------
    list of (pid, time)
        Process groups that dead workers of this host had, for a sweep.
    """
    host = socket.gethostname()
    with sessions.begin() as session:
        if replaces is not None:
            executors.reap(session, replaces)
        executors.forget(session)
        executors.register(session, executor_id, host, os.getpid())
        return executors.left_groups(session, host)


def beat(sessions: Sessions, executor_id: str, groups: Sequence[Group]) -> bool:
    """Say that a worker lives; False when it was declared dead."""
    with sessions.begin() as session:
        return executors.beat(session, executor_id, groups)


def is_here(readers: Sessions, lease: timedelta) -> bool:
    """Whether a worker of this host lives, which within a container is the one of the container."""
    with readers() as session:
        return executors.is_heard(session, socket.gethostname(), lease)


class Watch:
    """Tells who has been silent for a lease, by a steady clock: no change of the time of day is a silence.

    A clock that is set forward would otherwise declare everybody dead, and one that is set back would keep
    the dead alive until it has caught up.

    Parameters
    ----------
    lease : timedelta
    clock : callable
        Seconds that only ever grow.
    """

    def __init__(self, lease: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease = lease.total_seconds()
        self._clock = clock
        self._looked = clock()
        self._heard: dict[str, tuple[datetime, float]] = {}

    def silent(self, beats: Mapping[str, datetime]) -> list[str]:
        """Note the last beat of each worker, and name those whose beat has not changed for a lease."""
        now = self._clock()
        if now - self._looked >= self._lease / 2:
            # Who has not looked does not know who was silent: this process was paused, or the database away.
            self._heard.clear()
        self._looked = now
        known = self._heard
        self._heard = {
            name: known[name] if name in known and known[name][0] == beat else (beat, now)
            for name, beat in beats.items()
        }
        return [name for name, (_, since) in self._heard.items() if now - since >= self._lease]


def reap(sessions: Sessions, queue: JobQueue, database: Engine, watch: Watch) -> None:
    """Declare silent workers dead, and re-queue what the lately dead had begun."""
    with sessions.begin() as session:
        beats = executors.beats(session)
        for executor_id in watch.silent(beats):
            executors.reap_silent(session, executor_id, beats[executor_id])
        dead = executors.lately_dead(session)
    if dead:
        _requeue(queue, database, dead)


def leave(sessions: Sessions, queue: JobQueue, database: Engine, executor_id: str) -> None:
    """End in order: what this worker hands back is taken by others at once."""
    with sessions.begin() as session:
        executors.reap(session, executor_id)
    _requeue(queue, database, [executor_id])


def reconcile(sessions: Sessions, readers: Sessions, queue: JobQueue, database: Engine) -> int:
    """Enqueue every job that has no end and that the queue does not know, and tell how many."""
    with exclusively(database) as alone:
        if not alone:
            return 0
        with readers() as session:
            unfinished = jobs.unfinished(session)
        # Read second: a job that was submitted meanwhile is then in the queue for sure.
        known = queue.waiting_or_begun()
        lost = [job_id for job_id in unfinished if job_id not in known]
        for job_id in lost:
            with sessions.begin() as session:
                queue.enqueue(session, job_id)
    return len(lost)


def _requeue(queue: JobQueue, database: Engine, dead: Sequence[str]) -> None:
    # Two at once would re-queue a second time what a third has just begun.
    with exclusively(database) as alone:
        if alone:
            queue.requeue_dead(dead)
