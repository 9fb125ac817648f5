"""Checkpoints on both databases: written by the attempt in force alone, kept until its job is over."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import update

from service.db.tables import TrainingJobRow
from service.domain.training import JobError, TrainingJob
from service.usecases import attempts, checkpoints, monitoring, sweeping
from service.usecases.jobs import cancel
from service.wiring import Wiring, wire
from tests.service.conftest import settings_for
from tests.service.records import dataset_row
from tests.service.usecases.test_attempts import begin, submit


@pytest.fixture
def wiring(database_url: str, tmp_path: Path) -> Iterator[Wiring]:
    wiring = wire(settings_for(database_url, tmp_path))
    with wiring.sessions.begin() as session:
        session.add(dataset_row("ds_1"))
    yield wiring
    wiring.close()


def test_a_stale_attempt_leaves_nothing(wiring: Wiring) -> None:
    job_id = submit(wiring)
    stale = begin(wiring, job_id)
    assert checkpoints.note(wiring.sessions, stale, "1" * 64)
    attempts.hand_back(wiring.sessions, stale)
    assert not checkpoints.note(wiring.sessions, stale, "2" * 64)
    assert monitoring.figures(wiring.readers).resumed == 0
    newer = begin(wiring, job_id, "exec_2")
    assert monitoring.figures(wiring.readers).resumed == 1
    assert not checkpoints.note(wiring.sessions, stale, "2" * 64)
    assert checkpoints.note(wiring.sessions, newer, "3" * 64)
    assert checkpoints.left(wiring.readers, newer) == ["1" * 64, "3" * 64]


def test_they_go_with_the_end_of_their_job(wiring: Wiring) -> None:
    over, running = begin(wiring, submit(wiring)), begin(wiring, submit(wiring))
    kept = {job.id: wiring.store.put(job.id.encode()) for job in (over, running)}
    for job in (over, running):
        checkpoints.note(wiring.sessions, job, kept[job.id])
        assert checkpoints.clear(wiring.sessions, wiring.store, job.id) == 0
    attempts.fail(wiring.sessions, over, JobError(code="internal", detail="d"))
    assert checkpoints.clear(wiring.sessions, wiring.store, running.id) == 0
    assert checkpoints.clear(wiring.sessions, wiring.store, over.id) == 1
    assert list(wiring.store.list()) == [kept[running.id]]
    assert checkpoints.left(wiring.readers, over) == []


def test_the_sweep_finds_those_of_jobs_that_ended_without_a_worker(wiring: Wiring) -> None:
    def checkpointed() -> TrainingJob:
        job = begin(wiring, submit(wiring))
        checkpoints.note(wiring.sessions, job, wiring.store.put(job.id.encode()))
        return job

    waits, cancelled = checkpointed(), checkpointed()
    for job in (waits, cancelled):
        attempts.hand_back(wiring.sessions, job)
    cancel(wiring.sessions, wiring.queue, TrainingJob, "default", cancelled.id)
    report = sweeping.sweep(wiring.sessions, wiring.readers, wiring.store, wiring.queue)
    assert report.checkpoints == 1
    assert len(list(wiring.store.list())) == 1
    with wiring.sessions.begin() as session:
        session.execute(update(TrainingJobRow).values(finished_at=datetime.now(UTC), status="failed"))
    assert checkpoints.clear(wiring.sessions, wiring.store) == 1
    assert list(wiring.store.list()) == []


def test_bytes_that_are_lost_or_damaged_are_done_without(wiring: Wiring, tmp_path: Path) -> None:
    sent: list[dict[str, object]] = []
    damaged, name = wiring.store.put(b"of another kind"), "f" * 64
    (tmp_path / "store" / damaged[:2] / damaged[2:4] / damaged).write_bytes(b"else")
    found = checkpoints.opened(
        wiring.store, job_id="job_1", order={}, names=[damaged, name], seconds=1.0, send=sent.append
    )
    assert (found.known, sent) == ([], [])
