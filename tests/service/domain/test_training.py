"""A job moves only along its arrows; what is asked for is checked when it is built."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from service.domain.errors import ConflictError
from service.domain.training import JobError, JobStatus, Progress, TrainingJob, TrainingSpec

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SPEC = {"model": "m", "dataset": "ds_1", "costs": {"fn": 5, "fp": 1}}


def job(status: JobStatus = JobStatus.QUEUED, **values: Any) -> TrainingJob:
    asked = TrainingJob.asked("job_1", "default", TrainingSpec.model_validate(SPEC), NOW)
    return replace(asked, status=status, **values)


def test_the_straight_way() -> None:
    running = job().started(NOW, "exec_1")
    assert (running.status, running.attempt, running.started_at) == (JobStatus.RUNNING, 1, NOW)
    done = running.progressed(NOW, Progress(phase="boosting")).succeeded(NOW, {"version": 1})
    assert done.status.done
    assert done.result == {"version": 1}


def test_cancel() -> None:
    assert job().cancel_requested(NOW).status is JobStatus.CANCELLED
    cancelling = job().started(NOW, "exec_1").cancel_requested(NOW)
    assert cancelling.status is JobStatus.CANCELLING
    assert cancelling.cancel_requested(NOW).status is JobStatus.CANCELLING
    assert cancelling.cancelled(NOW).status is JobStatus.CANCELLED


def test_deaths_are_counted_to_the_end() -> None:
    mourned = job()
    for attempt in (1, 2):
        mourned = mourned.started(NOW, "exec_1").lost_worker(NOW, 3)
        assert (mourned.status, mourned.worker_deaths) == (JobStatus.QUEUED, attempt)
    mourned = mourned.started(NOW, "exec_1").lost_worker(NOW, 3)
    assert mourned.status is JobStatus.FAILED
    assert mourned.error is not None
    assert mourned.error.code == "worker_died"


def test_a_worker_that_dies_while_cancelling_leaves_a_cancelled_job() -> None:
    cancelling = job().started(NOW, "exec_1").cancel_requested(NOW)
    assert cancelling.lost_worker(NOW, 3).status is JobStatus.CANCELLED


def test_handing_back_counts_no_death() -> None:
    back = job().started(NOW, "exec_1").handed_back()
    assert (back.status, back.worker_deaths, back.executor_id) == (JobStatus.QUEUED, 0, None)


@pytest.mark.parametrize("status", [status for status in JobStatus if status.done])
@pytest.mark.parametrize(
    "step",
    [
        lambda j: j.started(NOW, "e"),
        lambda j: j.cancel_requested(NOW),
        lambda j: j.succeeded(NOW, {}),
        lambda j: j.failed(NOW, JobError(code="internal", detail="")),
        lambda j: j.cancelled(NOW),
        lambda j: j.lost_worker(NOW, 3),
        lambda j: j.handed_back(),
        lambda j: j.progressed(NOW, Progress(phase="x")),
    ],
)
def test_an_end_is_an_end(status: JobStatus, step: Any) -> None:
    with pytest.raises(ConflictError):
        step(job(status))


def test_a_spec_survives_storage() -> None:
    spec = TrainingSpec.model_validate(
        {**SPEC, "params": {"n_estimators": 7}, "split": {"kind": "time", "column": "t"}, "seed": 3}
    )
    assert TrainingSpec.model_validate(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize(
    "change",
    [
        {"model": "Not a name"},
        {"model": "x" * 65},
        {"costs": None},
        {"cost_spec": "cs_1"},
        {"costs": {"fn": float("nan"), "fp": 1}},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"split": {"test_fraction": 1.0}},
        {"split": {"folds": 1}},
        {"limits": {"seconds": 0}},
        {"limits": {"seconds": float("inf")}},
        {"limits": {"memory_mb": 511}},
        {"calibration": "magic"},
        {"tenant_id": "other"},
        {"on_success": {"alias": "No!"}},
    ],
)
def test_a_wrong_spec_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TrainingSpec.model_validate({**SPEC, **change})
