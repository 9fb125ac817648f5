"""Weak learners by name: what JSON can say is what the estimators are."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from costboost.learners.named import WEAK_LEARNERS, weak_learner
from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree
from costboost.parameters import check_params, parameter_schema
from costboost.registry import ALGORITHMS, make


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("stump", DecisionStump()),
        ("tree", HistogramTree()),
        ("svm", WeightedSVM()),
        ({"name": "tree", "max_depth": 5}, HistogramTree(max_depth=5)),
        ({"name": "stump", "max_bins": None}, DecisionStump(max_bins=None)),
        ({"name": "svm", "kernel": "rbf", "lambda2": 2}, WeightedSVM("rbf", lambda2=2)),
    ],
    ids=str,
)
def test_a_name_stands_for_a_learner(named: Any, expected: Any) -> None:
    found = weak_learner(named)
    assert type(found) is type(expected)
    assert found.get_params() == expected.get_params()


def test_a_classifier_is_left_as_it_is() -> None:
    given = GaussianNB()
    assert weak_learner(given) is given


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("forest", "must be one of 'stump', 'tree', 'svm'"),
        ({"max_depth": 3}, "must be one of"),
        ({"name": ["tree"]}, "must be one of"),
        ({"name": "tree", "max_depth": 99}, "estimator 'tree': max_depth must be an integer"),
        ({"name": "tree", "depth": 3}, "estimator 'tree': depth is not a parameter"),
        ({"name": "svm", "kernel": "precomputed"}, "estimator 'svm': kernel must be"),
    ],
    ids=str,
)
def test_what_stands_for_nothing_is_refused_when_it_is_fitted(named: Any, message: str) -> None:
    booster = make("cgada", {"estimator": named})
    with pytest.raises(ValueError, match=message):
        booster.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_name_and_the_object_give_the_same_booster(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    params = {"n_estimators": 3, "random_state": 0}
    one = make(name, params | {"estimator": {"name": "tree", "max_depth": 2}})
    other = make(name, params | {"estimator": HistogramTree(max_depth=2)})
    scores = [clone(booster).fit(X, y).decision_function(X) for booster in (one, other)]
    assert scores[0].tobytes() == scores[1].tobytes()


def test_missing_values_are_taken_where_the_named_learner_takes_them() -> None:
    for name in WEAK_LEARNERS:
        assert get_tags(make("cgada", {"estimator": name})).input_tags.allow_nan
    assert not get_tags(make("cgada", {"estimator": WeightedSVM("precomputed")})).input_tags.allow_nan


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_schema_of_every_algorithm_lists_the_learners(name: str) -> None:
    schema = parameter_schema(ALGORITHMS[name].cls)["properties"]["estimator"]
    null, names, *objects = schema["anyOf"]
    assert null == {"type": "null"}
    assert names == {"enum": ["stump", "tree", "svm"]}
    assert [one["properties"]["name"] for one in objects] == [{"const": learner} for learner in WEAK_LEARNERS]
    for one in objects:
        assert one["required"] == ["name"]
        assert one["additionalProperties"] is False
    tree, svm = objects[1]["properties"], objects[2]["properties"]
    assert (tree["max_depth"]["minimum"], tree["max_depth"]["maximum"]) == (1, 8)
    assert svm["kernel"]["enum"] == ["linear", "rbf", "poly"]
    assert "random_state" not in svm
    assert schema["description"]
    assert json.dumps(schema)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, None),
        ("tree", None),
        ({"name": "svm", "kernel": "poly", "eta": "auto"}, None),
        ("forest", ()),
        (3, ()),
        (["tree"], ()),
        ({}, ("name",)),
        ({"name": None}, ("name",)),
        ({"name": "forest"}, ("name",)),
        ({"name": "tree", "max_depth": 2.5}, ("max_depth",)),
        ({"name": "tree", "max_depth": True}, ("max_depth",)),
        ({"name": "tree", "kernel": "rbf"}, ("kernel",)),
        ({"name": "svm", "kernel": "precomputed"}, ("kernel",)),
        ({"name": "svm", "random_state": 1}, ("random_state",)),
    ],
    ids=str,
)
def test_a_clients_learner_is_checked_with_the_place_of_its_fault(value: Any, path: Any) -> None:
    found = check_params(ALGORITHMS["adacost"].cls, {"estimator": value})
    assert [place for place, _ in found] == ([] if path is None else [("estimator", *path)])
    assert all("this algorithm" not in message for _, message in found)
