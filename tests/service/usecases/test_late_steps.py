"""Steps of jobs that come too late, because another was faster: nothing is overwritten."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.db import jobs
from service.db.tables import DatasetRow
from service.domain.ids import new_id
from service.domain.intake_jobs import IntakeJob
from service.domain.training import JobStatus, TrainingJob
from service.usecases import attempts
from service.usecases.jobs import cancel
from service.wiring import Wiring, wire
from tests.service.conftest import settings_for
from tests.service.usecases.test_attempts import NOW, begin, dataset, submit


@pytest.fixture
def wiring(sqlite_url: str, tmp_path: Path) -> Iterator[Wiring]:
    wiring = wire(settings_for(sqlite_url, tmp_path))
    with wiring.sessions.begin() as session:
        session.add(dataset())
    yield wiring
    wiring.close()


def test_who_finds_a_job_changed_looks_again(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id, advance = submit(wiring), jobs.advance

    def too_late(*_steps: object) -> bool:
        monkeypatch.setattr(jobs, "advance", advance)
        return False

    monkeypatch.setattr(jobs, "advance", too_late)
    assert begin(wiring, job_id).attempt == 1
    monkeypatch.setattr(jobs, "advance", too_late)
    asked = cancel(wiring.sessions, wiring.queue, TrainingJob, "default", job_id).job
    assert asked.status is JobStatus.CANCELLING
    attempts.settle(wiring.sessions, asked)
    assert not attempts.is_last_chance(wiring.readers, job_id, 1)


def test_a_stale_attempt_takes_no_table_in(wiring: Wiring) -> None:
    order = {"dataset": "ds_2", "media_type": "text/csv", "sha256": "e" * 64, "bytes": 1}
    order |= {"options": {"name": "late"}}
    asked = IntakeJob.asked(
        id=new_id("in"), tenant_id="default", order=order, source_sha256="e" * 64, created_at=NOW
    )
    with wiring.sessions.begin() as session:
        jobs.add(session, asked)
    stale, newer = (attempts.begin(wiring.sessions, asked.id, "exec_1", 3) for _ in range(2))
    assert isinstance(stale, IntakeJob)
    assert isinstance(newer, IntakeJob)
    labels = {"column": "y", "counts": {"0": 1, "1": 1}, "positive": "1", "positive_inferred": False}
    found = {"rows": 2, "labels": labels, "columns": []}
    assert not attempts.take_in(wiring.sessions, stale, "f" * 64, found)
    with wiring.readers() as session:
        assert session.get(DatasetRow, "ds_2") is None
    assert attempts.take_in(wiring.sessions, newer, "f" * 64, found)
