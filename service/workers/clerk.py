"""The threads of a worker that talk to the database beside its attempts: the clerk and the warden."""

import faulthandler
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

import structlog
from sqlalchemy.exc import SQLAlchemyError

from service.queue import keep_registered
from service.usecases import attempts, checkpoints, workers
from service.wiring import Wiring
from service.workers.supervisor import Supervisor

#: How often cancels are looked for; also the longest a cancel waits here, in seconds.
LOOK_SECONDS = 0.5
RECONCILE_SECONDS = 30.0
#: For an end that nothing should hold up.
PATIENCE_SECONDS = 10.0
#: Exit status of a worker that found itself declared dead.
DECLARED_DEAD = 4
#: Exit status of a worker that has a fault.
FAILED = 5

log = structlog.get_logger("service.workers")


class Clerk(threading.Thread):
    """Says that the worker lives, writes progress, and notices cancels."""

    def __init__(self, wiring: Wiring, executor_id: str, supervisor: Supervisor, beat_seconds: float) -> None:
        super().__init__(name="clerk", daemon=True)
        self._wiring = wiring
        self._executor_id = executor_id
        self._supervisor = supervisor
        self._beat_seconds = beat_seconds
        self._next_beat = 0.0
        self._retired = threading.Event()

    def retire(self) -> None:
        """The worker is about to leave in order: that it is no longer entered is no surprise then."""
        self._retired.set()

    def run(self) -> None:
        """Look after everything until the process ends."""
        look_forever(self._look, LOOK_SECONDS)

    def _look(self) -> None:
        if time.monotonic() >= self._next_beat:
            self._beat()
            self._next_beat = time.monotonic() + self._beat_seconds
        running = self._supervisor.running
        if not running:
            return
        found = attempts.stands(self._wiring.readers, [attempt.job.id for attempt in running])
        for attempt in running:
            attempt.compare(found.get(attempt.job.id))
            while attempt.checkpoints and not attempt.is_lost:
                checkpoints.note(self._wiring.sessions, attempt.job, attempt.checkpoints[0])
                attempt.checkpoints.popleft()
            progress = attempt.take_progress()
            if progress is not None and not attempt.is_lost:
                attempts.note(self._wiring.sessions, attempt.job, progress)

    def _beat(self) -> None:
        groups = self._wiring.nursery.groups()
        lives = workers.beat(self._wiring.sessions, self._executor_id, groups)
        if not lives and not self._retired.is_set():
            log.error("declared dead by others; ending", executor_id=self._executor_id)
            end_within(PATIENCE_SECONDS)
            self._wiring.nursery.close()
            # Not an orderly exit: nothing of this process may go on.
            os._exit(DECLARED_DEAD)


class Warden(threading.Thread):
    """Looks after others: re-queues what dead workers had begun, and what the queue has lost."""

    def __init__(self, wiring: Wiring, lease_seconds: float) -> None:
        super().__init__(name="warden", daemon=True)
        self._wiring = wiring
        self._watch = workers.Watch(timedelta(seconds=lease_seconds))
        self._pause = min(lease_seconds / 5, 2.0)
        self._next_reconcile = time.monotonic() + RECONCILE_SECONDS

    def run(self) -> None:
        """Look after others until the process ends."""
        look_forever(self._look, self._pause)

    def _look(self) -> None:
        wiring = self._wiring
        workers.reap(wiring.sessions, wiring.queue, wiring.database, self._watch)
        if time.monotonic() >= self._next_reconcile:
            keep_registered(wiring.settings.workers, wiring.settings.poll_seconds)
            workers.reconcile(wiring.sessions, wiring.readers, wiring.queue, wiring.database)
            self._next_reconcile = time.monotonic() + RECONCILE_SECONDS


def end_within(seconds: float) -> None:
    """End this process then at the latest, and write where each thread was: something holds its end up.

    Others take over what it had, as from any worker that dies.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)


def look_forever(look: Callable[[], None], pause: float) -> NoReturn:
    """Call again and again, through outages; any other fault ends the process, and another is started."""
    while True:
        try:
            look()
        except SQLAlchemyError as error:
            # While the database is away there is nothing to do but to look again.
            log.warning("database unavailable", error=type(error).__name__)
        except Exception:
            # A worker that nobody looks after would hold its jobs for ever; another one is started for it.
            log.exception("a thread of the worker failed")
            os._exit(FAILED)
        time.sleep(pause)
