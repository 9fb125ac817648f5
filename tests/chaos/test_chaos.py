"""Chaos on both databases, small in every run and larger in the slow tier; `make chaos` is the real one."""

from pathlib import Path

import pytest

from tests.chaos.__main__ import database
from tests.chaos.run import FAULTS, FAULTS_OF_FITS, Plan, run

#: Everything that can happen, soon enough to happen in a short run.
SOON = {
    "kill_worker": (1.0, 5.0),
    "kill_api": (5.0, 60.0),
    "crash_database": (3.0, 20.0),
    "empty_queue": (2.0, 10.0),
}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_forty_jobs(kind: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as (url, server):
        plan = Plan(seed=6, jobs=40, workers=2, slots=8, per_second=30.0, lease=2.0, faults=SOON, most=2)
        assert run(plan, url, tmp_path, server) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("work", ["pass", "fit"])
def test_two_hundred_jobs(kind: str, work: str, tmp_path: Path) -> None:
    with database(kind, tmp_path) as (url, server):
        faults = FAULTS if work == "pass" else FAULTS_OF_FITS
        plan = Plan(seed=6, jobs=200, kind=work, poison=int(work == "pass"), faults=faults)
        assert run(plan, url, tmp_path, server) == []
