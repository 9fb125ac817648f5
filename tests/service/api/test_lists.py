"""Lists show each thing once, whatever is inserted meanwhile; what has not changed is not sent again."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from service.db.tables import CostSpecRow
from service.domain.ids import new_id
from tests.service.conftest import DATABASES, NewDatabase, Service, problem, running, settings_for

ROWS = 250
COSTS = {"fn": 5.0, "fp": 1.0}


@pytest.fixture(scope="module", params=DATABASES)
def listed(
    request: pytest.FixtureRequest, new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    settings = settings_for(new_database(request.param), tmp_path_factory.mktemp("lists"))
    with running(settings, with_worker=False) as found:
        yield found


def insert(service: Service, count: int, first: int) -> list[str]:
    """Insert cost specs that are equal in all but id and revision, with a moment, currency and name alike."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [new_id("cs") for _ in range(count)]
    with service.wiring.sessions.begin() as session:
        session.add_all(
            CostSpecRow(
                id=key,
                tenant_id="default",
                name="equal",
                revision=first + number,
                currency=None,
                spec=COSTS,
                created_at=at,
            )
            for number, key in enumerate(ids)
        )
    return ids


def test_each_is_shown_once_while_others_are_inserted(listed: Service) -> None:
    before = insert(listed, ROWS, first=1)
    stop = threading.Event()
    inserted: list[str] = []

    def go_on() -> None:
        while not stop.wait(0.005):
            inserted.extend(insert(listed, 1, first=1000 + len(inserted)))

    thread = threading.Thread(target=go_on)
    thread.start()
    seen: list[str] = []
    try:
        path: str | None = "/v1/cost-specs?limit=7"
        while path is not None:
            answer = listed.http.get(path)
            page = answer.json()
            seen += [one["id"] for one in page["data"]]
            assert len(page["data"]) == 7 or not page["has_more"]
            assert page["has_more"] == (page["next"] is not None) == ("link" in answer.headers)
            path = answer.links["next"]["url"] if page["has_more"] else None
    finally:
        stop.set()
        thread.join()
    assert inserted
    assert len(seen) == len(set(seen))
    assert [one for one in seen if one in set(before)] == before[::-1]
    assert set(seen) - set(before) <= set(inserted)


def test_what_has_not_changed_is_not_sent_again(service: Service, fraud_csv: str) -> None:
    """Every document that can be read, as the OpenAPI document lists them."""
    quick = {"algorithm": "adacost", "params": {"n_estimators": 2}}
    job = service.train("unchanged", fraud_csv, {"fn": 20, "fp": 1}, **quick)
    spec = service.http.post("/v1/cost-specs", json={"name": "unchanged", "fn": 5, "fp": 1}).json()
    rows = [{"amount": 1, "hour": 1, "merchant": "a"}]
    [decided] = service.predict("unchanged", rows, record="durable")
    known = {
        "dataset": job["dataset"],
        "cost_spec": spec["id"],
        "job": job["id"],
        "model": "unchanged",
        "version": "1",
        "alias": "champion",
        "prediction": decided["prediction_id"],
        "name": "auto",
    }
    document = service.http.get("/openapi.json").json()
    seen = 0
    for path, methods in document["paths"].items():
        if "304" not in methods.get("get", {"responses": {}})["responses"]:
            continue
        where = path
        for name, value in known.items():
            where = where.replace(f"{{{name}}}", value)
        if "{" in where:  # of a kind that is tested with its own resource
            continue
        if path.endswith("/performance"):
            where += "?since=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z"
        first = service.http.get(where)
        assert first.status_code == 200, (path, first.text)
        assert "etag" in first.headers, path
        etag = first.headers["etag"]
        assert etag.startswith('"'), path
        for given in (etag, f'"other", {etag}', "*", f"W/{etag}"):
            again = service.http.get(where, headers={"If-None-Match": given})
            assert (again.status_code, again.content) == (304, b""), (path, given)
            assert again.headers["etag"] == etag
        assert service.http.get(where, headers={"If-None-Match": '"other"'}).status_code == 200
        head = service.http.head(where, headers={"If-None-Match": etag})
        assert head.status_code == 304
        seen += 1
    assert seen > 15


def test_a_cursor_belongs_to_its_list_and_filters(listed: Service) -> None:
    insert(listed, 2, first=5000)
    after = listed.http.get("/v1/cost-specs?limit=1").json()["next"]
    assert listed.http.get("/v1/cost-specs", params={"after": after, "limit": 3}).status_code == 200
    for path in ("/v1/training-jobs", "/v1/datasets", "/v1/audit-log", "/v1/models/m/versions"):
        found = problem(listed.http.get(path, params={"after": after}), 400, "malformed")
        assert found["errors"][0] == {
            "pointer": "/query/after",
            "code": "cursor",
            "detail": "must be `next` of a page of this list, with the same filters",
        }


def test_a_list_changes_with_what_is_in_it(listed: Service) -> None:
    etag: Any = listed.http.get("/v1/datasets").headers["etag"]
    listed.upload("a,label\n1,0\n2,1\n3,0\n4,1\n")
    assert listed.http.get("/v1/datasets", headers={"If-None-Match": etag}).status_code == 200
