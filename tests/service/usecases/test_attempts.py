"""Attempts on both databases: fenced, counted, and one version for each success."""

import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from service.db import executors, jobs
from service.db.engine import exclusively
from service.db.tables import AliasRow, DatasetRow, ExecutorRow, ModelRow, TrainingJobRow, VersionRow
from service.domain.errors import ConflictError
from service.domain.ids import new_id
from service.domain.training import JobError, JobStatus, Progress, TrainingJob, TrainingSpec
from service.settings import load_settings
from service.usecases import attempts, workers
from service.usecases.attempts import NewVersion
from service.usecases.jobs import cancel
from service.wiring import Wiring, wire
from tests.service.records import dataset_row

NOW = datetime(2026, 1, 5, tzinfo=UTC)
VERSION = NewVersion(
    "d" * 64, "a" * 64, 10, "b" * 64, "c" * 64, {"savings": 0.5}, {"columns": []}, {"numpy": "2"}, 1.5, {}
)


@pytest.fixture
def wiring(database_url: str, tmp_path: object) -> Iterator[Wiring]:
    wiring = wire(load_settings({}, database_url=database_url, store_url=f"file:{tmp_path}/store"))
    with wiring.sessions.begin() as session:
        session.add(dataset_row("ds_1"))
    yield wiring
    wiring.close()


def submit(wiring: Wiring, **spec: Any) -> str:
    value = TrainingSpec.model_validate(
        {"model": "m", "dataset": "ds_1", "costs": {"fn": 5, "fp": 1}, **spec}
    )
    job = TrainingJob.asked(new_id("job"), "default", value, datetime.now(UTC))
    with wiring.sessions.begin() as session:
        jobs.add(session, job)
        wiring.queue.enqueue(session, job.id)
    return job.id


def begin(wiring: Wiring, job_id: str, executor: str = "exec_1") -> TrainingJob:
    job = attempts.begin(wiring.sessions, job_id, executor, 3)
    assert job is not None
    return job


def fetch(wiring: Wiring, job_id: str) -> TrainingJob:
    with wiring.readers() as session:
        job = jobs.fetch(session, job_id)
    assert job is not None
    return job


def entries(session: Session) -> int:
    schema = "dbos." if session.get_bind().dialect.name == "postgresql" else ""
    return session.execute(text(f"SELECT count(*) FROM {schema}workflow_status")).scalar_one()


def test_row_and_entry_come_together_or_not_at_all(wiring: Wiring) -> None:
    spec = TrainingSpec.model_validate({"model": "m", "dataset": "ds_1", "costs": {"fn": 5, "fp": 1}})
    job = TrainingJob.asked("job_1", "default", spec, NOW)
    with wiring.sessions() as session:
        jobs.add(session, job)
        wiring.queue.enqueue(session, job.id)
        assert entries(session) == 1
        session.rollback()
    with wiring.readers() as session:
        assert entries(session) == 0
        assert jobs.fetch(session, "job_1") is None
    assert wiring.queue.waiting_or_begun() == set()
    job_id = submit(wiring)
    assert wiring.queue.waiting_or_begun() == {job_id}


def test_a_row_is_spelled_like_its_value(wiring: Wiring) -> None:
    assert {column.name for column in TrainingJobRow.__table__.columns} == {
        f.name for f in fields(TrainingJob)
    }
    job_id = submit(wiring, params={"n": 1}, on_success={"alias": "next"})
    job = begin(wiring, job_id)
    assert fetch(wiring, job_id) == job
    assert job.spec.on_success.alias == "next"


def test_success_makes_model_version_and_champion(wiring: Wiring) -> None:
    job = begin(wiring, submit(wiring))
    assert attempts.succeed(wiring.sessions, job, VERSION)
    done = fetch(wiring, job.id)
    assert done.status is JobStatus.SUCCEEDED
    assert done.result == {"model": "m", "version": 1, "metrics": {"savings": 0.5}, "warnings": []}
    with wiring.readers() as session:
        assert session.scalars(select(VersionRow)).one().job_id == job.id
        alias = session.scalars(select(AliasRow)).one()
        assert (alias.name, alias.version_number, alias.revision) == ("champion", 1, 1)


def test_later_versions_move_only_the_alias_that_was_asked_for(wiring: Wiring) -> None:
    for _ in range(2):
        attempts.succeed(
            wiring.sessions, begin(wiring, submit(wiring, on_success={"alias": "challenger"})), VERSION
        )
    with wiring.readers() as session:
        found = {a.name: (a.version_number, a.revision) for a in session.scalars(select(AliasRow))}
        assert found == {"champion": (1, 1), "challenger": (2, 2)}
        assert session.scalars(select(ModelRow.last_number)).one() == 2


def test_rows_of_decisions_are_kept_as_the_last_job_that_says_so_wants(wiring: Wiring) -> None:
    for said, kept in ((None, False), (True, True), (None, True), (False, False)):
        job_id = submit(wiring, on_success={} if said is None else {"record_rows": said})
        attempts.succeed(wiring.sessions, begin(wiring, job_id), VERSION)
        with wiring.readers() as session:
            assert session.scalars(select(ModelRow.record_rows)).one() is kept


def test_numbers_are_not_used_again(wiring: Wiring) -> None:
    attempts.succeed(wiring.sessions, begin(wiring, submit(wiring)), VERSION)
    attempts.succeed(wiring.sessions, begin(wiring, submit(wiring)), VERSION)
    with wiring.sessions.begin() as session:
        session.delete(session.scalars(select(VersionRow).where(VersionRow.number == 2)).one())
    attempts.succeed(wiring.sessions, begin(wiring, submit(wiring)), VERSION)
    with wiring.readers() as session:
        assert set(session.scalars(select(VersionRow.number))) == {1, 3}


def test_jobs_that_end_at_once_get_different_numbers(wiring: Wiring) -> None:
    jobs = [begin(wiring, submit(wiring)) for _ in range(8)]
    together = threading.Barrier(len(jobs))

    def end(job: TrainingJob) -> None:
        together.wait()
        assert attempts.succeed(wiring.sessions, job, VERSION)

    threads = [threading.Thread(target=end, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = [fetch(wiring, job.id).result or {} for job in jobs]
    assert sorted(result["version"] for result in results) == list(range(1, 9))
    with wiring.readers() as session:
        assert session.scalars(select(func.count()).select_from(ModelRow)).one() == 1


def test_a_stale_attempt_writes_nothing(wiring: Wiring) -> None:
    old = begin(wiring, submit(wiring))
    new = begin(wiring, old.id)
    assert (new.attempt, new.worker_deaths) == (2, 1)
    before = fetch(wiring, old.id)
    assert not attempts.note(wiring.sessions, old, Progress(phase="late"))
    assert not attempts.succeed(wiring.sessions, old, VERSION)
    assert not attempts.fail(wiring.sessions, old, JobError(code="internal", detail="late"))
    assert not attempts.hand_back(wiring.sessions, old)
    attempts.settle(wiring.sessions, old)
    assert fetch(wiring, old.id) == before
    with wiring.readers() as session:
        assert session.scalars(select(VersionRow)).all() == []
        assert session.scalars(select(ModelRow)).all() == []
    assert attempts.succeed(wiring.sessions, new, VERSION)
    done = fetch(wiring, old.id)
    # The newer attempt committed; the old one wakes up and tries again.
    assert not attempts.succeed(wiring.sessions, old, VERSION)
    assert fetch(wiring, old.id) == done


def test_progress_is_kept(wiring: Wiring) -> None:
    job = begin(wiring, submit(wiring))
    progress = Progress(phase="boosting", round=3, rounds=10, fraction=0.3, metrics={"cost": 1.5})
    assert attempts.note(wiring.sessions, job, progress)
    assert fetch(wiring, job.id).progress == progress


def test_a_job_that_always_loses_its_worker_fails(wiring: Wiring) -> None:
    job_id = submit(wiring)
    for attempt in (1, 2, 3):
        assert begin(wiring, job_id).attempt == attempt
    assert attempts.begin(wiring.sessions, job_id, "exec_1", 3) is None
    failed = fetch(wiring, job_id)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "worker_died"
    assert attempts.begin(wiring.sessions, job_id, "exec_1", 3) is None


def test_a_cancelled_job_is_not_begun(wiring: Wiring) -> None:
    job_id = submit(wiring)
    with wiring.sessions.begin() as session:
        job = jobs.fetch(session, job_id)
        assert job is not None
        assert jobs.advance(session, job, job.cancel_requested(NOW))
    assert attempts.begin(wiring.sessions, job_id, "exec_1", 3) is None
    assert fetch(wiring, job_id).status is JobStatus.CANCELLED


def test_a_cancel_wins_over_a_success_that_comes_later(wiring: Wiring) -> None:
    job = begin(wiring, submit(wiring))
    with wiring.sessions.begin() as session:
        assert jobs.advance(session, job, job.cancel_requested(NOW))
    assert not attempts.succeed(wiring.sessions, job, VERSION)
    attempts.settle(wiring.sessions, job)
    assert fetch(wiring, job.id).status is JobStatus.CANCELLED


def test_of_a_cancel_and_a_success_at_once_exactly_one_counts(wiring: Wiring) -> None:
    """Once a cancel is answered there is no version; a cancel that comes too late says so."""
    made, refused = 0, 0
    for _ in range(12):
        job = begin(wiring, submit(wiring))
        together, succeeded = threading.Barrier(2), list[bool]()

        def end(job: TrainingJob, together: threading.Barrier, done: list[bool]) -> None:
            together.wait()
            done.append(attempts.succeed(wiring.sessions, job, VERSION))

        thread = threading.Thread(target=end, args=(job, together, succeeded))
        thread.start()
        together.wait()
        try:
            cancel(wiring.sessions, wiring.queue, TrainingJob, "default", job.id)
        except ConflictError:
            refused += 1
        thread.join()
        if not succeeded[0]:
            attempts.settle(wiring.sessions, job)
        made += succeeded[0]
        expected = JobStatus.SUCCEEDED if succeeded[0] else JobStatus.CANCELLED
        assert fetch(wiring, job.id).status is expected
    assert made == refused
    with wiring.readers() as session:
        assert session.scalars(select(func.count()).select_from(VersionRow)).one() == made


def test_what_a_living_worker_has_is_left_to_it(wiring: Wiring) -> None:
    workers.enter(wiring.sessions, "exec_1", None)
    job = begin(wiring, submit(wiring), "exec_1")
    assert attempts.begin(wiring.sessions, job.id, "exec_2", 3) is None
    workers.enter(wiring.sessions, "exec_3", "exec_1")
    assert begin(wiring, job.id, "exec_2").attempt == 2


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_silence_is_death_and_the_dead_know_it(wiring: Wiring) -> None:
    workers.enter(wiring.sessions, "exec_1", None)
    workers.enter(wiring.sessions, "exec_2", None)
    clock = Clock()
    watch = workers.Watch(timedelta(seconds=15), clock)
    assert workers.beat(wiring.sessions, "exec_1", [(123, 4.5)])
    with wiring.readers() as session:
        assert session.get_one(ExecutorRow, "exec_1").groups == [[123, 4.5]]
    for clock.now in (0.0, 5.0, 10.0, 15.0):
        assert workers.beat(wiring.sessions, "exec_1", [(123, 4.5)])
        assert workers.beat(wiring.sessions, "exec_2", [])
        workers.reap(wiring.sessions, wiring.queue, wiring.database, watch)
    for clock.now in (20.0, 25.0, 30.0):
        assert workers.beat(wiring.sessions, "exec_2", [])
        workers.reap(wiring.sessions, wiring.queue, wiring.database, watch)
    assert not workers.beat(wiring.sessions, "exec_1", [])
    assert workers.beat(wiring.sessions, "exec_2", [])
    with wiring.readers() as session:
        assert executors.lately_dead(session) == ["exec_1"]
        assert (123, 4.5) in executors.left_groups(session, session.get_one(ExecutorRow, "exec_1").host)


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_set_kills_nobody_and_keeps_no_dead(wiring: Wiring, hours: int) -> None:
    for executor_id in ("exec_1", "exec_2"):
        workers.enter(wiring.sessions, executor_id, None)
    clock = Clock()
    watch = workers.Watch(timedelta(seconds=15), clock)
    workers.reap(wiring.sessions, wiring.queue, wiring.database, watch)
    # Set forward, the clock makes what it has written before old by as much; exec_1 has just died.
    with wiring.sessions.begin() as session:
        for row in session.scalars(select(ExecutorRow)):
            row.beat_at -= timedelta(hours=hours)
    for clock.now in (5.0, 10.0, 15.0, 20.0):
        with wiring.readers() as session:
            assert executors.lately_dead(session) == []
        assert workers.beat(wiring.sessions, "exec_2", [])
        workers.reap(wiring.sessions, wiring.queue, wiring.database, watch)
    with wiring.readers() as session:
        assert executors.lately_dead(session) == ["exec_1"]
    assert workers.beat(wiring.sessions, "exec_2", [])


def test_who_was_paused_judges_nobody_by_what_it_remembers() -> None:
    clock = Clock()
    watch = workers.Watch(timedelta(seconds=15), clock)
    assert watch.silent({"exec_1": NOW}) == []
    clock.now = 100.0
    assert watch.silent({"exec_1": NOW}) == []
    for clock.now in (105.0, 110.0):
        assert watch.silent({"exec_1": NOW}) == []
    clock.now = 115.0
    assert watch.silent({"exec_1": NOW}) == ["exec_1"]


def test_what_the_queue_has_lost_is_enqueued_again(wiring: Wiring) -> None:
    lost, known, done = (submit(wiring) for _ in range(3))
    attempts.succeed(wiring.sessions, begin(wiring, done), VERSION)
    for job_id in (lost, done):
        wiring.queue.cancel(job_id)
    assert wiring.queue.waiting_or_begun() == {known}
    found = workers.reconcile(wiring.sessions, wiring.readers, wiring.queue, wiring.database)
    assert found == 1
    assert wiring.queue.waiting_or_begun() == {lost, known}


def test_only_one_at_a_time_looks_after_others(wiring: Wiring) -> None:
    lost = submit(wiring)
    wiring.queue.cancel(lost)
    with exclusively(wiring.database) as first, exclusively(wiring.database) as second:
        assert (first, second) == (True, False)
        assert workers.reconcile(wiring.sessions, wiring.readers, wiring.queue, wiring.database) == 0
        workers.enter(wiring.sessions, "exec_1", None)
        workers.leave(wiring.sessions, wiring.queue, wiring.database, "exec_1")
    assert wiring.queue.requeue_dead([]) == 0
    with exclusively(wiring.database) as again:
        assert again


def test_jobs_are_listed_newest_first_by_pages_and_tenants(wiring: Wiring) -> None:
    ids = [submit(wiring) for _ in range(5)]
    other = replace(fetch(wiring, ids[0]), id="job_zz", tenant_id="other")
    with wiring.sessions.begin() as session:
        jobs.add(session, other)
        assert jobs.queue_position(session, other) == 6
    with wiring.readers() as session:
        first = jobs.list_jobs(session, TrainingJob, "default", 3)
        rest = jobs.list_jobs(session, TrainingJob, "default", 3, first[-1].id)
        assert [job.id for job in first + rest] == ids[::-1]
        assert jobs.find(session, TrainingJob, "default", "job_zz") is None
        assert jobs.list_jobs(session, TrainingJob, "default", 9, status=JobStatus.FAILED) == []
        assert jobs.list_jobs(session, TrainingJob, "default", 9, model="other") == []


def test_a_reader_neither_waits_nor_is_waited_for(sqlite_url: str, tmp_path: object) -> None:
    wiring = wire(load_settings({}, database_url=sqlite_url, store_url=f"file:{tmp_path}/store"))
    with wiring.sessions() as writer, wiring.readers() as reader:
        writer.add(dataset_row("ds_1"))
        writer.flush()
        assert reader.scalars(select(func.count()).select_from(DatasetRow)).one() == 0
        writer.commit()
    with wiring.readers() as reader:
        assert reader.scalars(select(func.count()).select_from(DatasetRow)).one() == 1
        assert reader.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert reader.execute(text("PRAGMA synchronous")).scalar() == 2
        assert reader.execute(text("PRAGMA foreign_keys")).scalar() == 1
    wiring.close()
