"""A worker that is paused at any step of an attempt, past its lease, changes nothing when it wakes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import func, select, text

from service.db.tables import VersionRow
from service.domain.training import JobStatus
from service.workers.clerk import DECLARED_DEAD
from tests.service.pausing import STATIONS
from tests.service.workers.test_worker import LEASE, MAIN, Bench

Wait = Callable[..., None]


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(database_url, tmp_path)
    yield bench
    bench.close()


def halting_worker(bench: Bench, station: str, folder: Path) -> subprocess.Popen[bytes]:
    code = f"from pausing import halt_at\nhalt_at({station!r}, {str(folder)!r})\n{MAIN}"
    command = [sys.executable, "-c", code, "--executor", "exec_paused"]
    process = subprocess.Popen(command, env={**os.environ, **bench.environment})
    bench.processes.append(process)
    return process


def is_reaped(bench: Bench) -> bool:
    return any(row.id == "exec_paused" and row.reaped_at is not None for row in bench.executors())


def entries(bench: Bench, job_id: str) -> list[tuple[Any, ...]]:
    """What the engine knows of a job."""
    schema = "" if bench.wiring.database.dialect.name == "sqlite" else "dbos."
    query = text(
        "SELECT workflow_uuid, status, executor_id, completed_at "
        f"FROM {schema}workflow_status WHERE workflow_uuid LIKE :ours ORDER BY 1"
    )
    with bench.wiring.readers() as session:
        return [tuple(row) for row in session.execute(query, {"ours": f"{job_id}~%"})]


def versions(bench: Bench, job_id: str) -> int:
    with bench.wiring.readers() as session:
        return session.scalars(select(func.count()).where(VersionRow.job_id == job_id)).one()


@pytest.mark.slow
@pytest.mark.parametrize("station", STATIONS)
def test_a_worker_that_sleeps_past_its_lease_writes_nothing(
    bench: Bench, wait_until: Wait, tmp_path: Path, station: str
) -> None:
    paused = halting_worker(bench, station, tmp_path)
    job_id = bench.submit()
    wait_until((tmp_path / "there").exists, 60)
    has_lock = station == "committing" and bench.wiring.database.dialect.name == "sqlite"
    # Under the lock of SQLite, so that it is not another thread of the worker that has it, and keeps it.
    with nullcontext() if has_lock else bench.wiring.sessions.begin() as session:
        if session is not None:
            session.execute(text("SELECT 1"))
        paused.send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(paused.pid).status() == psutil.STATUS_STOPPED)
    (tmp_path / "go").touch()
    other = bench.worker()
    if has_lock:
        # Nobody can do anything, nor declare it dead, until it goes on.
        time.sleep(LEASE + 1)
        paused.send_signal(signal.SIGCONT)
        wait_until(lambda: bench.status(job_id).done, 60)
        assert versions(bench, job_id) == 1
        return
    wait_until(lambda: bench.status(job_id).done and is_reaped(bench), 90)
    wait_until(lambda: all(entry[1] == "SUCCESS" for entry in entries(bench, job_id)), 60)
    # Nobody else writes while we look.
    other.kill()
    other.wait()
    before = (bench.job(job_id), versions(bench, job_id), entries(bench, job_id))
    assert before[0].status is JobStatus.SUCCEEDED
    assert before[1] == 1
    paused.send_signal(signal.SIGCONT)
    assert paused.wait(60) == DECLARED_DEAD
    assert (bench.job(job_id), versions(bench, job_id), entries(bench, job_id)) == before
