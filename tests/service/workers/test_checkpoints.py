"""An attempt that dies leaves what it has finished to the next one, which makes the same bytes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from service.db.tables import CheckpointRow, ExecutorRow, VersionRow
from service.main import environment
from tests.service.conftest import Service, running, settings_for, table

Wait = Callable[..., None]

HERE = Path(__file__).parent.parent
MAIN = """
from service.settings import load_settings
from service.worker import run
run(load_settings(), target="halting_child:train")
"""
SPEC = {
    "algorithm": "cgada",
    "params": {"n_estimators": 4},
    "costs": {"fn": 50, "fp": 5},
    "search": {"params": {"learning_rate": {"low": 0.5, "high": 1.0}}, "trials": 2},
    "split": {"folds": 2},
}
#: Of 2 trials on 2 folds, of the 2 folds of the best with 4 rounds each, and of 4 rounds on all rows: all but
#: two rounds.
HALT_AFTER = 2 * 2 + 2 * (4 + 1) + 2


@pytest.fixture
def service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    settings = settings_for(database_url, tmp_path, checkpoint_seconds=1e-6)
    with running(settings, with_worker=False, preload=()) as found:
        yield found


@contextmanager
def worker(service: Service, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    variables = {
        **environment(service.settings),
        "HALT_AFTER": str(HALT_AFTER),
        "HALT_MARKER": str(folder / "halted"),
        "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
    }
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-c", MAIN], env=os.environ | variables, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def checkpoints(service: Service) -> list[tuple[int, str]]:
    with service.wiring.readers() as session:
        rows = session.execute(select(CheckpointRow.attempt, CheckpointRow.content_sha256))
        return [(attempt, name) for attempt, name in rows]


def child_of(service: Service) -> int:
    with service.wiring.readers() as session:
        groups = [group for groups in session.scalars(select(ExecutorRow.groups)) for group in groups]
    return int(groups[0][0]) if groups else 0


def submit(service: Service, model: str, dataset: str) -> str:
    answer = service.http.post("/v1/training-jobs", json={**SPEC, "model": model, "dataset": dataset})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def artifacts(service: Service, model: str) -> list[Any]:
    with service.wiring.readers() as session:
        row = session.scalars(select(VersionRow).where(VersionRow.spec["model"].as_string() == model)).one()
        return [row.artifact_sha256, row.report_sha256, row.test_part_sha256, row.spec.params, row.metrics]


@pytest.mark.parametrize("victim", ["child", pytest.param("worker", marks=pytest.mark.slow)])
def test_what_was_finished_is_not_done_again(
    service: Service, wait_until: Wait, tmp_path: Path, victim: str
) -> None:
    dataset = service.upload(table())["id"]
    broken = submit(service, "broken", dataset)
    with worker(service, tmp_path) as first:
        wait_until(lambda: len(checkpoints(service)) == HALT_AFTER, 90)
        left = [name for _, name in checkpoints(service)]
        if victim == "child":
            wait_until(lambda: child_of(service))
            os.kill(child_of(service), signal.SIGKILL)
        else:
            first.kill()
        with worker(service, tmp_path) if victim == "worker" else nullcontext():
            job = service.wait(broken, 90)
            assert (job["status"], job["attempt"]) == ("succeeded", 2)
            unbroken = service.wait(submit(service, "unbroken", dataset), 90)
            assert (unbroken["status"], unbroken["attempt"]) == ("succeeded", 1)
            # A moment after the end of their job.
            wait_until(lambda: checkpoints(service) == [])
            wait_until(lambda: not set(left) & set(service.wiring.store.list()))
    assert artifacts(service, "broken") == artifacts(service, "unbroken")
    assert job["result"]["warnings"] == unbroken["result"]["warnings"]
    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    [line] = [line for line in told if line["event"] == "going on from checkpoints"]
    trials = [f"trial {trial}, fold {fold}" for trial in range(2) for fold in range(2)]
    fits = ["all rows", "fold 0", "fold 1", *trials]
    assert (line["job_id"], line["attempt"], line["fits"]) == (broken, 2, fits)
