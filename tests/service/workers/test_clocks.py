"""Clocks of workers jump by hours while they work: nobody is declared dead for it, nobody dead lives on.

The clocks are those of libfaketime, which moves them for one process and its children; steady clocks stay.
On SQLite the clock of the database is that of the worker who asks.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.domain.training import JobStatus
from tests.service.workers.test_worker import COMMAND, LEASE, Bench

LIBRARY = next(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"), None)
#: Python sleeps until a moment of a steady clock, which this library takes for one of the clock it moves.
SITECUSTOMIZE = """
import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""


class Clock:
    """A clock that a process and its children have for the time of day."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(SITECUSTOMIZE)
        self._folder = folder
        self.set(0)

    def set(self, hours: int) -> None:
        """Move it to so many hours after the true time."""
        aside = self._folder / "new"
        aside.write_text(f"{hours:+d}h\n")
        aside.replace(self._folder / "offset")

    def environment(self, path: str) -> dict[str, str]:
        """Variables of a process that has it, and that finds Python's modules on that path."""
        return {
            "LD_PRELOAD": str(LIBRARY),
            "PYTHONPATH": os.pathsep.join([str(self._folder), path]),
            "FAKETIME_TIMESTAMP_FILE": str(self._folder / "offset"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(database_url, tmp_path)
    yield bench
    bench.close()


def worker(bench: Bench, clock: Clock, name: str) -> subprocess.Popen[bytes]:
    environment = bench.environment | clock.environment(bench.environment["PYTHONPATH"])
    process = subprocess.Popen([*COMMAND, "--executor", name], env={**os.environ, **environment})
    bench.processes.append(process)
    return process


@pytest.mark.slow
def test_clocks_that_jump_by_hours_change_nothing(
    bench: Bench, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    if LIBRARY is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no libfaketime: scripts/faketime.sh")
    mine, other = Clock(tmp_path / "mine"), Clock(tmp_path / "other")
    victim = worker(bench, mine, "exec_mine")
    job_id = bench.submit(sleep=600, marker=str(tmp_path / "begun"))
    wait_until((tmp_path / "begun").exists, 60)
    worker(bench, other, "exec_other")
    # Each has said at least once that it lives, after it entered.
    wait_until(lambda: [row.beat_at > row.started_at for row in bench.executors()] == [True, True], 60)
    for hours in (1, -1, 0, -1):
        mine.set(hours)
        other.set(-hours)
        quick = bench.submit()
        time.sleep(1.5 * LEASE)
        wait_until(lambda quick=quick: bench.status(quick).done)
        assert bench.status(quick) is JobStatus.SUCCEEDED
        assert [row.reaped_at for row in bench.executors()] == [None, None], hours
        assert (bench.status(job_id), bench.job(job_id).attempt) == (JobStatus.RUNNING, 1), hours
    victim.kill()
    # What it said last lies an hour behind; the other's clock is an hour ahead.
    wait_until(lambda: bench.status(job_id).done)
    job = bench.job(job_id)
    assert (job.status, job.attempt, job.worker_deaths) == (JobStatus.SUCCEEDED, 2, 1)
