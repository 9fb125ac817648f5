"""Cost specs over HTTP, on both databases: checked, kept by revisions, explained."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.conftest import problem

BINARY = {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}}}
MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
ACTIONS = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", {"name": "block", "for": "fraud"}, {"name": "review", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": 100},
        {"true": "legit", "action": "block", "cost": 10},
    ],
    "review": {"fee": 3.5, "accuracy": {"fraud": 0.95, "legit": 0.99}},
}


def test_costs_are_kept_and_explained(service):
    answer = service.http.post("/v1/cost-specs", json={"name": "explained", "currency": "EUR", **BINARY})
    assert answer.status_code == 201
    spec = answer.json()
    assert answer.headers["location"] == f"/v1/cost-specs/{spec['id']}"
    assert spec["id"].startswith("cs_")
    assert (spec["name"], spec["revision"], spec["currency"]) == ("explained", 1, "EUR")
    assert {cell["name"] for cell in spec["cells"]} == {"fn", "fp", "tp", "tn"}
    explanation = spec["checks"].pop("explanation")
    assert "depend on the row" in explanation
    assert spec["checks"] == {"reasonable": None, "per_row": True, "dominated_actions": []}
    spec["checks"]["explanation"] = explanation
    assert "flag when p > 0.0291 at amount 500" in spec["consequences"]
    read = service.http.get(answer.headers["location"])
    assert read.json() == spec
    assert "immutable" in read.headers["cache-control"]
    again = service.http.get(answer.headers["location"], headers={"If-None-Match": read.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("costs", [BINARY, MATRIX, ACTIONS, {"fn": 500, "fp": 10}])
def test_every_form_can_be_kept_and_validated(service, costs):
    kept = service.http.post("/v1/cost-specs", json={"name": "forms", **costs})
    assert kept.status_code == 201, kept.text
    checked = service.http.post("/v1/cost-specs/validate", json=costs)
    assert checked.status_code == 200, checked.text
    assert checked.json() == {name: kept.json()[name] for name in ("cells", "checks", "consequences")}
    for spelled in (kept.json()["costs"], {"costs": kept.json()["costs"]}):
        again = service.http.post("/v1/cost-specs", json={"name": "again", **spelled})
        assert again.json()["costs"] == kept.json()["costs"]


def test_the_same_name_is_the_next_revision(fresh_service):
    def keep(i):
        return fresh_service.http.post("/v1/cost-specs", json={"name": "r", "fn": i + 1, "fp": 1}).json()

    with ThreadPoolExecutor(24) as pool:
        made = list(pool.map(keep, range(48)))
    assert sorted(spec["revision"] for spec in made) == list(range(1, 49))
    assert len({spec["id"] for spec in made}) == 48
    listed = fresh_service.http.get("/v1/cost-specs?limit=3").json()
    assert [spec["id"] for spec in listed["data"]] == sorted((spec["id"] for spec in made), reverse=True)[:3]
    assert listed["has_more"]


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"fn": 1, "fp": 2}, "invalid", "/name"),
        ({"name": "", "fn": 1, "fp": 2}, "invalid", "/name"),
        ({"name": "b", "currency": "euro", "fn": 1, "fp": 2}, "invalid", "/currency"),
        ({"name": "b", "fn": 1}, "invalid", "/fp"),
        ({"name": "b", "fn": 1, "fp": "2"}, "invalid", "/fp"),
        ({"name": "b", "fn": 1, "fp": 2, "tenant_id": "x"}, "invalid", "/tenant_id"),
        ({"name": "b", "fn": {"per": {"amount": True}}, "fp": 2}, "invalid", "/fn/per/amount"),
        ({"name": "b"}, "invalid", ""),
        ({"name": "b", "fn": 1, "fp": 2, **MATRIX}, "invalid", ""),
        ({"name": "b", **MATRIX, "orientation": None}, "invalid", "/orientation"),
        ({"name": "b", "classes": ["a", "b"], "matrix": [[0, 1], [1, 0]]}, "invalid", "/orientation"),
        ({"name": "b", **MATRIX, "matrix": [[0, 1], [1, 0]]}, "invalid", "/matrix"),
        ({"name": "b", **ACTIONS, "review": {**ACTIONS["review"], "fee": -1}}, "invalid", "/review/fee"),
        ({"name": "b", "fn": 0, "fp": 1}, "unreasonable_costs", "/fn"),
        ({"name": "b", "fn": -1, "fp": 1}, "unreasonable_costs", "/fn"),
        ({"name": "b", "costs": {"fn": 0, "fp": 1}}, "unreasonable_costs", "/costs/fn"),
        ({"name": "b", "fn": 0, "fp": 0}, "zero_costs", ""),
    ],
)
def test_refused(service, body, code, pointer):
    before = service.http.get("/v1/cost-specs?limit=1").json()["data"]
    found = problem(service.http.post("/v1/cost-specs", json=body), 422, code)
    assert pointer in [fault["pointer"] for fault in found["errors"]]
    assert service.http.get("/v1/cost-specs?limit=1").json()["data"] == before


NOISE = re.compile(r"Input should|Extra inputs|Value error|valid tuple|\^|Expected `")


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        ({"costs": {"fn": 1, "fp": "much"}}, "/costs/fp", 'give a number or {"fixed", "per", "min", "max"}'),
        ({"costs": [[0, 1], [5, 0]]}, "/costs", '"orientation": "rows_true"'),
        ({"costs": 5}, "/costs", '{"fn": 500, "fp": 10}'),
        ({"costs": {"fn": 1, "fp": 2}, "fn": 3}, "/fn", "known are name, currency, costs"),
        ({"fn": 1, "fp": 2, "fpp": 2}, "/fpp", "known are name, currency, fn, fp, tp, tn"),
        ({"fn": 1, "fp": {"fixd": 2}}, "/fp/fixd", "known are fixed, per, min, max"),
        ({"fn": 1, "fp": 2, "currency": "euro"}, "/currency", "three capital letters"),
        ({"classes": "ab", "matrix": 3, "orientation": "x"}, "/classes", "must be a list"),
        ({**ACTIONS, "actions": [1, "block"]}, "/actions/0", "an action is its name"),
        ({**ACTIONS, "review": []}, "/review", "its fields are fee, accuracy"),
        ({}, "", "no costs are here"),
    ],
)
def test_faults_are_told_in_plain_words(service, body, pointer, words):
    body = {"name": "words", **body}
    for path in ("/v1/cost-specs", "/v1/cost-specs/validate"):
        answer = service.http.post(path, json=body)
        found = problem(answer, 422, "invalid")
        told = {fault["pointer"]: fault["detail"] for fault in found["errors"]}
        assert words in told[pointer], told
        assert not NOISE.search(answer.text)
        assert len(told) == len(found["errors"])


def test_an_unreasonable_cost_is_told_once_with_both_cells(service):
    found = problem(
        service.http.post("/v1/cost-specs", json={"name": "odd", "fn": 1, "fp": 5, "tp": 2}),
        422,
        "unreasonable_costs",
    )
    [fault] = found["errors"]
    assert fault["pointer"] == "/fn"
    assert "fn" in fault["detail"]
    assert "tp" in fault["detail"]


def test_a_name_means_its_latest_revision(service):
    made = [service.http.post("/v1/cost-specs", json={"name": "by-name", "fn": i, "fp": 1}) for i in (2, 3)]
    answer = service.http.get("/v1/cost-specs/by-name")
    assert answer.json() == made[1].json()
    assert "immutable" not in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "body", ["{", '{"name":"b","fn":NaN,"fp":1}', '{"name":"b","fn":Infinity,"fp":1}', ""]
)
def test_malformed(service, body):
    answer = service.http.post("/v1/cost-specs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_unknown(service):
    problem(service.http.get("/v1/cost-specs/cs_nosuch"), 404, "not_found")
    problem(service.http.get("/v1/cost-specs?nosuch=1"), 400, "unknown_parameter")
