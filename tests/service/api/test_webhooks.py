"""Webhooks over HTTP: subscribed, signed, tried again, and told of what really happened."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from service.db import jobs
from service.db.tables import BatchPredictionRow, DeliveryRow, WebhookRow
from service.domain.ids import new_id
from service.domain.training import JobStatus
from service.usecases import webhooks
from tests.service.conftest import Service, problem, table
from tests.service.listener import Listener, listening
from tests.service.records import add_version


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


def subscribe(service: Service, url: str, **more: Any) -> dict[str, Any]:
    answer = service.http.post("/v1/webhooks", json={"url": url, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def move(service: Service, alias: str = "next") -> None:
    assert service.http.put(f"/v1/models/cards/aliases/{alias}", json={"version": 1}).status_code == 201


def deliveries(service: Service, webhook: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.http.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["data"]
    return found


def deliver(service: Service) -> int:
    """Do once what the messenger of a worker does each second."""
    wiring = service.wiring
    due = webhooks.due(wiring.sessions, wiring.readers)
    for delivery, webhook in due:
        webhooks.deliver(wiring.sessions, wiring.outbound, delivery, webhook)
    return len(due)


def test_a_secret_is_shown_once(fresh_service: Service) -> None:
    body = {"url": "https://hooks.example/hook", "events": ["alias.changed", "alias.changed"]}
    key = {"Idempotency-Key": "k1"}
    first = fresh_service.http.post("/v1/webhooks", json=body, headers=key)
    made = first.json()
    assert made["secret"].startswith("whsec_")
    assert made["events"] == ["alias.changed"]
    assert first.headers["location"] == f"/v1/webhooks/{made['id']}"
    again = fresh_service.http.post("/v1/webhooks", json=body, headers=key)
    assert (again.status_code, again.json()["id"]) == (201, made["id"])
    assert made["secret"] not in again.text
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert fresh_service.http.get(first.headers["location"]).json() == shown
    assert fresh_service.http.get("/v1/webhooks").json()["data"] == [shown]
    assert fresh_service.http.delete(first.headers["location"]).status_code == 204
    problem(fresh_service.http.get(first.headers["location"]), 404, "not_found")
    problem(fresh_service.http.get(f"{first.headers['location']}/deliveries"), 404, "not_found")
    problem(fresh_service.http.delete(first.headers["location"]), 404, "not_found")


def test_what_is_no_webhook_is_refused(sqlite_service: Service) -> None:
    for body, place in (
        ({}, "/url"),
        ({"url": "https://user:secret-812@hooks.example/"}, "/url"),
        ({"url": "http://hooks.example/"}, "/url"),
        ({"url": "https://10.0.0.1/"}, "/url"),
        ({"url": "https://[::1]:9/"}, "/url"),
        ({"url": "https://2130706433/"}, "/url"),
        ({"url": "https://hooks.example/", "events": []}, "/events"),
        ({"url": "https://hooks.example/", "events": ["other"]}, "/events/0"),
        ({"url": "https://hooks.example/", "secret": "mine"}, "/secret"),
    ):
        refused = sqlite_service.http.post("/v1/webhooks", json=body)
        assert problem(refused, 422, "invalid")["errors"][0]["pointer"] == place
        assert "secret-812" not in refused.text


def test_of_another_tenant_there_is_nothing(fresh_service: Service) -> None:
    webhook = subscribe(fresh_service, "https://hooks.example/")
    with fresh_service.wiring.sessions.begin() as session:
        session.execute(update(WebhookRow).values(tenant_id="other"))
    path = f"/v1/webhooks/{webhook['id']}"
    for answer in (
        fresh_service.http.get(path),
        fresh_service.http.delete(path),
        fresh_service.http.get(f"{path}/deliveries"),
    ):
        problem(answer, 404, "not_found")
    assert fresh_service.http.get("/v1/webhooks").json()["data"] == []
    add_version(fresh_service.wiring)
    move(fresh_service)
    with fresh_service.wiring.readers() as session:
        assert session.query(DeliveryRow).count() == 0


def test_a_moved_alias_is_told_signed(fresh_service: Service, listener: Listener) -> None:
    add_version(fresh_service.wiring)
    webhook = subscribe(fresh_service, listener.url)
    deaf = subscribe(fresh_service, listener.url, events=["training_job.finished"])
    move(fresh_service)
    assert [one["status"] for one in deliveries(fresh_service, webhook)] == ["pending"]
    assert deliveries(fresh_service, deaf) == []
    assert (deliver(fresh_service), deliver(fresh_service)) == (1, 0)
    [(headers, body)] = listener.posts
    told = json.loads(body)
    assert told["type"] == headers["costboost-event"] == "alias.changed"
    assert told["data"] == {"model": "cards", "alias": "next", "version": 1, "reason": ""}
    seconds, signed = (part.partition("=")[2] for part in headers["costboost-signature"].split(","))
    assert abs(int(seconds) - datetime.now(UTC).timestamp()) < 60
    mac = hmac.new(webhook["secret"].encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    assert signed == mac.hexdigest()
    [delivery] = deliveries(fresh_service, webhook)
    assert headers["costboost-delivery"] == delivery["id"]
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 1, 200)
    etag = fresh_service.http.get("/v1/models/cards/aliases/next").headers["etag"]
    fresh_service.http.delete("/v1/models/cards/aliases/next", headers={"If-Match": etag})
    deliver(fresh_service)
    assert json.loads(listener.posts[-1][1])["data"]["version"] is None


def test_what_is_refused_is_tried_again_later(fresh_service: Service, listener: Listener) -> None:
    add_version(fresh_service.wiring)
    webhook = subscribe(fresh_service, listener.url)
    listener.answers = [500]
    move(fresh_service)
    assert deliver(fresh_service) == 1
    [delivery] = deliveries(fresh_service, webhook)
    assert (delivery["status"], delivery["last_status"], delivery["last_error"]) == (
        "pending",
        500,
        "refused",
    )
    assert deliver(fresh_service) == 0  # not due yet
    with fresh_service.wiring.sessions.begin() as session:
        session.execute(update(DeliveryRow).values(next_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert deliver(fresh_service) == 1
    [delivery] = deliveries(fresh_service, webhook)
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)
    assert listener.posts[0][1] == listener.posts[1][1]


def test_of_each_webhook_one_is_under_way(fresh_service: Service, listener: Listener) -> None:
    add_version(fresh_service.wiring)
    many, few = (subscribe(fresh_service, f"{listener.url}?{n}")["id"] for n in range(2))
    for alias in ("a", "b", "c"):
        move(fresh_service, alias)
    wiring = fresh_service.wiring
    first = webhooks.due(wiring.sessions, wiring.readers)
    assert {webhook.id for _, webhook in first} == {many, few}
    assert len(first) == 2
    [(_, other)] = webhooks.due(wiring.sessions, wiring.readers, busy={many: "default"})
    assert other.id == few
    assert webhooks.due(wiring.sessions, wiring.readers, busy={many: "default", few: "default"}) == []


def test_a_try_whose_process_died_is_taken_over(fresh_service: Service, listener: Listener) -> None:
    add_version(fresh_service.wiring)
    subscribe(fresh_service, listener.url)
    move(fresh_service)
    wiring = fresh_service.wiring
    [(lost, webhook)] = webhooks.due(wiring.sessions, wiring.readers)
    assert webhooks.due(wiring.sessions, wiring.readers) == []
    with wiring.sessions.begin() as session:
        session.execute(update(DeliveryRow).values(next_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert deliver(fresh_service) == 1
    # The first one wakes up after all: what it writes changes nothing.
    listener.answers = [500]
    webhooks.deliver(wiring.sessions, wiring.outbound, lost, webhook)
    [delivery] = deliveries(fresh_service, {"id": webhook.id})
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)


def test_private_addresses_are_not_posted_to(fresh_service: Service) -> None:
    add_version(fresh_service.wiring)
    webhook = subscribe(fresh_service, "https://localhost:9/")
    move(fresh_service)
    deliver(fresh_service)
    assert deliveries(fresh_service, webhook)[0]["last_error"] == "not_public"


def test_the_end_of_a_training_is_told_by_the_worker(
    service: Service, listener: Listener, wait_until: Callable[..., None]
) -> None:
    webhook = subscribe(service, listener.url, events=["training_job.finished"])
    job = service.train("told", table(100), {"fn": 5, "fp": 1}, params={"n_estimators": 2})

    def of_this_job() -> list[dict[str, Any]]:
        """Others may end meanwhile, and are told too."""
        told = [json.loads(body)["data"] for _, body in listener.posts]
        return [data for data in told if data["job"] == job["id"]]

    wait_until(of_this_job, 10.0)
    expected = {"job": job["id"], "model": "told", "status": "succeeded", "version": 1, "error": None}
    assert of_this_job() == [expected]
    service.http.delete(f"/v1/webhooks/{webhook['id']}")


def test_the_end_of_a_batch_prediction_has_an_event_of_its_own(
    fresh_service: Service, listener: Listener
) -> None:
    now = datetime.now(UTC)
    webhook = subscribe(fresh_service, listener.url, events=["batch_prediction.finished"])
    waiting = BatchPredictionRow(
        id=new_id("bp"), tenant_id="default", model="cards", version=3, spec={}, order={},
        input_sha256="0" * 64, created_at=now, status="queued", attempt=0, worker_deaths=0,
    )  # fmt: skip
    with fresh_service.wiring.sessions.begin() as session:
        session.add(waiting)
        session.flush()
        job = jobs.fetch(session, waiting.id)
        assert job is not None
        assert jobs.advance(session, job, replace(job, status=JobStatus.CANCELLED))
    deliver(fresh_service)
    [(_, body)] = listener.posts
    expected = {"job": waiting.id, "model": "cards", "status": "cancelled", "version": 3, "error": None}
    assert json.loads(body)["data"] == expected
    assert deliveries(fresh_service, webhook)[0]["status"] == "delivered"
