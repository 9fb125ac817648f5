"""Tables that a worker takes in: the same dataset as when one waits, the same faults, nothing left over."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from service.db.tables import IntakeJobRow
from tests.service.conftest import Service, problem, table

CSV = {"Content-Type": "text/csv"}
LATER = CSV | {"Prefer": "respond-async"}
PATH = "/v1/intake-jobs"
OPTIONS = {"name": "later", "positive_class": "fraud", "roles": json.dumps({"hour": "ignore"})}


def send(service: Service, content: str, headers: dict[str, str] | None = None, **options: str) -> Any:
    return service.http.post(
        "/v1/datasets", params=options, content=content.encode(), headers=LATER | (headers or {})
    )


def ended(service: Service, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    assert answer.headers["preference-applied"] == "respond-async"
    assert answer.headers["location"] == f"{PATH}/{answer.json()['id']}"
    found: dict[str, Any] = service.http.get(answer.headers["location"], headers={"Prefer": "wait=60"}).json()
    assert found["done"], found
    return found


def sources(service: Service) -> set[str | None]:
    with service.wiring.readers() as session:
        return set(session.scalars(select(IntakeJobRow.source_sha256)))


def test_the_dataset_is_the_one_of_who_waits(service: Service) -> None:
    done = ended(service, send(service, table(80), **OPTIONS))
    assert (done["status"], done["name"], done["error"], done["attempt"]) == ("succeeded", "later", None, 1)
    later = service.http.get(f"/v1/datasets/{done['result']['dataset']}").json()
    now = service.upload(table(80), **OPTIONS)
    assert done["result"]["rows"] == now["rows"] == 80
    assert {k: v for k, v in later.items() if k not in ("id", "created_at")} == {
        k: v for k, v in now.items() if k not in ("id", "created_at")
    }
    content = [
        service.http.get(f"/v1/datasets/{one['id']}/content", headers={"Accept": "text/csv"}).text
        for one in (later, now)
    ]
    assert content[0] == content[1]
    problem(service.http.post(f"{PATH}/{done['id']}/cancel"), 409, "conflict")
    listed = service.http.get(PATH, params={"status": "succeeded"}).json()["data"]
    assert listed[0] == done


def test_faults_have_their_lines_and_no_values(service: Service) -> None:
    wrong = "amount,label\n1,a\nsecret\n3,b\n"
    done = ended(service, send(service, wrong))
    assert (done["status"], done["result"], done["error"]["code"]) == ("failed", None, "invalid_data")
    assert [(one["code"], one["line"]) for one in done["error"]["errors"]] == [("ragged_row", 3)]
    assert done["error"]["errors_total"] == 1
    assert "secret" not in json.dumps(done)
    assert sources(service) == {None}  # so that the sweep finds the file


@pytest.mark.parametrize("service", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("media_type", "content", "status"),
    [
        ("text/csv", "amount,label\n1,a\nsecret\n3,b\n", 422),
        ("text/csv", "amount,other\n1,a\n2,b\n", 422),
        ("text/csv", "", 422),
        ("application/json", "{", 400),
        ("application/vnd.apache.parquet", "PAR1 but no more", 400),
    ],
)
def test_who_waits_is_told_of_the_same_faults(
    service: Service, media_type: str, content: str, status: int
) -> None:
    now = service.http.post("/v1/datasets", content=content, headers={"Content-Type": media_type})
    later = ended(service, send(service, content, {"Content-Type": media_type}))["error"]
    assert now.status_code == status
    told = now.json()
    assert (later["detail"], later["errors_total"]) == (told["detail"], told["errors_total"])
    assert told["errors"]
    for one, other in zip(later["errors"], told["errors"], strict=True):
        assert {name: value for name, value in one.items() if value is not None} == other


def test_one_that_waits_can_be_ended(fresh_service: Service) -> None:
    problem(send(fresh_service, "a,label\n1,x\n", roles='{"a": "king"}'), 422, "invalid")
    first, again = (send(fresh_service, table(20), {"Idempotency-Key": "once"}) for _ in range(2))
    assert again.json() == first.json() | {"queue_position": 1}
    assert again.headers["idempotency-replayed"] == "true"
    for _ in range(2):
        answer = fresh_service.http.post(f"{first.headers['location']}/cancel")
        assert (answer.status_code, answer.json()["error"]["code"]) == (202, "cancelled")
    assert sources(fresh_service) == {None}
    assert fresh_service.wiring.queue.waiting_or_begun() == set()
    problem(fresh_service.http.get(f"{PATH}/in_nobody"), 404, "not_found")


@pytest.mark.parametrize("prefer", ["respond-async, wait=5", "Respond-Async; q=1"])
def test_preferences_are_read_as_they_are_written(sqlite_service: Service, prefer: str) -> None:
    answer = send(sqlite_service, table(20), {"Prefer": prefer})
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
