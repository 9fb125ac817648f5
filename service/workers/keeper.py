"""Keeps one worker process alive beside another process (the API of `costboost serve`)."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

import structlog

from service.domain.ids import new_id

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
#: A worker that lived so long did not die of its start: the pauses begin anew.
HEALTHY_SECONDS = 30.0

log = structlog.get_logger("service.workers")


class WorkerKeeper(threading.Thread):
    """Starts a worker, and starts another when it dies.

    The new one is told whom it replaces, so that it takes over at once what the dead one had begun, without
    waiting for its lease to end.

    Parameters
    ----------
    environment : mapping
        Environment of the worker, with its settings.
    stop_seconds : float
        How long a stopping worker waits for what is under way before it hands it back.
    command : sequence of str
        What to start; "--executor ID", "--replaces ID" and "--stop-seconds S" are added.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        stop_seconds: float = 2.0,
        command: Sequence[str] = (sys.executable, "-m", "service.worker"),
    ) -> None:
        super().__init__(name="worker-keeper", daemon=True)
        self._environment = dict(environment)
        self._stop_seconds = stop_seconds
        self._command = list(command)
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        # Only one of two threads may decide between "start another" and "stop".
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The worker process of this moment."""
        return None if self._process is None else self._process.pid

    def run(self) -> None:
        """Start workers until asked to stop."""
        dead: str | None = None
        pause = FIRST_PAUSE
        while True:
            executor_id, born = new_id("exec"), time.monotonic()
            process = self._start(executor_id, dead)
            if process is None:
                return
            status = process.wait()
            if self._stopping.is_set():
                return
            pause = (
                FIRST_PAUSE if time.monotonic() - born > HEALTHY_SECONDS else min(2 * pause, LONGEST_PAUSE)
            )
            log.error("worker ended; starting another", status=status, seconds=pause)
            dead = executor_id
            self._stopping.wait(pause)

    def stop(self) -> None:
        """Ask the worker to hand back what it has and to end; kill it when it does not."""
        with self._lock:
            self._stopping.set()
            process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(self._stop_seconds + 5.0)
            except subprocess.TimeoutExpired:
                process.kill()
        self.join()

    def _start(self, executor_id: str, dead: str | None) -> subprocess.Popen[bytes] | None:
        replaces = [] if dead is None else ["--replaces", dead]
        with self._lock:
            if self._stopping.is_set():
                return None
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                [
                    *self._command,
                    *("--executor", executor_id, "--stop-seconds", str(self._stop_seconds)),
                    *replaces,
                ],
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                # Ctrl-C in a terminal is for the service, which then stops its worker in order.
                start_new_session=True,
            )
        return self._process
