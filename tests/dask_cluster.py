"""A Dask cluster of processes on this machine, to be killed from."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


class Cluster:
    """A scheduler and its workers, all on this machine.

    Parameters
    ----------
    folder : Path
    tls : sequence of str
        Options of `dask scheduler` and `dask worker` that name the files for TLS.
    """

    def __init__(self, folder: Path, tls: Sequence[str] = ()) -> None:
        self.folder, self.tls = folder, tls
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        host = "tls://127.0.0.1" if tls else "127.0.0.1"
        self.scheduler = self._start("scheduler", "--host", host, "--port", "0")

    @property
    def address(self) -> str:
        """Where the scheduler is, once it is."""
        end = time.monotonic() + 60
        while True:
            try:  # the file is there before all of it is
                return str(json.loads(self.file.read_text())["address"])
            except (FileNotFoundError, json.JSONDecodeError):
                assert time.monotonic() < end, "the scheduler did not start"
            time.sleep(0.05)

    def scale(self, count: int) -> None:
        """Start workers until so many live."""
        while sum(worker.poll() is None for worker in self.workers) < count:
            number = str(len(self.workers))
            self.workers.append(self._start("worker", "--nthreads", "2", "--name", number, "--no-nanny"))

    def replace_worker(self) -> None:
        """Kill the eldest worker and start another, as whoever keeps a cluster does."""
        living = [worker for worker in self.workers if worker.poll() is None]
        living[0].kill()
        living[0].wait()
        self.scale(len(living))

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(
            [*command, "--no-dashboard", *self.tls, *arguments],
            cwd=self.folder,
            env=environment,
            stderr=subprocess.DEVNULL,
        )
