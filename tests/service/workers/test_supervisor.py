"""A worker's threads without their process: outages, and attempts that go wrong where no kill shows it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

import service.workers.supervisor
from service.db import jobs
from service.domain.batch_predictions import BatchPrediction
from service.domain.errors import ConflictError, FieldError, InvalidError, UnavailableError
from service.domain.ids import new_id
from service.domain.training import JobStatus, Progress, TrainingJob
from service.processes.guard import Ending, Outcome
from service.usecases import attempts
from service.usecases.jobs import cancel
from service.wiring import Wiring, wire
from service.workers import clerk
from service.workers.attempt import Attempt
from service.workers.keeper import WorkerKeeper
from service.workers.slots import LOOK_SECONDS, Slots
from service.workers.supervisor import TARGETS, Handling, Supervisor, failure_of
from tests.service.conftest import settings_for
from tests.service.records import dataset_row
from tests.service.usecases.test_attempts import NOW, begin, fetch, submit

Wait = Callable[..., None]
AWAY = OperationalError("SELECT 1", {}, Exception("the server is away"))


@pytest.fixture
def wiring(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wiring]:
    here = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, sys.path)]))
    wiring = wire(settings_for(sqlite_url, tmp_path), ["child_targets"])
    with wiring.sessions.begin() as session:
        session.add(dataset_row("ds_1"))
    yield wiring
    wiring.close()


@pytest.fixture
def supervisor(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    monkeypatch.setattr(service.workers.supervisor, "OUTAGE_PAUSE", 0.01)
    return Supervisor(wiring, "exec_1", Handling("child_targets:train", 60.0, 4096, 3))


def once(real: Callable[..., Any], instead: Callable[[], Any]) -> Callable[..., Any]:
    """What is done at the first call, before all is as ever."""
    calls = []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return instead() if len(calls) == 1 else real(*arguments, **options)

    return call


def away() -> Any:
    raise AWAY


def broken() -> Any:
    raise RuntimeError("a fault of ours")


def test_a_step_is_done_again_when_the_database_is_back(
    wiring: Wiring, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in ("begin", "order", "succeed"):
        monkeypatch.setattr(attempts, step, once(getattr(attempts, step), away))
    job_id = submit(wiring)
    supervisor.handle(job_id)
    job = fetch(wiring, job_id)
    assert (job.status, job.attempt) == (JobStatus.SUCCEEDED, 1)
    supervisor.handle(job_id)  # there is nothing to do
    assert fetch(wiring, job_id) == job


def test_a_fault_of_ours_ends_the_job_and_not_the_worker(
    wiring: Wiring, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "order", once(attempts.order, broken))
    for status in (JobStatus.FAILED, JobStatus.SUCCEEDED):
        job_id = submit(wiring)
        supervisor.handle(job_id)
        assert fetch(wiring, job_id).status is status
    assert supervisor.running == []


def test_what_its_spec_names_is_gone(wiring: Wiring, supervisor: Supervisor) -> None:
    job_id = submit(wiring, costs=None, cost_spec="cs_gone")
    supervisor.handle(job_id)
    error = fetch(wiring, job_id).error
    assert error is not None
    assert error.code == "invalid_data"


def test_a_second_signal_waits_for_nothing(wiring: Wiring, supervisor: Supervisor, wait_until: Wait) -> None:
    job_id = submit(wiring, params={"sleep": 60})
    threading.Thread(target=supervisor.handle, args=(job_id,), daemon=True).start()
    wait_until(lambda: fetch(wiring, job_id).status is JobStatus.RUNNING)
    supervisor.handle(job_id)  # a second entry of the queue: the job is in good hands
    supervisor.hurry()
    supervisor.stop(600.0)
    assert fetch(wiring, job_id).status is JobStatus.QUEUED


def test_a_job_that_is_cancelled_is_settled(wiring: Wiring, supervisor: Supervisor, wait_until: Wait) -> None:
    job_id = submit(wiring, params={"sleep": 60})
    thread = threading.Thread(target=supervisor.handle, args=(job_id,))
    thread.start()
    wait_until(lambda: fetch(wiring, job_id).status is JobStatus.RUNNING and supervisor.running)
    asked = cancel(wiring.sessions, wiring.queue, TrainingJob, "default", job_id).job
    [attempt] = supervisor.running
    attempt.compare((asked.attempt, asked.status))
    thread.join(30)
    assert fetch(wiring, job_id).status is JobStatus.CANCELLED


@pytest.mark.parametrize(
    ("wrong", "deaths"), [({"die": signal.SIGKILL}, 1), ({"away": True}, 0)], ids=["dies", "away"]
)
def test_what_goes_wrong_once_is_tried_again(
    wiring: Wiring, supervisor: Supervisor, tmp_path: Path, wrong: dict[str, Any], deaths: int
) -> None:
    params = {**wrong, "marker": str(tmp_path / "tried"), "checkpoint": "a" * 64}
    job_id = submit(wiring, params=params)
    supervisor.handle(job_id)
    job = fetch(wiring, job_id)
    assert (job.status, job.attempt, job.worker_deaths) == (JobStatus.SUCCEEDED, 2, deaths)


def test_a_batch_prediction_leaves_a_file(
    wiring: Wiring, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TARGETS, BatchPrediction, "child_targets:decide")
    job = BatchPrediction.asked(
        **{"id": new_id("bp"), "tenant_id": "default", "model": "m", "version": 1, "dataset_id": None},
        **{"spec": {}, "order": {}, "input_sha256": "b" * 64, "created_at": NOW},
    )
    with wiring.sessions.begin() as session:
        jobs.add(session, job)
    supervisor.handle(job.id)
    with wiring.readers() as session:
        done = jobs.find(session, BatchPrediction, "default", job.id)
    assert done is not None
    assert (done.output_sha256, done.result) == ("a" * 64, {"model": "m", "version": 1, "rows": 1})


def test_who_waits_for_a_slot_while_the_worker_stops_begins_nothing(
    wiring: Wiring, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, wait_until: Wait
) -> None:
    job_id, looked = submit(wiring), threading.Event()
    is_last_chance = attempts.is_last_chance

    def look(*arguments: Any) -> bool:
        looked.set()
        return is_last_chance(*arguments)

    monkeypatch.setattr(attempts, "is_last_chance", look)
    with supervisor._slots.taken(alone=True, give_up=lambda: False):
        threading.Thread(target=supervisor.handle, args=(job_id,), daemon=True).start()
        assert looked.wait(30)
        supervisor.stop(0.0)
        time.sleep(2 * LOOK_SECONDS)
    assert fetch(wiring, job_id).status is JobStatus.QUEUED


def test_the_last_chance_of_a_job_is_taken_alone(wait_until: Wait) -> None:
    slots, order, leave = Slots(), list[str](), threading.Event()

    def take(name: str, *, alone: bool) -> threading.Thread:
        def hold() -> None:
            with slots.taken(alone=alone, give_up=lambda: False):
                order.append(name)
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        return thread

    first = take("first", alone=False)
    wait_until(lambda: order == ["first"])
    last = take("last", alone=True)
    wait_until(lambda: slots._alone)
    with slots.taken(alone=False, give_up=lambda: True) as held:
        assert not held
    with slots.taken(alone=True, give_up=lambda: True) as held:
        assert not held
    leave.set()
    for thread in (first, last):
        thread.join()
    with slots.taken(alone=False, give_up=lambda: True) as held:
        assert held
        with slots.taken(alone=True, give_up=lambda: True) as second:
            assert not second


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome(Ending.TIME_LIMIT), ("time_limit", "the attempt took longer than its time limit")),
        (Outcome(Ending.MEMORY_LIMIT), ("memory_limit", "the attempt needed more memory than its limit")),
        (Outcome(Ending.RAISED, error=UnavailableError("storage_full", "full")), ("storage_full", "full")),
        (Outcome(Ending.RAISED, error=ConflictError("artifact_missing", "gone")), ("invalid_data", "gone")),
        (
            Outcome(Ending.RAISED, error=InvalidError("c", "no good", [FieldError("/p", "c", "d")])),
            ("invalid_data", "no good", [FieldError("/p", "c", "d")], 1),
        ),
        (Outcome(Ending.RAISED, detail="KeyError"), ("internal", "the attempt ended with KeyError")),
    ],
)
def test_why_it_failed_in_the_words_of_the_contract(outcome: Outcome, told: tuple[Any, ...]) -> None:
    found = failure_of(outcome)
    assert (*found[:2], *map(list, found[2:3]), *found[3:]) == told


def test_what_a_child_says(wiring: Wiring) -> None:
    attempt = Attempt(begin(wiring, submit(wiring)))
    attempt.receive({"neither": "progress"})
    assert (attempt.take_progress(), attempt.has_checkpoints) == (None, False)
    attempt.receive({"phase": "boosting"})
    assert attempt.take_progress() == Progress(phase="boosting")
    assert attempt.take_progress() is None
    attempt.receive({"known": [1, 2]})
    assert (attempt.has_checkpoints, list(attempt.checkpoints)) == (True, [])
    attempt.receive({"checkpoint": "a" * 64})
    assert list(attempt.checkpoints) == ["a" * 64]


def test_the_clerk_writes_what_the_attempts_in_force_have_left(
    wiring: Wiring, supervisor: Supervisor
) -> None:
    in_force, lost = (Attempt(begin(wiring, submit(wiring))) for _ in range(2))
    begin(wiring, lost.job.id)
    supervisor._running |= {one.job.id: one for one in (in_force, lost)}
    for attempt in (in_force, lost):
        attempt.receive({"checkpoint": "a" * 64})
        attempt.receive({"phase": "boosting"})
    scribe = clerk.Clerk(wiring, "exec_1", supervisor, 600.0)
    scribe._beat = lambda: None  # type: ignore[method-assign]  the worker is not entered
    for _ in range(2):
        scribe._look()
    assert (list(in_force.checkpoints), list(lost.checkpoints)) == ([], ["a" * 64])
    assert [one.is_lost for one in (in_force, lost)] == [False, True]
    assert fetch(wiring, in_force.job.id).progress == Progress(phase="boosting")
    assert fetch(wiring, lost.job.id).progress is None


def test_looking_goes_on_through_outages_and_ends_the_process_for_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = list[int]()

    def end(status: int) -> None:
        ends.append(status)
        raise SystemExit

    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(SystemExit):
        clerk.look_forever(once(broken, lambda: _raise(AWAY)), 0.0)
    assert ends == [clerk.FAILED]


def _raise(error: Exception) -> None:
    raise error


STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(os.environ["THERE"], "w").close()
time.sleep(60)
"""


def test_a_kept_worker_that_does_not_end_is_killed_and_none_is_started_after_a_stop(
    wait_until: Wait, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    command = (sys.executable, "-c", STUBBORN)
    keeper = WorkerKeeper({"THERE": str(there)}, stop_seconds=-4.9, command=command)
    assert keeper.pid is None
    keeper.start()
    wait_until(there.exists)
    keeper.stop()
    assert not keeper.is_alive()
    keeper.run()


def test_a_keeper_that_waits_to_start_another_can_be_stopped(wait_until: Wait) -> None:
    keeper = WorkerKeeper({}, command=(sys.executable, "-c", ""))
    keeper.start()
    wait_until(lambda: keeper.pid is not None and keeper._process.poll() is not None)  # type: ignore[union-attr]
    keeper.stop()
    assert not keeper.is_alive()
