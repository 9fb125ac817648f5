"""Reasons over HTTP: they sum to the explained number, the strongest push comes first."""

import math
from typing import Any

import pytest

from tests.service.api.test_predictions import ROW, ROWS
from tests.service.conftest import Service, table

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)


LOOK: dict[str, Any] = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", "decline", {"name": "look", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": 20},
        {"true": "legit", "action": "decline", "cost": 1},
    ],
    "review": {"fee": 0.1, "accuracy": {"legit": 0.99, "fraud": 0.9}},
}


@pytest.fixture(scope="module")
def clocks(service: Service) -> Service:
    """The service with a model `clocks`, which has a column of times and one of truth values."""
    lines = table(300).splitlines()
    times = [f"2026-01-{1 + i % 28:02}T0{i % 10}:00:00Z,{'true' if i % 3 else 'false'}" for i in range(300)]
    csv = "\n".join(
        [f"when,new,{lines[0]}", *(f"{t},{line}" for t, line in zip(times, lines[1:], strict=True))]
    )
    more = {"options": {"positive_class": "fraud"}, "params": {"n_estimators": 20}}
    job = service.train("clocks", csv + "\n", LOOK, algorithm="adaboost", **more)
    assert job["status"] == "succeeded", job
    return service


CLOCK_ROWS = [{**row, "when": "2026-01-05T10:00:00Z", "new": i % 2 == 0} for i, row in enumerate(ROWS[:60])]


@only_sqlite
def test_baseline_and_contributions_sum_to_the_log_odds(clocks: Service) -> None:
    for one in clocks.predict("clocks", CLOCK_ROWS, explain={}):
        assert (one["explained"], one["explanation_method"]) == ("log_odds", "additive")
        assert len(one["reasons"]) == 5
        total = one["baseline"] + math.fsum(reason["contribution"] for reason in one["reasons"])
        assert math.isclose(total, one["log_odds"], rel_tol=0, abs_tol=1e-9)


@only_sqlite
def test_the_strongest_push_towards_the_decision_comes_first(clocks: Service) -> None:
    every = clocks.predict("clocks", CLOCK_ROWS, explain={}, threshold=0.2)
    for one in every:
        side = 1 if one["label"] == "fraud" else -1
        assert one["explained_class"] == one["label"]
        pushes = [side * reason["contribution"] for reason in one["reasons"]]
        assert pushes == sorted(pushes, reverse=True)
    assert {one["label"] for one in every} == {"legit", "fraud"}
    first = clocks.predict("clocks", CLOCK_ROWS, explain={"top": 2}, threshold=0.2)
    assert [one["reasons"] for one in first] == [one["reasons"][:2] for one in every]


@only_sqlite
def test_reasons_name_what_the_row_holds(clocks: Service) -> None:
    rows = [CLOCK_ROWS[0], {**CLOCK_ROWS[1], "merchant": None, "when": None}]
    found = [
        {reason["feature"]: reason["value"] for reason in one["reasons"]}
        for one in clocks.predict("clocks", rows, explain={})
    ]
    assert found[0] == rows[0]
    assert found[1] == rows[1]


@only_sqlite
def test_a_review_is_explained_by_the_class_it_would_have_been(clocks: Service) -> None:
    found = clocks.predict("clocks", CLOCK_ROWS, explain={"top": 1})
    reviewed = [one for one in found if one["decision"] == "look"]
    assert reviewed
    for one in reviewed:
        assert (one["label"], one["decision_source"]) == (None, "review")
        cheapest = min(("approve", "decline"), key=one["expected_cost"].__getitem__)
        assert one["explained_class"] == {"approve": "legit", "decline": "fraud"}[cheapest]


@only_sqlite
def test_priors_shift_the_baseline_alone(clocks: Service) -> None:
    [own], [rare] = (
        clocks.predict("clocks", CLOCK_ROWS[:1], explain={}, **more)
        for more in ({}, {"priors": {"fraud": 0.01}})
    )
    assert rare["baseline"] < own["baseline"]
    total = rare["baseline"] + math.fsum(reason["contribution"] for reason in rare["reasons"])
    assert math.isclose(total, rare["log_odds"], rel_tol=0, abs_tol=1e-9)


@only_sqlite
def test_a_faulty_row_has_no_reasons_and_a_row_alone_has_those_of_the_batch(clocks: Service) -> None:
    rows = [CLOCK_ROWS[0], {**CLOCK_ROWS[1], "hour": "x"}, CLOCK_ROWS[2]]
    good, bad, last = clocks.predict("clocks", rows, explain={"top": 3}, on_row_error="null")
    assert bad.keys() == good.keys()
    assert (bad["reasons"], bad["baseline"]) == (None, None)
    assert [good] == clocks.predict("clocks", rows[:1], explain={"top": 3})
    assert [last] == clocks.predict("clocks", rows[2:], explain={"top": 3})


@pytest.fixture(scope="module")
def amounts(service: Service) -> Service:
    """The service with a model `amounts-told`, whose costs depend on the amount."""
    costs = {"fn": {"per": {"amount": 1.0}}, "fp": 5}
    options = {"positive_class": "fraud"}
    job = service.train("amounts-told", table(200), costs, options=options, params={"n_estimators": 5})
    assert job["status"] == "succeeded", job
    return service


@only_sqlite
def test_what_moved_the_threshold_is_told(amounts: Service) -> None:
    """By hand: a false alarm costs 5 and a miss the amount, so the threshold is 5 / (5 + amount)."""
    typical = amounts.http.get("/v1/models/amounts-told/versions/1/schema").json()["example"]["amount"]
    rows = [{**ROW, "amount": 1200.0}, {**ROW, "amount": 20.0}]
    for one, row in zip(amounts.predict("amounts-told", rows, explain={"top": 1}), rows, strict=True):
        assert one["threshold"] == pytest.approx(5 / (5 + row["amount"]))
        assert one["threshold_reason"] == {
            "columns": {"amount": row["amount"]},
            "typical": {"amount": typical},
            "typical_threshold": pytest.approx(5 / (5 + typical)),
        }


@only_sqlite
def test_it_is_told_of_costs_of_the_row_alone(amounts: Service) -> None:
    def told(rows: list[dict[str, Any]], **more: Any) -> Any:
        return amounts.predict("amounts-told", rows, explain={}, **more)[0]["threshold_reason"]

    assert told([ROW], threshold=0.2) is None
    assert told([ROW], costs={"fn": 20, "fp": 1}) is None
    other = {"fn": {"per": {"fee": 1.0}}, "fp": 5}
    assert told([{**ROW, "fee": 3}], costs=other) == {
        "columns": {"fee": 3.0},
        "typical": None,
        "typical_threshold": None,
    }
    assert told([{**ROW, "hour": "x"}], on_row_error="null") is None


def test_without_the_wish_nothing_is_explained(clocks: Service) -> None:
    [plain] = clocks.predict("clocks", CLOCK_ROWS[:1])
    assert not {"reasons", "threshold_reason"} & plain.keys()
    assert ROW.keys() <= CLOCK_ROWS[0].keys()


@only_sqlite
def test_three_classes_are_explained_by_the_score_of_the_decided_one(service: Service) -> None:
    costs = {
        "classes": ["a", "b", "c"],
        "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]],
        "orientation": "rows_true",
    }
    job = service.train("beasts", table(classes=("a", "b", "c")), costs, params={"n_estimators": 20})
    assert job["status"] == "succeeded", job
    for one in service.predict("beasts", ROWS[:60:5], explain={}):
        assert (one["explained"], one["explained_class"]) == ("score", one["label"])
        total = one["baseline"] + math.fsum(reason["contribution"] for reason in one["reasons"])
        assert math.isclose(total, one["score"][one["label"]], rel_tol=0, abs_tol=1e-9)


@only_sqlite
def test_trees_name_their_method(service: Service) -> None:
    params = {"n_estimators": 10, "estimator": {"name": "tree", "max_depth": 2}}
    job = service.train(
        "wood",
        table(),
        {"fn": 20, "fp": 1},
        algorithm="adaboost",
        params=params,
        options={"positive_class": "fraud"},
    )
    assert job["status"] == "succeeded", job
    [one] = service.predict("wood", [ROW], explain={})
    assert one["explanation_method"] == "tree_shapley"
    total = one["baseline"] + math.fsum(reason["contribution"] for reason in one["reasons"])
    assert math.isclose(total, one["log_odds"], rel_tol=0, abs_tol=1e-9)


@only_sqlite
def test_a_review_is_chosen_where_it_saves_more_than_its_shadow_price(clocks: Service) -> None:
    free = clocks.predict("clocks", CLOCK_ROWS)
    saved = [
        min(one["expected_cost"]["approve"], one["expected_cost"]["decline"]) - one["expected_cost"]["look"]
        for one in free
    ]
    assert [one["decision"] == "look" for one in free] == [gain > 0 for gain in saved]
    price = sorted(saved)[-5]
    assert price > 0
    dear = {**LOOK, "review": {**LOOK["review"], "shadow_price": price * 1.0001}}
    priced = clocks.predict("clocks", CLOCK_ROWS, costs=dear)
    assert [one["decision"] == "look" for one in priced] == [gain > price * 1.0001 for gain in saved]
    assert 1 <= sum(one["decision_source"] == "review" for one in priced) <= 4
