"""Workers among themselves: entering, living, declaring dead, and taking over what the dead had begun."""

import os
import socket
from collections.abc import Sequence
from datetime import timedelta

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


def reap(sessions: Sessions, queue: JobQueue, database: Engine, lease: timedelta) -> None:
    """Declare silent workers dead, and re-queue what the lately dead had begun."""
    with sessions.begin() as session:
        executors.reap_silent(session, lease)
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
