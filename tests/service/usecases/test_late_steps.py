"""Steps of attempts that come too late or find something gone: nothing is overwritten, the job goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.db import jobs
from service.db.tables import DatasetRow
from service.domain.errors import UnavailableError
from service.domain.ids import new_id
from service.domain.intake_jobs import IntakeJob
from service.domain.training import JobStatus, TrainingJob
from service.usecases import attempts, checkpoints
from service.usecases.jobs import cancel
from service.wiring import Wiring, wire
from tests.service.conftest import settings_for
from tests.service.records import dataset_row
from tests.service.usecases.test_attempts import NOW, VERSION, begin, fetch, submit


@pytest.fixture
def wiring(sqlite_url: str, tmp_path: Path) -> Iterator[Wiring]:
    wiring = wire(settings_for(sqlite_url, tmp_path))
    with wiring.sessions.begin() as session:
        session.add(dataset_row("ds_1"))
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


def test_what_a_search_found_is_told_with_the_job(wiring: Wiring) -> None:
    job = begin(wiring, submit(wiring))
    found = replace(VERSION, params={"n": 1}, search={"trials": []})
    assert attempts.succeed(wiring.sessions, job, found)
    result = fetch(wiring, job.id).result
    assert result is not None
    assert (result["params"], result["search"]) == ({"n": 1}, {"trials": []})


def test_what_an_attempt_has_stored_the_next_one_finds(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list[dict[str, Any]]()
    ours: dict[str, Any] = {"job_id": "job_1", "order": {}, "seconds": 0.0, "send": said.append}
    first = checkpoints.opened(wiring.store, names=[], **ours)
    first.keep("fold 1", np.ones(3))
    monkeypatch.setattr(type(wiring.store), "put", away)
    first.keep("fold 2", np.ones(3))  # the training goes on all the same
    [told] = said
    checkpoints.opened(wiring.store, names=[told["checkpoint"], "f" * 64], **ours)
    assert said[1:] == [{"known": ["fold 1"]}]


def away(*_arguments: object) -> str:
    raise UnavailableError("storage_unavailable", "the store cannot be reached just now")


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
