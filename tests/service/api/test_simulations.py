"""Simulations over HTTP: figures that follow from the rows set aside, worked out again here."""

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.domain.problems.examples import EXAMPLES
from tests.service.conftest import Service, problem, table

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
REVIEW: dict[str, Any] = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", "decline", {"name": "look", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": {"per": {"amount": 1.0}}},
        {"true": "legit", "action": "decline", "cost": 30},
    ],
    "review": {"fee": 3, "accuracy": {"legit": 0.99, "fraud": 0.95}},
}


@pytest.fixture(scope="module")
def days(service: Service) -> tuple[Service, dict[str, Any]]:
    """The service with a model `days` of rows that came on five days, and its dataset."""
    lines = table(500).splitlines()
    start = datetime(2026, 3, 2, tzinfo=UTC)
    rows = [
        f"{(start + timedelta(hours=i * 24 / 100)).isoformat()},{line}" for i, line in enumerate(lines[1:])
    ]
    csv = "\n".join([f"at,{lines[0]}", *rows]) + "\n"
    options = {"positive_class": "fraud", "roles": '{"at": "time"}'}
    job = service.train("days", csv, {"fn": 100, "fp": 10}, options=options, params={"n_estimators": 15})
    assert job["status"] == "succeeded", job
    return service, service.http.get(f"/v1/datasets/{job['dataset']}").json()


def simulate(service: Service, path: str = "/v1/models/days/versions/1/simulations", **body: Any) -> Any:
    answer = service.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_training_costs_give_the_cost_of_the_evaluation(days: tuple[Service, dict[str, Any]]) -> None:
    service, dataset = days
    found = simulate(service)
    metrics = service.http.get("/v1/models/days/versions/1/evaluation").json()["metrics"]
    assert found["rows"] == sum(map(sum, metrics["confusion"]))
    assert math.isclose(found["current"]["cost"], metrics["total_cost"])
    assert found["current"] == found["optimum"]
    assert found["saved"]["cost"] == 0
    assert found["dataset"] == dataset["id"]
    assert found["positives"] == found["class_counts"]["fraud"]
    assert found["baselines"]["perfect"] == 0
    assert found["baselines"]["constant"] == {
        "legit": 100 * found["class_counts"]["fraud"],
        "fraud": 10 * found["class_counts"]["legit"],
    }
    assert (found["review"], found["shadow_price"]) == (None, None)
    assert {one["code"] for one in found["warnings"]} == {"few_rows"}
    assert {"roc", "pr", "calibration", "cost", "net_benefit"} <= found["curves"].keys()


def test_every_line_of_the_table_is_arithmetic(days: tuple[Service, dict[str, Any]]) -> None:
    found = simulate(days[0], costs={"fn": 70, "fp": 3, "tp": 1})
    assert 2 < len(found["table"]) <= 512
    for line in found["table"]:
        assert line["tp"] + line["fp"] + line["fn"] + line["tn"] == found["rows"]
        assert math.isclose(line["cost"], 70 * line["fn"] + 3 * line["fp"] + line["tp"])
    best = min(line["cost"] for line in found["table"])
    assert best <= found["optimum"]["cost"] + 1e-9
    low, high = found["optimum"]["ci95"]
    assert low < found["optimum"]["cost"] < high


def test_a_dataset_gives_what_predictions_give(days: tuple[Service, dict[str, Any]]) -> None:
    service, dataset = days
    costs = {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": 5}
    found = simulate(service, "/v1/simulations", model="days", dataset=dataset["id"], costs=costs)
    assert found["rows"] == 500
    assert [one["code"] for one in found["warnings"]] == ["trained_on"]
    lines = [line.split(",") for line in table(500).splitlines()[1:]]
    rows = [{"amount": float(a), "hour": int(h), "merchant": m} for a, h, m, _ in lines]
    paid = 0.0
    for row, one, line in zip(rows, service.predict("days", rows, costs=costs), lines, strict=True):
        if one["label"] != line[3]:
            paid += max(row["amount"], 15) if line[3] == "fraud" else 5
    assert math.isclose(found["optimum"]["cost"], paid)
    assert found["optimum"]["cost"] <= found["current"]["cost"]
    saved = found["current"]["cost"] - found["optimum"]["cost"]
    assert math.isclose(found["saved"]["cost"], saved, abs_tol=1e-6)


def test_reviews_keep_to_their_capacity(days: tuple[Service, dict[str, Any]]) -> None:
    service, dataset = days
    free = simulate(service, costs=REVIEW, dataset=dataset["id"])
    wanted = free["optimum"]["decisions"]["look"]
    assert wanted == free["review"]["rows"] > 20
    assert free["shadow_price"] == 0
    few = simulate(service, costs=REVIEW, dataset=dataset["id"], capacity={"max": 10})
    assert 0 < few["review"]["rows"] <= 10
    assert few["shadow_price"] > 0
    assert few["table"][0]["review"] == few["review"]["rows"]
    daily = simulate(service, costs=REVIEW, dataset=dataset["id"], capacity={"max": 2, "per": "day"})
    assert 5 < daily["review"]["rows"] <= 10
    priced = {**REVIEW, "review": {**REVIEW["review"], "shadow_price": few["shadow_price"]}}
    again = simulate(service, costs=priced, dataset=dataset["id"])
    assert again["optimum"] == few["optimum"]
    assert again["shadow_price"] == few["shadow_price"]
    in_costs = {**REVIEW, "review": {**REVIEW["review"], "capacity": {"max": 10, "per": "file"}}}
    assert simulate(service, costs=in_costs, dataset=dataset["id"])["optimum"] == few["optimum"]


def test_rows_set_aside_get_their_share_of_a_capacity(days: tuple[Service, dict[str, Any]]) -> None:
    """Of each day a fifth is set aside: of 10 reviews a day 2 are counted with, of 3 one, of none none."""
    service, _ = days
    for places, counted in ((10, 2), (3, 1), (0, 0)):
        found = simulate(service, costs=REVIEW, capacity={"max": places, "per": "day"})
        assert found["review"]["rows"] <= 5 * counted
        told = {one["code"]: one["detail"] for one in found["warnings"]}
        assert f"are 20% of those of each day, so {counted} reviews of {places}" in told["share_of_capacity"]
    whole = simulate(service, costs=REVIEW, capacity={"max": 10})
    assert "share_of_capacity" not in {one["code"] for one in whole["warnings"]}


def test_costs_per_row_are_read_from_the_rows_set_aside(days: tuple[Service, dict[str, Any]]) -> None:
    service, _ = days
    spec = service.http.post("/v1/cost-specs", json={"name": "by-amount", **REVIEW}).json()
    by_name, written = simulate(service, cost_spec="by-amount"), simulate(service, costs=REVIEW)
    assert by_name == written
    assert spec["name"] == "by-amount"
    assert set(written["current"]["decisions"]) == {"approve", "decline", "look"}
    assert written["current"]["decisions"]["look"] == 0


def test_priors_weigh_the_rows(days: tuple[Service, dict[str, Any]]) -> None:
    service, _ = days
    found = simulate(service, priors={"fraud": 0.01})
    plain = simulate(service)
    counts = plain["class_counts"]
    share = counts["fraud"] / plain["rows"]
    always = plain["baselines"]["constant"]["legit"] * 0.01 / share
    assert math.isclose(found["baselines"]["constant"]["legit"], always)
    assert found["optimum"]["decisions"]["fraud"] < plain["optimum"]["decisions"]["fraud"]


@only_sqlite
def test_three_classes_have_no_table_of_thresholds(service: Service) -> None:
    costs = {
        "classes": ["a", "b", "c"],
        "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]],
        "orientation": "rows_true",
    }
    job = service.train("days3", table(classes=("a", "b", "c")), costs, params={"n_estimators": 5})
    assert job["status"] == "succeeded", job
    found = simulate(service, "/v1/simulations", model="days3", alias="champion")
    assert (found["table"], found["positives"]) == (None, None)
    assert [one["class"] for one in found["curves"]["classes"]] == ["a", "b", "c"]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"costs": {"fn": 1, "fp": 1}, "cost_spec": "x"}, "/cost_spec", "exclusive"),
    ({"cost_spec": "nobody"}, "/cost_spec", "unknown_cost_spec"),
    ({"dataset": "nobody"}, "/dataset", "unknown_dataset"),
    ({"dataset": ""}, "/dataset", "unknown_dataset"),
    ({"costs": {"fn": -1, "fp": 5}}, "/costs/fn", "unreasonable_costs"),
    ({"costs": {"fn": {"per": {"shoe": 1}}, "fp": 5}}, "/costs", "unknown_column"),
    ({"costs": {"fn": {"per": {"merchant": 1}}, "fp": 5}}, "/costs/fn/per/merchant", "wrong_type"),
    ({"priors": {"nobody": 0.1}}, "/priors/nobody", "unknown_class"),
    ({"priors": {"fraud": 2}}, "/priors/fraud", "less_than_equal"),
    ({"capacity": {"max": 5}}, "/capacity", "no_review_action"),
    ({"capacity": {"max": -5}}, "/capacity/max", "greater_than_equal"),
    ({"shoe": 1}, "/shoe", "unknown_field"),
]


@only_sqlite
@pytest.mark.parametrize(
    ("body", "place", "code"), WRONG, ids=[f"{place}-{code}" for _, place, code in WRONG]
)
def test_what_does_not_fit_is_refused_with_its_place(
    days: tuple[Service, dict[str, Any]], body: dict[str, Any], place: str, code: str
) -> None:
    answer = days[0].http.post("/v1/models/days/versions/1/simulations", json=body)
    assert answer.status_code == 422, answer.text
    assert (place, code) in {(one["pointer"], one["code"]) for one in answer.json()["errors"]}


@only_sqlite
def test_a_dataset_must_fit_the_version(days: tuple[Service, dict[str, Any]]) -> None:
    service, _ = days
    other = service.upload("amount,label\n1,legit\n2,fraud\n3,legit\n", positive_class="fraud")
    path = "/v1/models/days/versions/1/simulations"
    found = service.http.post(path, json={"dataset": other["id"]})
    assert {one["column"] for one in problem(found, 422, "missing_column")["errors"]} == {"hour", "merchant"}
    strange = service.upload(table(classes=("no", "yes")), name="strange")
    problem(service.http.post(path, json={"dataset": "strange"}), 422, "classes_mismatch")
    assert strange["name"] == "strange"
    untimed = service.upload(table(60, seed=2), positive_class="fraud")
    body = {"dataset": untimed["id"], "costs": REVIEW, "capacity": {"max": 1, "per": "week"}}
    fault = problem(service.http.post(path, json=body), 422, "no_time_column")["errors"][0]
    assert fault["pointer"] == "/capacity/per"
    assert "`roles`" in fault["detail"]


@only_sqlite
def test_a_refusal_says_what_to_send_instead(days: tuple[Service, dict[str, Any]]) -> None:
    service, _ = days
    path = "/v1/models/days/versions/1/simulations"
    told = problem(service.http.post(path, json={"capacity": {"max": 5}}), 422, "no_review_action")
    assert '"kind": "review"' in told["detail"]
    page = service.http.get("/problems/no_review_action").text
    assert "accuracy" in page
    right = json.loads(EXAMPLES["no_review_action"].right)
    assert simulate(service, **right)["review"] is not None
    untyped = service.http.post(path, content=b"{}")
    detail = problem(untyped, 415, "unsupported_media_type")["detail"]
    assert detail.startswith("send `Content-Type: application/json`")


def test_unknown_models_and_versions_are_not_found(days: tuple[Service, dict[str, Any]]) -> None:
    service, _ = days
    problem(service.http.post("/v1/models/days/versions/99/simulations", json={}), 404, "not_found")
    problem(service.http.post("/v1/simulations", json={"model": "nobody"}), 404, "not_found")
    both = service.http.post("/v1/simulations", json={"model": "days", "alias": "champion", "version": 1})
    problem(both, 422, "invalid")
