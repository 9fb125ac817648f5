"""The demo as `make demo` runs it: its story, its failures, and that nothing is left of either."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

DEMO = Path(__file__).parent.parent / "demo"


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """The folder that the demo takes for temporary files; empty, and nobody's, when the test is over."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    yield folder
    check_nothing_left(folder)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run prints."""
    folder = tmp_path_factory.mktemp("temporary")
    status, output, errors = finish(start(folder))
    assert (status, errors) == (0, "")
    check_nothing_left(folder)
    return output


def check_nothing_left(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    # A child that dies with its parent may be on its way yet.
    _, alive = psutil.wait_procs(list(processes_of(folder)), timeout=5.0)
    assert alive == []


def processes_of(folder: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            told = [*process.cmdline(), *process.environ().values()]
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if any(str(folder) in text for text in told):
            yield process


def start(folder: Path, demo: Path = DEMO) -> subprocess.Popen[str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("COSTBOOST_")}
    environment = {**given, "TMPDIR": str(folder)}
    command = [sys.executable, str(demo / "demo.py")]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    with process:
        output, errors = process.communicate(timeout=180)
    return process.returncode, output, errors


def test_decisions_of_least_cost_beat_every_plain_policy(story: str) -> None:
    assert len(re.findall(r" is version \d", story)) == 4  # two algorithms on two tables
    for table in ("card-fraud", "german-credit"):
        costs = policies(story, table)
        constant = min(costs["accept all"], costs["refuse all"])
        for algorithm in ("auto", "adacost"):
            assert costs[f"{algorithm}, least cost"] < costs[f"{algorithm}, threshold 0.5"]
            assert costs[f"{algorithm}, least cost"] < constant


def policies(output: str, table: str) -> dict[str, float]:
    """The costs in money that the demo printed for one table."""
    part = re.split(rf"{table}: what the", output)[1].split("\n\n")[0]
    lines = re.findall(r"^    (\S.*?) {2,}([\d,]+) +[+-]", part, re.MULTILINE)
    return {policy: float(cost.replace(",", "")) for policy, cost in lines}


def test_a_fraud_that_only_its_amount_gave_away_is_shown(story: str) -> None:
    assert re.search(r"check above .*check.*it was a fraud", story)


def test_the_same_probability_is_decided_otherwise_at_other_costs(story: str) -> None:
    part = story.partition("priced again")[2].partition("\n\n")[0]
    before, after = re.findall(r"p\(fraud\) +([\d.]+%) .* (check|accept) +a check costs", part)
    assert before[0] == after[0]
    assert (before[1], after[1]) == ("check", "accept")


def test_a_failure_is_told_and_has_a_status(temporary: Path, tmp_path: Path) -> None:
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy, ignore=shutil.ignore_patterns("*.gz"))
    status, _, errors = finish(start(temporary, copy))
    assert status == 1
    assert "The demo failed: " in errors
    assert "card_fraud.csv.gz" in errors
    assert "Traceback" not in errors


def test_a_signal_stops_what_was_started(temporary: Path) -> None:
    demo = start(temporary)
    deadline = time.monotonic() + 60
    while not list(temporary.glob("*/data/costboost.db")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    demo.send_signal(signal.SIGTERM)
    status, _, _ = finish(demo)
    assert status == 128 + signal.SIGTERM
