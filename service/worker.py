"""The worker process: takes training jobs from the queue and has them trained in guarded children."""

import argparse
import os
import signal
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import structlog
from sqlalchemy.exc import SQLAlchemyError

from service import logs
from service.db.executors import Group
from service.db.migrations import is_migrated, require_migrated
from service.domain.ids import new_id
from service.explaining import explained
from service.processes.server import kill_group
from service.processes.watch import born
from service.queue import run_worker
from service.settings import Settings, load_settings
from service.usecases import workers
from service.wiring import Wiring, wire
from service.workers.clerk import PATIENCE_SECONDS, Clerk, Warden, end_within
from service.workers.messenger import Messenger
from service.workers.supervisor import Handling, Supervisor
from service.workers.sweeper import Sweeper

#: What a child calls to train.
TARGET = "service.workers.child:train"
#: What is done before it: the library takes a second or two to import, its compiled code another one.
PRELOAD = ("service.workers.child:prepare",)
#: Environment of children: they fit several folds at a time, each in one thread.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

log = structlog.get_logger("service.worker")


def run(
    settings: Settings,
    *,
    executor_id: str | None = None,
    replaces: str | None = None,
    stop_seconds: float | None = None,
    target: str = TARGET,
    preload: Sequence[str] = PRELOAD,
) -> NoReturn:
    """Take jobs until SIGTERM or SIGINT; then finish or hand back what is under way, and exit.

    Parameters
    ----------
    settings : Settings
    executor_id : str, optional
        A name that no other process ever had; made up by default.
    replaces : str, optional
        The executor id of a worker known to be dead.
    stop_seconds : float, optional
        How long a stopping worker waits for what is under way; the setting by default.
    target : str
        What children call.
    preload : sequence of str
        What children find done, see `Nursery`.

    Raises
    ------
    SchemaError
        PostgreSQL has not the schema of this release.
    """
    logs.configure(settings.log_level)
    executor = executor_id or new_id("exec")
    wiring = wire(settings, preload, ONE_THREAD)
    _await_schema(wiring)
    wiring.nursery.warm()
    _sweep(workers.enter(wiring.sessions, executor, replaces))
    handling = Handling(target, settings.job_seconds, settings.job_memory_mb, settings.max_worker_deaths)
    supervisor = Supervisor(wiring, executor, handling)
    stop = _catch_signals(supervisor)
    clerk = Clerk(wiring, executor, supervisor, settings.beat_seconds)
    clerk.start()
    run_worker(
        settings.database_url.get_secret_value(),
        executor,
        slots=settings.workers,
        poll_seconds=settings.poll_seconds,
        handler=supervisor.handle,
    )
    Warden(wiring, settings.lease_seconds).start()
    Messenger(wiring).start()
    Sweeper(wiring, settings.sweep_seconds).start()
    log.info("worker ready", executor_id=executor, slots=settings.workers)
    stop.wait()
    patience = settings.stop_seconds if stop_seconds is None else stop_seconds
    end_within(patience + PATIENCE_SECONDS)
    supervisor.stop(patience)
    clerk.retire()
    workers.leave(wiring.sessions, wiring.queue, wiring.database, executor)
    wiring.close()
    log.info("worker stopped", executor_id=executor)
    # Threads of the queue may still hold jobs that were handed back; they must not tell it a result.
    os._exit(0)


def _await_schema(wiring: Wiring) -> None:
    """Wait for a database that is away, and for the API beside us, which migrates a file of SQLite."""
    while True:
        try:
            if wiring.is_shared:
                require_migrated(wiring.database)
                return
            if is_migrated(wiring.database):
                return
            log.warning("the database has not the schema of this release yet; waiting")
        except SQLAlchemyError as error:
            log.warning("the database cannot be reached yet; waiting", error=type(error).__name__)
        time.sleep(1.0)


def _sweep(groups: list[Group]) -> None:
    """Kill what dead workers of this host left running; a pid that somebody else has now is left alone."""
    for pid, made in groups:
        if born(pid) == made:
            kill_group(pid)


def _catch_signals(supervisor: Supervisor) -> threading.Event:
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            supervisor.hurry()
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _end_with(parent: int) -> None:
    """Stop in order when the parent is gone, however it died: nobody else would stop us then."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m service.worker", description=__doc__)
    parser.add_argument("--executor", help="a name no other worker ever had")
    parser.add_argument("--replaces", help="name of a worker known to be dead")
    parser.add_argument("--stop-seconds", type=float, help="how long to wait for what is under way")
    parser.add_argument("--parent", type=int, help="id of the process without which this one shall end")
    given = parser.parse_args()
    if given.parent is not None:
        _end_with(given.parent)
    with explained():
        run(
            load_settings(),
            executor_id=given.executor,
            replaces=given.replaces,
            stop_seconds=given.stop_seconds,
        )


if __name__ == "__main__":
    main()
