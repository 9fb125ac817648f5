"""Training jobs over HTTP, trained for real by a worker process."""

import json
import time
from typing import Any

import pytest

from tests.service.conftest import PROMPT, Service, problem, table

COSTS = {"fn": 20, "fp": 1}


@pytest.fixture(scope="module")
def dataset(service: Service) -> str:
    found: str = service.upload(table(300))["id"]
    return found


def spec(found: str, /, **more: Any) -> dict[str, Any]:
    return {
        "model": "jobs",
        "dataset": found,
        "costs": COSTS,
        "algorithm": "cgada",
        "params": {"n_estimators": 20},
        **more,
    }


def form(**more: Any) -> dict[str, Any]:
    body = {"model": "form", "costs": COSTS, "algorithm": "cgada", "params": {"n_estimators": 20}, **more}
    return {"spec": (None, json.dumps(body)), "dataset": ("d.csv", table(300), "text/csv")}


def submit(service: Service, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.http.post("/v1/training-jobs", json=body)
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/training-jobs/{job['id']}"
    assert answer.headers["retry-after"]
    return job


def test_from_asking_to_a_version(service: Service, dataset: str) -> None:
    job = submit(service, spec(dataset, model="straight", on_success={"alias": "challenger"}))
    assert (job["status"], job["done"], job["attempt"]) == ("queued", False, 0)
    assert job["queue_position"] >= 1
    done = service.wait(job["id"])
    assert (done["status"], done["error"], done["attempt"]) == ("succeeded", None, 1)
    assert (done["result"]["model"], done["result"]["version"]) == ("straight", 1)
    assert "expected_cost" in done["result"]["metrics"]
    assert "few_rows" in {one["code"] for one in done["result"]["warnings"]}
    assert done["created_at"] <= done["started_at"] <= done["finished_at"]
    aliases = service.http.get("/v1/models/straight").json()["aliases"]
    assert aliases == {"champion": 1, "challenger": 1}
    moved = {entry["target"]: entry for entry in service.http.get("/v1/audit-log").json()["data"]}
    for alias in aliases:
        entry = moved[f"/v1/models/straight/aliases/{alias}"]
        assert (entry["action"], entry["actor"]) == ("alias.put", job["id"])


def test_everything_in_one_form(service: Service) -> None:
    answer = service.http.post("/v1/training-jobs", files=form())
    assert answer.status_code == 202, answer.text
    done = service.wait(answer.json()["id"])
    assert done["status"] == "succeeded", done
    assert service.http.get(f"/v1/datasets/{done['dataset']}").json()["rows"] == 300


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"params": {"n_estimators": -1}}, "/params/n_estimators"),
        ({"params": {"n_estimators": "many"}}, "/params/n_estimators"),
        ({"params": {"magic": 1}}, "/params/magic"),
        ({"algorithm": "magic"}, "/algorithm"),
        ({"costs": {"fn": 1, "fp": -1}}, "/costs/fp"),
        ({"costs": {"fn": {"per": {"absent": 1}}, "fp": 1}}, "/costs/fn/per/absent"),
        ({"costs": None, "cost_spec": "cs_absent"}, "/cost_spec"),
        ({"dataset": "ds_absent"}, "/dataset"),
        ({"split": {"kind": "group", "column": "absent"}}, "/split/column"),
        ({"split": {"test_fraction": 0.999}}, "/split/test_fraction"),
        ({"split": {"kind": "predefined", "column": "merchant"}}, "/split/column"),
        ({"algorithm": "adacost", "params": {"response": "proba"}}, "/params/response"),
        ({"search": {"params": {}}}, "/search/params"),
        ({"search": {"params": {"learning_rate": "all"}}}, "/search/params/learning_rate"),
        ({"search": {"params": {"learning_rate": []}}}, "/search/params/learning_rate"),
        ({"search": {"params": {"learning_rate": {"low": 2, "high": 1}}}}, "/search/params/learning_rate"),
        ({"search": {"params": {"learning_rate": [-1]}}}, "/search/params/learning_rate/0"),
        ({"search": {"params": {"learning_rate": [1]}, "trials": 0}}, "/search/trials"),
        ({"search": {"params": {"learning_rate": [1]}, "metric": "auc"}}, "/search/metric"),
        ({"limits": {"seconds": 1e9}}, "/limits/seconds"),
        ({"seed": True}, "/seed"),
        ({"tenant_id": "other"}, "/tenant_id"),
    ],
)
def test_what_would_fail_is_refused_at_once(
    service: Service, dataset: str, change: dict[str, Any], pointer: str
) -> None:
    body = {key: value for key, value in spec(dataset, **change).items() if value is not None}
    before = service.http.get("/v1/training-jobs").json()["data"][:1]
    for path in ("/v1/training-jobs", "/v1/training-jobs/validate"):
        answer = service.http.post(path, json=body)
        assert answer.status_code == 422, answer.text
        assert pointer in [fault["pointer"] for fault in answer.json()["errors"]], answer.text
    assert service.http.get("/v1/training-jobs").json()["data"][:1] == before


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed"),
        (b'{"model": NaN}', 400, "malformed"),
        (b"[]", 422, "invalid"),
        (b"[" * 100_000, 400, "malformed"),
    ],
)
def test_bodies_that_are_no_spec(service: Service, body: bytes, status: int, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    problem(service.http.post("/v1/training-jobs", content=body, headers=headers), status, code)


def test_another_media_type_is_refused(service: Service) -> None:
    headers = {"Content-Type": "text/csv"}
    answer = service.http.post("/v1/training-jobs", content="a,b", headers=headers)
    problem(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ({"spec": None}, "/spec"),
        ({"spec": (None, "[]")}, "/spec"),
        ({"spec": (None, '{"dataset": "ds_1"}')}, "/dataset"),
        ({"spec": (None, '{"model": "NO"}')}, "/model"),
        ({"dataset": None}, "/dataset"),
        ({"dataset": ("d.csv", "a,label\n1,x\n2", "text/csv")}, "/file"),
        ({"options": (None, '{"label": "absent"}')}, "/label"),
    ],
)
def test_a_form_with_a_fault_leaves_nothing(service: Service, parts: dict[str, Any], pointer: str) -> None:
    before = list(service.wiring.store.list()), service.http.get("/v1/datasets").json()["data"][:1]
    files = {name: part for name, part in {**form(), **parts}.items() if part is not None}
    answer = service.http.post("/v1/training-jobs", files=files)
    assert answer.status_code == 422, answer.text
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]], answer.text
    after = list(service.wiring.store.list()), service.http.get("/v1/datasets").json()["data"][:1]
    assert sorted(after[0]) == sorted(before[0])
    assert after[1] == before[1]


def test_a_form_whose_parameters_do_not_fit_leaves_no_dataset(service: Service) -> None:
    before = service.http.get("/v1/datasets").json()["data"][:1]
    stored = sorted(service.wiring.store.list())
    answer = service.http.post("/v1/training-jobs", files=form(params={"magic": 1}))
    assert answer.status_code == 422
    assert service.http.get("/v1/datasets").json()["data"][:1] == before
    assert sorted(service.wiring.store.list()) == stored


def test_validate_says_what_would_be_trained(service: Service, dataset: str) -> None:
    answer = service.http.post("/v1/training-jobs/validate", json=spec(dataset))
    assert answer.status_code == 200, answer.text
    plan = answer.json()
    assert (plan["rows"], plan["folds"], plan["model"]) == (300, 5, "jobs")
    assert (plan["train_rows"], plan["test_rows"]) == (240, 60)
    assert plan["warnings"] == []


def test_costs_that_look_swapped_are_told(service: Service, dataset: str) -> None:
    body = spec(dataset, costs={"fn": 1, "fp": 20})
    plan = service.http.post("/v1/training-jobs/validate", json=body).json()
    assert [one["code"] for one in plan["warnings"]] == ["swapped_costs"]


@pytest.fixture(scope="module")
def dated(service: Service) -> str:
    """A dataset with a group, a time and a column that says which part a row is of."""
    lines = table(300).splitlines()
    parts = ["0", "1", "2", "test"]
    rows = [
        f"{line},shop-{i % 30},2026-{1 + i // 28:02d}-{1 + i % 28:02d},{parts[i % 4]}"
        for i, line in enumerate(lines[1:])
    ]
    text = "\n".join([f"{lines[0]},shop,day,part", *rows]) + "\n"
    roles = {"shop": "group", "day": "time", "part": "ignore"}
    found: str = service.upload(text, roles=json.dumps(roles))["id"]
    return found


@pytest.mark.parametrize(
    ("change", "test_rows"),
    [
        ({"split": {"kind": "group"}}, range(40, 80)),
        ({"split": {"kind": "time", "test_fraction": 0.25}, "train_costs": "row"}, range(75, 76)),
        ({"split": {"kind": "predefined", "column": "part"}, "decision_rule": "sign"}, range(75, 76)),
        (
            {"split": {"kind": "group", "folds": 3}, "decision_rule": "empirical", "min_recall": 0.9},
            range(80),
        ),
    ],
)
def test_splits_rules_and_costs_of_training(
    service: Service, dated: str, change: dict[str, Any], test_rows: range
) -> None:
    costs = {"fn": {"per": {"amount": 1.0}, "min": 5}, "fp": 3}
    body = spec(dated, model="dated", costs=costs, params={"n_estimators": 8}, **change)
    plan = service.http.post("/v1/training-jobs/validate", json=body).json()
    done = service.wait(submit(service, body)["id"])
    assert done["status"] == "succeeded", done
    metrics, version = done["result"]["metrics"], done["result"]["version"]
    assert metrics["rows"] == plan["test_rows"]
    assert plan["test_rows"] in test_rows
    found = service.http.get(f"/v1/models/dated/versions/{version}").json()
    kept = {name: found[name] for name in change if name != "split"}
    assert kept == {name: value for name, value in change.items() if name != "split"}
    assert found["split"]["kind"] == change["split"]["kind"]
    assert (metrics["out_of_fold"]["threshold"] is None) == ("min_recall" not in change)
    row = {"amount": 500.0, "hour": 3, "merchant": "d"}
    source = service.http.post(
        "/v1/models/dated/predict", params={"version": version}, json={"rows": [row]}
    ).json()["predictions"][0]["decision_source"]
    assert source == change.get("decision_rule", "expected_cost")


def test_a_search_lists_its_trials_and_the_version_has_the_best(service: Service, dataset: str) -> None:
    search = {"params": {"n_estimators": [5, 10, 20]}, "trials": 9, "strategy": "halving"}
    body = spec(dataset, model="searched", params={}, search=search)
    plan = service.http.post("/v1/training-jobs/validate", json=body)
    assert (plan.status_code, plan.json()["trials"]) == (200, 3)
    done = service.wait(submit(service, body)["id"])
    assert done["status"] == "succeeded", done
    found = done["result"]["search"]
    version = service.http.get("/v1/models/searched/versions/1").json()
    assert version["search"]["strategy"] == "halving"
    assert version["params"]["n_estimators"] == found["trials"][found["best"]]["params"]["n_estimators"]
    assert version["params"] == done["result"]["params"]
    assert sorted(one["folds"] for one in found["trials"]) == [1, 2, 5]


def test_a_search_can_be_cancelled(service: Service, dataset: str) -> None:
    search = {"params": {"learning_rate": {"low": 0.1, "high": 1.0}}, "trials": 200}
    job = submit(service, spec(dataset, params={"n_estimators": 5000}, search=search))
    path = f"/v1/training-jobs/{job['id']}"
    end = time.monotonic() + 120
    while (service.http.get(path).json()["progress"] or {}).get("phase") != "search":
        assert time.monotonic() < end
        time.sleep(0.05)
    service.http.post(f"{path}/cancel")
    start = time.monotonic()
    assert service.wait(job["id"])["status"] == "cancelled"
    assert time.monotonic() - start < PROMPT


def test_lists_have_pages_and_filters(service: Service, dataset: str) -> None:
    ids = [submit(service, spec(dataset, model="paged"))["id"] for _ in range(3)]
    first = service.http.get("/v1/training-jobs", params={"model": "paged", "limit": 2}).json()
    rest = service.http.get("/v1/training-jobs", params={"model": "paged", "after": first["next"]}).json()
    assert [job["id"] for job in first["data"] + rest["data"]] == ids[::-1]
    for other in ({}, {"model": "other"}, {"model": "paged", "status": "queued"}):
        answer = service.http.get("/v1/training-jobs", params={**other, "after": first["next"]})
        assert problem(answer, 400, "malformed")["errors"][0]["pointer"] == "/query/after"
    assert service.http.get("/v1/training-jobs", params={"status": "odd"}).status_code == 422
    for job_id in ids:
        service.wait(job_id)


def test_waiting_ends_with_the_job(service: Service, dataset: str) -> None:
    job = submit(service, spec(dataset))
    answer = service.http.get(f"/v1/training-jobs/{job['id']}", headers={"Prefer": "wait=30"})
    assert answer.json()["done"]
    assert answer.headers["preference-applied"] == "wait=30"
    again = service.http.get(
        f"/v1/training-jobs/{job['id']}", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert again.status_code == 304


def test_events_come_until_done(service: Service, dataset: str) -> None:
    job = submit(service, spec(dataset))
    path = f"/v1/training-jobs/{job['id']}/events"
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "4"}
    with service.http.stream("GET", path, headers=headers) as answer:
        text = "".join(answer.iter_text())
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [dict(line.split(": ", 1) for line in part.splitlines()) for part in text.strip().split("\n\n")]
    assert [int(event["id"]) for event in events] == list(range(5, 5 + len(events)))
    assert events[-1]["event"] == "done"
    assert json.loads(events[-1]["data"])["status"] == "succeeded"
    listed = service.http.get(path).json()
    assert listed["data"][0]["event"] == "done"


def test_cancel(service: Service, dataset: str) -> None:
    job = submit(service, spec(dataset, params={"n_estimators": 100_000}))
    path = f"/v1/training-jobs/{job['id']}"
    for _ in range(2):
        answer = service.http.post(f"{path}/cancel")
        assert answer.status_code == 202
        assert answer.json()["status"] in ("cancelling", "cancelled")
    start = time.monotonic()
    done = service.wait(job["id"])
    assert time.monotonic() - start < PROMPT
    assert (done["status"], done["result"], done["error"]["code"]) == ("cancelled", None, "cancelled")


def test_cancel_of_what_is_done_is_a_conflict(service: Service, dataset: str) -> None:
    job = service.wait(submit(service, spec(dataset))["id"])
    problem(service.http.post(f"/v1/training-jobs/{job['id']}/cancel"), 409, "conflict")


def test_unknown_jobs(service: Service) -> None:
    for method, path in (("GET", ""), ("POST", "/cancel"), ("GET", "/events")):
        answer = service.http.request(method, f"/v1/training-jobs/job_absent{path}")
        problem(answer, 404, "not_found")


def test_a_dataset_in_use_stays(service: Service, dataset: str) -> None:
    submit(service, spec(dataset))
    assert service.http.delete(f"/v1/datasets/{dataset}").status_code == 409
