"""`Idempotency-Key`: the same thing is made once, whatever is sent twice, at once, or after a death."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx2
import pytest
from sqlalchemy import delete, select, update

from service.db.tables import CostSpecRow, DatasetRow, IdempotencyRow, TrainingJobRow
from service.usecases import idempotency
from tests.service.conftest import DATABASES, NewDatabase, Service, problem, running, settings_for

COSTS = {"name": "retried", "fn": 5, "fp": 1}
CSV = {"Content-Type": "text/csv"}
TABLE = "a,label\n1,0\n2,1\n3,0\n4,1\n"


@pytest.fixture(scope="module", params=DATABASES)
def shared(
    request: pytest.FixtureRequest, new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    settings = settings_for(new_database(request.param), tmp_path_factory.mktemp("keyed"))
    with running(settings, with_worker=False) as found:
        yield found


@pytest.fixture
def keyed(shared: Service) -> Service:
    """A service without any thing or key; tables in the order in which rows refer to each other."""
    with shared.wiring.sessions.begin() as session:
        for row in (IdempotencyRow, CostSpecRow, TrainingJobRow, DatasetRow):
            session.execute(delete(row))
    return shared


def post(service: Service, path: str = "/v1/cost-specs", key: str = "k", **sent: Any) -> httpx2.Response:
    if not sent:
        sent = {"json": COSTS}
    headers = {"Idempotency-Key": key, **sent.pop("headers", {})}
    return service.http.post(path, headers=headers, **sent)


def count(service: Service, path: str) -> int:
    return len(service.http.get(path).json()["data"])


def same(first: httpx2.Response, again: httpx2.Response) -> None:
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.status_code == first.status_code
    assert again.content == first.content
    for name in ("location", "content-type", "retry-after"):
        assert again.headers.get(name) == first.headers.get(name)


def test_a_retry_gets_the_first_answer(keyed: Service) -> None:
    first, again = post(keyed), post(keyed)
    assert first.status_code == 201
    same(first, again)
    assert count(keyed, "/v1/cost-specs") == 1
    assert post(keyed, key="other").json()["revision"] == 2


def test_another_body_another_query_or_another_path(keyed: Service) -> None:
    post(keyed)
    other = post(keyed, json={**COSTS, "fn": 6})
    problem(other, 422, "idempotency_mismatch")
    assert post(keyed, "/v1/datasets?name=x", content=TABLE, headers=CSV).status_code == 201
    assert post(keyed, "/v1/datasets?name=y", content=TABLE, headers=CSV).status_code == 201
    assert count(keyed, "/v1/datasets") == 2


def test_another_media_type_is_another_body(keyed: Service) -> None:
    first = post(keyed, "/v1/datasets?name=x", content=TABLE, headers=CSV)
    spelled = {"Content-Type": "TEXT/CSV; charset=utf-8"}
    same(first, post(keyed, "/v1/datasets?name=x", content=TABLE, headers=spelled))
    other = post(keyed, "/v1/datasets?name=x", content=TABLE, headers={"Content-Type": "application/json"})
    problem(other, 422, "idempotency_mismatch")


def test_a_refusal_is_an_answer_too(keyed: Service) -> None:
    first = post(keyed, json={**COSTS, "fn": "canary"})
    assert first.status_code == 422
    same(first, post(keyed, json={**COSTS, "fn": "canary"}))
    unread = {"content": b"x" * 100_000, "headers": {"Content-Type": "text/html"}}
    first = post(keyed, "/v1/datasets", key="html", **dict(unread))
    assert first.status_code == 415
    same(first, post(keyed, "/v1/datasets", key="html", **dict(unread)))


def test_a_form_with_another_boundary_is_the_same(keyed: Service) -> None:
    def send(table: str, boundary: str) -> httpx2.Response:
        spec = '{"model": "m", "costs": {"fn": 5, "fp": 1}, "split": {"test_fraction": 0.3, "folds": 2}}'
        parts = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="spec"\r\n\r\n{spec}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="dataset"; filename="a.csv"\r\n'
            f"Content-Type: text/csv\r\n\r\n{table}\r\n--{boundary}--\r\n"
        )
        media_type = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return post(keyed, "/v1/training-jobs", content=parts, headers=media_type)

    table = "a,label\n" + "".join(f"{row},{row % 2}\n" for row in range(60))
    first = send(table, "first")
    assert first.status_code == 202, first.text
    same(first, send(table, "second"))
    problem(send(table + "61,1\n", "third"), 422, "idempotency_mismatch")
    assert count(keyed, "/v1/training-jobs") == 1
    assert count(keyed, "/v1/datasets") == 1


def test_of_two_at_once_one_is_told_to_wait(keyed: Service) -> None:
    """The key is reserved before the body is read."""
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield TABLE[:3].encode()
        begun.set()
        assert go_on.wait(20)
        yield TABLE[3:].encode()

    answers: list[httpx2.Response] = []
    thread = threading.Thread(
        target=lambda: answers.append(post(keyed, "/v1/datasets", content=slowly(), headers=CSV))
    )
    thread.start()
    assert begun.wait(20)
    time.sleep(0.2)
    refused = post(keyed, "/v1/datasets", content=TABLE, headers=CSV)
    problem(refused, 409, "idempotency_in_progress")
    assert refused.headers["retry-after"]
    go_on.set()
    thread.join()
    same(answers[0], post(keyed, "/v1/datasets", content=TABLE, headers=CSV))


def test_of_many_at_once_one_makes_it(keyed: Service) -> None:
    answers: list[httpx2.Response] = []
    threads = [threading.Thread(target=lambda: answers.append(post(keyed))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.status_code for one in answers} <= {201, 409}
    assert sum("idempotency-replayed" not in one.headers for one in answers if one.status_code == 201) == 1
    assert count(keyed, "/v1/cost-specs") == 1


def rows(service: Service) -> list[IdempotencyRow]:
    with service.wiring.readers() as session:
        return list(session.scalars(select(IdempotencyRow)))


def change(service: Service, **values: Any) -> None:
    with service.wiring.sessions.begin() as session:
        session.execute(update(IdempotencyRow).values(**values))


def test_a_key_whose_process_died_is_free_again_after_a_while(keyed: Service) -> None:
    post(keyed)
    change(keyed, status=None, body=None, headers=None, location=None, fingerprint=None)
    problem(post(keyed), 409, "idempotency_in_progress")
    [row] = rows(keyed)
    change(keyed, beat_at=row.beat_at - timedelta(seconds=31))
    again = post(keyed, json={**COSTS, "fn": 7})
    assert (again.status_code, again.json()["revision"]) == (201, 2)


def test_what_was_made_before_the_process_died_is_not_made_twice(keyed: Service) -> None:
    """It was killed after the commit and before the answer: the retry is led to what was made."""
    first = post(keyed)
    [row] = rows(keyed)
    assert row.location == first.headers["location"]
    change(keyed, status=None, body=None, headers=None, beat_at=row.beat_at - timedelta(seconds=31))
    again = post(keyed)
    assert again.status_code == 201
    assert again.headers["location"] == first.headers["location"]
    assert again.json() == first.json()
    problem(post(keyed, json={**COSTS, "fn": 7}), 422, "idempotency_mismatch")
    assert count(keyed, "/v1/cost-specs") == 1


def test_who_lost_the_key_makes_nothing(keyed: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stalled process wakes up after another took its key over: its transaction is rolled back."""
    original = anyio.to_thread.run_sync

    async def robbed(work: Any, *arguments: Any, **options: Any) -> Any:
        found = await original(work, *arguments, **options)
        if getattr(work, "__name__", "") == "reserve":
            await original(lambda: change(keyed, owner="another"))
        return found

    monkeypatch.setattr(anyio.to_thread, "run_sync", robbed)
    problem(post(keyed), 409, "idempotency_in_progress")
    assert count(keyed, "/v1/cost-specs") == 0


def test_what_was_made_and_is_gone_is_not_made_again(keyed: Service) -> None:
    made = post(keyed, "/v1/datasets?name=gone", content=TABLE, headers=CSV)
    keyed.http.delete(made.headers["location"])
    [row] = rows(keyed)
    change(keyed, status=None, body=None, headers=None, beat_at=row.beat_at - timedelta(seconds=31))
    problem(post(keyed, "/v1/datasets?name=gone", content=TABLE, headers=CSV), 404, "not_found")
    assert count(keyed, "/v1/datasets") == 0


def test_a_secret_is_not_kept_and_its_owner_may_be_gone(keyed: Service) -> None:
    """As the OpenAPI document says of each POST that creates."""
    body = {"url": "https://hooks.example/costboost"}
    headers = {"Idempotency-Key": "hook"}
    made = keyed.http.post("/v1/webhooks", json=body, headers=headers)
    again = keyed.http.post("/v1/webhooks", json=body, headers=headers)
    assert (made.status_code, again.status_code) == (201, 201)
    assert ("secret" in made.json(), again.json().get("secret")) == (True, None)
    keyed.http.delete(made.headers["location"])
    problem(keyed.http.post("/v1/webhooks", json=body, headers=headers), 404, "not_found")
    document = keyed.http.get("/openapi.json").json()
    creating = [
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if any(one.get("name") == "Idempotency-Key" for one in operation.get("parameters", ()))
    ]
    assert len(creating) > 5
    assert all("404" in operation["responses"] for operation in creating)


def test_a_request_under_way_says_so(keyed: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a body takes to come, its key is not taken over."""
    monkeypatch.setattr(idempotency, "BEAT_SECONDS", 0.1)
    seen = []

    def slowly() -> Iterator[bytes]:
        for part in (TABLE[:3], TABLE[3:6], TABLE[6:]):
            yield part.encode()
            time.sleep(0.4)
            seen.extend(row.beat_at - row.created_at for row in rows(keyed))

    assert post(keyed, "/v1/datasets", content=slowly(), headers=CSV).status_code == 201
    assert seen[-1] > timedelta(seconds=0.4)


def test_a_form_that_is_none_is_told_apart_by_its_bytes(keyed: Service) -> None:
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    first = post(keyed, "/v1/datasets", content=b"no form", headers=broken)
    assert first.status_code == 400
    same(first, post(keyed, "/v1/datasets", content=b"no form", headers=broken))
    other = post(keyed, "/v1/datasets", content=b"no form either", headers=broken)
    problem(other, 422, "idempotency_mismatch")


def test_after_a_day_a_key_is_new(keyed: Service) -> None:
    post(keyed)
    [row] = rows(keyed)
    change(keyed, created_at=row.created_at - timedelta(hours=25))
    assert post(keyed, json={**COSTS, "fn": 7}).json()["revision"] == 2


def test_answers_survive_a_restart(new_database: NewDatabase, tmp_path: Path) -> None:
    settings = settings_for(new_database("sqlite"), tmp_path)
    with running(settings, with_worker=False, preload=()) as service:
        first = post(service)
    with running(settings, with_worker=False, preload=()) as service:
        same(first, post(service))


def test_an_outage_is_not_kept(sqlite_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(type(sqlite_service.wiring.store), "spool", raising(full))
        problem(
            post(sqlite_service, "/v1/datasets?name=o", key="o", content=TABLE, headers=CSV),
            503,
            "storage_full",
        )
    again = post(sqlite_service, "/v1/datasets?name=o", key="o", content=TABLE, headers=CSV)
    assert again.status_code == 201
    assert "idempotency-replayed" not in again.headers


def raising(error: Exception) -> Any:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("key", ["", "a b", "x" * 256])
def test_what_is_no_key(sqlite_service: Service, key: str) -> None:
    found = problem(post(sqlite_service, key=key, json=COSTS), 400, "malformed")
    assert found["errors"][0]["pointer"] == "/header/Idempotency-Key"


def test_two_keys_are_none(sqlite_service: Service) -> None:
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    problem(sqlite_service.http.post("/v1/cost-specs", json=COSTS, headers=headers), 400, "malformed")


def test_where_nothing_is_made_the_key_means_nothing(sqlite_service: Service) -> None:
    checked = post(sqlite_service, "/v1/cost-specs/validate", json={"fn": 5, "fp": 1})
    assert checked.status_code == 200
    again = post(sqlite_service, "/v1/cost-specs/validate", json={"fn": 6, "fp": 1})
    assert "idempotency-replayed" not in again.headers
