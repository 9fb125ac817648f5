"""Inputs at the ends of what may come, for every algorithm over stumps and over trees."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from costboost.model import CostSensitiveModel
from costboost.registry import ALGORITHMS
from tests.costboost.every_algorithm import FORMS, Rows, fit

Case = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]

LEARNERS = {"stumps": "stump", "trees": {"name": "tree", "max_depth": 3}}
each_form = pytest.mark.parametrize("name", FORMS)
each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def cases() -> dict[str, Case]:
    """X, y, sample_cost, sample_weight."""
    n = 30
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)
    one_positive = np.zeros(n, dtype=int)
    one_positive[17] = 1
    odd = np.column_stack([X[:, 0], X[:, 0], np.full(n, 3.0), np.full(n, np.nan), np.full(n, -0.0)])
    some = rng.random(n) < 0.5
    dear_misses, dear_alarms = np.where(y == 1, 1e9, 1.0), np.where(y == 1, 1.0, 1e9)
    return {
        "dear misses": (X, y, dear_misses, None),
        "dear alarms": (X, y, dear_alarms, None),
        "amounts of nothing and of a million millions": (X, y, np.where(some, 0.0, 1e12), None),
        "free positives": (X, y, np.where(y == 1, 0.0, 1.0), None),
        "tiny costs": (X, y, np.full(n, 1e-300), None),
        "unreasonable cells": (X, y, rng.normal(size=(n, 4)) * 1e6, None),
        "some weights near zero": (X, y, None, np.where(some, 1e-12, 1.0)),
        "some weights nearer to zero": (X, y, None, np.where(some, 1e-300, 1.0)),
        "all weights near zero": (X, y, None, np.full(n, 1e-305)),
        "one positive": (X, one_positive, None, None),
        "one dear positive": (X, one_positive, np.where(one_positive == 1, 1e9, 1.0), None),
        "constant, duplicate and missing columns": (odd, y, None, None),
        "nothing to learn from": (odd[:, 2:], y, None, None),
        "huge values": (X * 1e300, y, None, None),
        "classes that one cut tells apart": (X, (X[:, 1] > 0.0).astype(int), None, None),
        "the same, and dear misses": (X, (X[:, 1] > 0.0).astype(int), dear_misses, None),
    }


@each_form
@each_learner
def test_extremes_stay_finite(name: str, learner: Any) -> None:
    # The fit is refused every floating-point exception but underflow, and every warning but that of a
    # constant or one-sided vote.
    for case, (X, y, cost, weight) in cases().items():
        model = fit(FORMS[name], X, y, cost, sample_weight=weight, n_estimators=12, estimator=learner)
        for numbers in (
            model.estimator_weights_,
            model.estimator_errors_,
            model.vote_threshold_,
            model.decision_function(X),
            model.predict_proba(X),
        ):
            assert np.isfinite(numbers).all(), case
        assert set(model.predict(X)) <= {0, 1}, case


@each_form
@each_learner
@pytest.mark.parametrize("case", ["dear misses", "amounts of nothing and of a million millions"])
def test_extremes_come_out_alike_to_the_bit(name: str, learner: Any, case: str) -> None:
    X, y, cost, _ = cases()[case]
    assert cost is not None
    order = np.arange(len(y))[::-1]
    one = fit(FORMS[name], X, y, cost, n_estimators=8, estimator=learner)
    other = fit(FORMS[name], X[order], y[order], cost[order], n_estimators=8, estimator=learner)
    assert one.stop_reason_ == other.stop_reason_
    assert np.array_equal(one.estimator_weights_, other.estimator_weights_)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))


@each_form
@each_learner
def test_extremes_among_three_classes(name: str, learner: Any) -> None:
    rows = Rows(5, n_classes=3, missing=0.2)
    rows.y[rows.y == 2] = 1
    rows.y[2] = 2  # a single row of the third class
    costs = np.array([[0.0, 1.0, 1e9], [1.0, 0.0, 1.0], [1e9, 1e-9, 0.0]])
    model = fit(FORMS[name], rows.X, rows.y, cost_matrix=costs, estimator=learner, n_estimators=6)
    assert np.isfinite(model.decision_function(rows.X)).all()
    np.testing.assert_allclose(model.predict_proba(rows.X).sum(axis=1), 1.0)


@each_form
def test_five_thousand_rounds_stay_finite(name: str) -> None:
    rows = Rows(11)
    model = fit(FORMS[name], rows.X, rows.y, cost_fn=1e9, n_estimators=5000)
    assert np.isfinite(model.decision_function(rows.X)).all()
    assert np.isfinite(model.predict_proba(rows.X)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cgada", "adacost", "gentle"])
def test_five_thousand_rounds_of_trees_stay_finite(name: str) -> None:
    rows = Rows(11)
    rows.X[:] = rows.X[::-1]  # what is left is noise
    shallow = {"name": "tree", "max_depth": 2, "min_samples_leaf": 8}
    model = fit(FORMS[name], rows.X, rows.y, cost_fn=1e9, n_estimators=5000, estimator=shallow)
    assert np.isfinite(model.decision_function(rows.X)).all()
    assert np.isfinite(model.predict_proba(rows.X)).all()


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_fewer_rows_than_folds(name: str, n_classes: int) -> None:
    rows = Rows(2, n_classes)
    last = n_classes - 1
    rows.y[rows.y == last] = 0
    rows.y[:3] = last
    model = CostSensitiveModel(ALGORITHMS[name].cls(n_estimators=5))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis|.* of the training rows")
        model.fit(rows.X, rows.y)
    assert model.n_folds_ == 3
    p = model.predict_proba(rows.X)
    assert ((p > 0) & (p < 1)).all()
    rows.y[1:3] = 0
    with pytest.raises(ValueError, match="at least two rows of each class"):
        model.fit(rows.X, rows.y)
