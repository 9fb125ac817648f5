"""Quotas: exact over threads and processes for jobs, steady for requests; and 429 says when to come again."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from service.api.rates import Rates
from service.domain.errors import TooManyError
from service.usecases import api_keys
from tests.service.conftest import DATABASES, NewDatabase, Service, problem, running, settings_for

TABLE = "a,label\n" + "".join(f"{row},{row % 2}\n" for row in range(60))


@pytest.fixture(params=DATABASES)
def small(request: pytest.FixtureRequest, new_database: NewDatabase, tmp_path: Path) -> Iterator[Service]:
    """A service in which three jobs may wait, and none begins."""
    settings = settings_for(new_database(request.param), tmp_path, max_queued_jobs=3)
    with running(settings, with_worker=False) as found:
        yield found


def submit(service: Service, dataset: str, **headers: str) -> httpx2.Response:
    spec: dict[str, Any] = {"model": "m", "dataset": dataset, "costs": {"fn": 5, "fp": 1}}
    return service.http.post("/v1/training-jobs", json=spec, headers=headers)


def test_of_many_jobs_at_once_exactly_the_quota_is_taken(small: Service) -> None:
    """By two services on one database, as two replicas are."""
    dataset = small.upload(TABLE)["id"]
    answers: list[httpx2.Response] = []

    def ask(replica: Service) -> None:
        answers.append(submit(replica, dataset))

    with running(small.settings, with_worker=False) as other:
        threads = [threading.Thread(target=ask, args=(one,)) for one in (small, other) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(one.status_code for one in answers) == [202] * 3 + [429] * 5
    refused = next(one for one in answers if one.status_code == 429)
    problem(refused, 429, "too_many_jobs")
    assert int(refused.headers["retry-after"]) > 0
    keyed = submit(small, dataset, **{"Idempotency-Key": "later"})
    assert keyed.status_code == 429
    taken = next(one for one in answers if one.status_code == 202)
    small.http.post(f"{taken.headers['location']}/cancel")
    # A quota is of the moment, so the same key may try again.
    again = submit(small, dataset, **{"Idempotency-Key": "later"})
    assert (again.status_code, "idempotency-replayed" in again.headers) == (202, False)


def test_a_form_that_is_refused_leaves_no_dataset(small: Service) -> None:
    dataset = small.upload(TABLE)["id"]
    for _ in range(3):
        assert submit(small, dataset).status_code == 202
    answer = small.http.post(
        "/v1/training-jobs",
        data={"spec": '{"model": "m", "costs": {"fn": 5, "fp": 1}}'},
        files={"dataset": ("a.csv", TABLE, "text/csv")},
    )
    problem(answer, 429, "too_many_jobs")
    assert len(small.http.get("/v1/datasets").json()["data"]) == 1


def test_a_key_that_sends_too_much_is_told_when_to_come_again(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    settings = settings_for(new_database("sqlite"), tmp_path, auth="keys", max_requests_per_minute=3)
    with running(settings, with_worker=False, preload=()) as service:
        tokens = [
            api_keys.create_key(service.wiring.sessions, "acme", "test", ["data"], by="cli")[1]
            for _ in range(2)
        ]
        for token in tokens:
            service.http.headers["Authorization"] = f"Bearer {token}"
            answers = [service.http.get("/v1/datasets") for _ in range(4)]
            assert [one.status_code for one in answers] == [200, 200, 200, 429]
            problem(answers[3], 429, "rate_limited")
            assert 1 <= int(answers[3].headers["retry-after"]) <= 20
            assert service.http.get("/livez").status_code == 200


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def emptied(rates: Rates) -> int:
    """Take what is left; gives the seconds that who comes too early is told to wait."""
    while True:
        try:
            rates.take("a")
        except TooManyError as error:
            return error.retry_after or 0


@pytest.mark.parametrize("per_minute", [1, 7, 30, 59, 90, 1000])
def test_who_waits_as_long_as_was_told_is_not_refused_again(per_minute: int) -> None:
    now = 0.0
    rates = Rates(per_minute, lambda: now)
    for _ in range(per_minute):
        rates.take("a")
    for early in (0.0, 0.3, 0.77):
        now += early
        now += emptied(rates)
        rates.take("a")


def test_a_bucket_fills_at_a_steady_rate() -> None:
    clock = Clock()
    rates = Rates(60, clock)
    for _ in range(60):
        rates.take("a")
    with pytest.raises(TooManyError) as error:
        rates.take("a")
    assert error.value.retry_after == 1
    rates.take("b")
    clock.now = 1.0
    rates.take("a")
    with pytest.raises(TooManyError):
        rates.take("a")
    clock.now = 1000.0
    for _ in range(60):
        rates.take("a")
    with pytest.raises(TooManyError):
        rates.take("a")


def test_full_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.api.rates.MAX_BUCKETS", 2)
    clock = Clock()
    rates = Rates(1, clock)
    rates.take("a")
    clock.now = 30.0
    rates.take("b")
    clock.now = 61.0
    rates.take("c")
    assert set(rates._buckets) == {"b", "c"}
