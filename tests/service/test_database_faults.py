"""The database or the way to it fails: 503 meanwhile, in bounded time, and afterwards all is as before."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError

from service.db import engine, postgresql
from service.queue import JobQueue
from service.usecases import training
from tests.service.conftest import NewDatabase, Service, problem, running, settings_for, table
from tests.service.fault_proxy import FaultProxy

SPEC = {"name": "kept", "fn": 5, "fp": 1}


@pytest.fixture
def link(postgresql_url: str) -> Iterator[FaultProxy]:
    where = urlsplit(postgresql_url)
    assert where.hostname is not None
    proxy = FaultProxy(where.hostname, where.port or 5432)
    yield proxy
    proxy.close()


@pytest.fixture
def far_service(
    link: FaultProxy, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    monkeypatch.setattr(engine, "CONNECT_SECONDS", 2)
    where = urlsplit(postgresql_url)
    through = where._replace(netloc=f"{where.username}@127.0.0.1:{link.port}").geturl()
    settings = settings_for(through, tmp_path, database_wait_seconds=1.0)
    with running(settings, with_worker=False, preload=()) as found:
        assert found.http.post("/v1/cost-specs", json=SPEC).status_code == 201
        yield found
        link.mend()


def unavailable(answer: httpx2.Response) -> None:
    problem(answer, 503, "database_unavailable")
    assert int(answer.headers["retry-after"]) > 0


def is_as_before(service: Service) -> bool:
    answer = service.http.get("/v1/cost-specs/kept")
    return answer.status_code == 200 and service.http.get("/readyz").status_code == 200


def test_a_link_that_is_cut(far_service: Service, link: FaultProxy, wait_until: Callable[..., None]) -> None:
    link.cut()
    unavailable(far_service.http.get("/v1/cost-specs/kept"))
    unavailable(far_service.http.post("/v1/cost-specs", json=SPEC))
    page = far_service.http.get("/ui/costs")
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "What to do" in page.text
    assert far_service.http.get("/readyz").status_code == 503
    assert far_service.http.get("/livez").status_code == 200
    link.mend()
    wait_until(lambda: is_as_before(far_service))
    # What was refused was not done.
    assert len(far_service.http.get("/v1/cost-specs").json()["data"]) == 1


def test_a_link_that_stalls(
    far_service: Service, link: FaultProxy, wait_until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is answered and nothing refused: no keepalive and no limit of the server helps there."""
    monkeypatch.setattr(postgresql.ImpatientConnection, "answer_seconds", 0.5)
    monkeypatch.setattr(postgresql, "PROBE_SECONDS", 0.5)
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 1.0)
    link.stall()
    # This client would wait for 60 s.
    unavailable(far_service.http.post("/v1/cost-specs", json=SPEC))
    assert far_service.http.get("/livez").status_code == 200
    link.mend()
    wait_until(lambda: is_as_before(far_service))


def test_an_answer_that_never_comes_ends_its_statement(
    link: FaultProxy, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 0.5)
    where = urlsplit(postgresql_url)
    database = engine.open_database(
        where._replace(netloc=f"{where.username}@127.0.0.1:{link.port}").geturl(), wait_seconds=1.0
    )
    with database.connect() as connection:
        connection.execute(text("SELECT 1"))
        link.stall()
        with pytest.raises(OperationalError) as error:
            connection.execute(text("SELECT 2"))
        assert error.value.connection_invalidated
    link.mend()
    with database.connect() as connection:
        assert connection.scalar(text("SELECT 3")) == 3
    database.dispose()


def test_a_slow_link_is_only_slow(far_service: Service, link: FaultProxy) -> None:
    link.seconds = 0.05
    assert far_service.http.get("/v1/cost-specs/kept").status_code == 200
    assert far_service.http.post("/v1/cost-specs", json={**SPEC, "name": "slow"}).status_code == 201


def at_once(ask: Callable[[], httpx2.Response], clients: int) -> list[httpx2.Response]:
    answers: list[httpx2.Response] = []
    threads = [threading.Thread(target=lambda: answers.append(ask())) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == clients
    return answers


def test_fifty_clients_of_two_connections(postgresql_url: str, tmp_path: Path) -> None:
    """Who gets none in time is told to come again; nothing is held for good."""
    settings = settings_for(postgresql_url, tmp_path, database_pool=2, database_wait_seconds=0.2)
    with running(settings, with_worker=False, preload=()) as service:

        def ask() -> httpx2.Response:
            return service.http.get("/v1/models")

        taken = [service.wiring.database.connect() for _ in range(2)]
        for answer in at_once(ask, 50):
            unavailable(answer)
        assert service.http.get("/livez").status_code == 200
        for connection in taken:
            connection.close()
        assert {one.status_code for one in at_once(ask, 50)} <= {200, 503}
        assert ask().status_code == 200


def test_a_foreign_writer_of_the_file_is_waited_for_and_then_told(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_MILLISECONDS", 500)
    url = new_database("sqlite")
    with running(settings_for(url, tmp_path), with_worker=False, preload=()) as service:
        foreign = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        foreign.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        unavailable(service.http.post("/v1/cost-specs", json=SPEC))
        assert time.monotonic() - begin >= 0.4
        # Who reads does not notice.
        assert service.http.get("/v1/cost-specs").json()["data"] == []
        foreign.execute("ROLLBACK")
        assert service.http.post("/v1/cost-specs", json=SPEC).status_code == 201
        foreign.close()


@pytest.mark.parametrize("form", [False, True])
def test_a_commit_whose_answer_is_lost_leaves_no_row_without_its_bytes(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch, form: bool
) -> None:
    """Each commit in turn is done, and its answer lost: who asked is told 503, and what there is is whole."""
    http, csv = sqlite_service.http, table(60, seed=91 + form).encode()
    dialect = sqlite_service.wiring.database.dialect
    real = dialect.do_commit

    def listed() -> set[str]:
        return {one["id"] for one in http.get("/v1/datasets", params={"limit": 200}).json()["data"]}

    before = listed()  # other tests take bytes away

    def send() -> httpx2.Response:
        if not form:
            return http.post("/v1/datasets", content=csv, headers={"Content-Type": "text/csv"})
        spec = {"model": "lost", "costs": {"fn": 5, "fp": 1}}
        return http.post(
            "/v1/training-jobs",
            files={"dataset": ("t.csv", csv, "text/csv")},
            data={"spec": json.dumps(spec)},
        )

    for step in count():
        commits = count()

        def commit(connection: Any, commits: Iterator[int] = commits, step: int = step) -> None:
            real(connection)
            if next(commits) == step:
                raise sqlite3.OperationalError("the answer is lost")

        with monkeypatch.context() as patched:
            patched.setattr(dialect, "do_commit", commit)
            answer = send()
        if answer.is_success:
            break
        unavailable(answer)
        for one in listed() - before:
            assert http.get(f"/v1/datasets/{one}/content").status_code == 200, step
    assert step > 0


def test_a_dataset_that_goes_between_check_and_insert_is_told_from_other_broken_rules(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, plan = sqlite_service.http, training.plan
    dataset = sqlite_service.upload(table(60, seed=95))["id"]

    def broken(*_arguments: Any) -> None:
        raise IntegrityError("INSERT", {}, Exception("a fault of ours"))

    def plan_and_delete(*arguments: Any, **options: Any) -> Any:
        planned = plan(*arguments, **options)
        assert http.delete(f"/v1/datasets/{dataset}").status_code == 204
        return planned

    def asked(owner: Any, name: str, instead: Callable[..., Any]) -> httpx2.Response:
        wish = {"model": "late", "dataset": dataset, "costs": {"fn": 5, "fp": 1}}
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, instead)
            return http.post("/v1/training-jobs", json=wish)

    problem(asked(JobQueue, "enqueue", broken), 500, "internal")
    problem(asked(training, "plan", plan_and_delete), 422, "unknown_dataset")
