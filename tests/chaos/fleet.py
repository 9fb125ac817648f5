"""Processes of the service that are started again whenever they end, and what is done to them."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import psutil

from tests.chaos.ledger import Log

ROOT = Path(__file__).parent.parent.parent
#: Between an end and the next start, as a supervisor of processes has it.
RESTART_SECONDS = 0.2


class Kept:
    """One process, started again when it ends."""

    def __init__(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str], output: BinaryIO
    ) -> None:
        self.name = name
        self._command = [sys.executable, "-m", "tests.chaos.process", *arguments]
        self._environment = {**os.environ, **environment}
        self._output = output
        self._process = self._start()
        self._ended: float | None = None
        self.paused_until: float | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        return self._process.pid

    def keep(self) -> None:
        """Start it again if it has ended, a moment later; let it go on if it was paused long enough."""
        now = time.monotonic()
        if self.paused_until is not None and now > self.paused_until:
            self.signal(signal.SIGCONT)
            self.paused_until = None
        if self._process.poll() is None:
            return
        self._ended = self._ended or now
        if now > self._ended + RESTART_SECONDS:
            self.restart()

    def restart(self) -> None:
        """Start it again at once; it has ended."""
        self._process, self._ended = self._start(), None

    def signal(self, number: int) -> None:
        """Send a signal; one that has ended gets none."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Wait for its end and tell the status; it is killed when it does not come."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None

    def _start(self) -> subprocess.Popen[bytes]:
        self.paused_until = None
        return subprocess.Popen(
            self._command,
            env=self._environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )


class Fleet:
    """Workers and an API.

    Parameters
    ----------
    settings : mapping
        Variables of all of them.
    kind : str
        What workers do with a job, see `tests.chaos.process`.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        folder: Path,
        *,
        workers: int,
        kind: str,
        log: Log,
        rng: random.Random,
    ) -> None:
        self._log, self._rng = log, rng
        self._store_url = settings["COSTBOOST_STORE_URL"]
        self._output = (folder / "processes.log").open("ab")
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        environment = {**settings, "TMPDIR": str(self.temporary)}
        self.api = Kept("api", ["api"], environment, self._output)
        self.workers = [
            Kept(f"worker {number}", ["worker", kind], environment, self._output) for number in range(workers)
        ]

    def keep(self) -> None:
        """Look after everybody, once."""
        for one in (self.api, *self.workers):
            one.keep()

    def kill_worker(self) -> None:
        """Kill one as the kernel does it."""
        self._kill(self._rng.choice(self.workers))

    def kill_api(self) -> None:
        """Kill it in the middle of whatever it does."""
        self._kill(self.api)

    def pause_worker(self, seconds: float) -> None:
        """Stop one, past its lease, and let it go on then."""
        one = self._rng.choice(self.workers)
        self._log.add("paused", who=one.name, seconds=seconds)
        one.paused_until = time.monotonic() + seconds
        one.signal(signal.SIGSTOP)

    @property
    def has_paused(self) -> bool:
        """Whether somebody is stopped, perhaps with a lock in hand."""
        return any(one.paused_until is not None for one in self.workers)

    def stop(self) -> None:
        """Let everybody end in order, and note who does not, and what is left of them."""
        for one in (self.api, *self.workers):
            one.signal(signal.SIGCONT)
            one.signal(signal.SIGTERM)
        for one in (self.api, *self.workers):
            if one.wait(60) is None:
                self._log.add("left", what=f"{one.name}, which does not stop")
        self._output.close()
        for left in self._orphans():
            self._log.add("left", what=f"process {left}")
        for path in self.temporary.rglob("*"):
            self._log.add("left", what=f"temporary file {path.name}")

    def kill(self) -> None:
        """End everybody at once, whatever they do."""
        for one in (self.api, *self.workers):
            one.signal(signal.SIGKILL)
            one.wait(10)

    def _kill(self, one: Kept) -> None:
        self._log.add("killed", who=one.name)
        one.signal(signal.SIGKILL)

    def _orphans(self) -> list[str]:
        """Processes that have our settings and live on.

        A nursery sees the death of its owner when it has loaded everything, which takes a slow machine long.
        """
        end = time.monotonic() + 90
        while True:
            found = [str(process.cmdline()) for process in psutil.process_iter() if self._is_ours(process)]
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return process.environ().get("COSTBOOST_STORE_URL") == self._store_url
        return False
