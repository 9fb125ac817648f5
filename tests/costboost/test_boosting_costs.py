"""The costs that all boosters take, in each form."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from costboost.boosting.ada_boost import CGAdaClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.costs import CostMatrix
from costboost.learners.stump import DecisionStump


class TestCosts:
    @pytest.mark.parametrize(
        "costs",
        [
            {"cost_fn": 4.0, "cost_fp": 2.0, "cost_tp": 1.0, "cost_tn": 0.5},
            {"cost_matrix": [[0.5, 2.0], [4.0, 1.0]]},
            {"cost_matrix": CostMatrix(cost_fn=4.0, cost_fp=2.0, cost_tp=1.0, cost_tn=0.5)},
            {"sample_cost": "regret"},
            {"sample_cost": "cells"},
        ],
    )
    def test_every_way_to_give_costs_is_the_same(self, costs: dict[str, Any], rows: Any) -> None:
        X, y = rows
        by_row = {"regret": np.where(y == 1, 3.0, 1.5), "cells": np.tile([4.0, 2.0, 1.0, 0.5], (300, 1))}
        sample_cost = by_row.get(costs.pop("sample_cost", ""))
        model = CGAdaClassifier(n_estimators=3, record=True, **costs).fit(X, y, sample_cost=sample_cost)
        expected = np.where(y == 1, 3.0, 1.5)
        np.testing.assert_allclose(model.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_matrix_rows_follow_the_classes_whatever_the_positive_one(self, rows: Any) -> None:
        X, y = rows
        costs = [[0.0, 7.0], [2.0, 0.0]]
        for pos_label in (None, 0, 1):
            model = CGAdaClassifier(n_estimators=1, record=True, cost_matrix=costs, pos_label=pos_label).fit(
                X, y
            )
            expected = np.where(y == 0, 7.0, 2.0)
            np.testing.assert_allclose(model.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_balanced_costs_give_classes_equal_weight(self, rows: Any, three: Any) -> None:
        for X, y in (rows, three):
            model = CGAdaClassifier(n_estimators=1, record=True, cost_matrix="balanced").fit(X, y)
            first = model.history_[0]["D"]
            sums = [first[y == k].sum() for k in model.classes_]
            np.testing.assert_allclose(sums, 1 / len(sums), rtol=1e-12)

    def test_rows_with_nothing_to_lose_have_no_weight(self, rows: Any) -> None:
        X, y = rows
        amounts = np.where(np.arange(300) % 3 == 0, 0.0, 5.0)
        exact = CGAdaClassifier(DecisionStump(max_bins=None), n_estimators=5)
        whole = clone(exact).fit(X, y, sample_cost=amounts)
        part = clone(exact).fit(X[amounts > 0], y[amounts > 0])
        np.testing.assert_allclose(whole.estimator_weights_, part.estimator_weights_, rtol=1e-9)

    def test_costs_of_each_decision_per_row(self, three: Any) -> None:
        X, y = three
        codes = np.searchsorted(["a", "b", "c"], y)
        costs = np.random.default_rng(2).uniform(1, 5, (240, 3))
        costs[np.arange(240), codes] = 0.5
        model = CGAdaClassifier(n_estimators=1, record=True).fit(X, y, sample_cost=costs)
        regret = (costs.sum(axis=1) - 0.5) / 2 - 0.5
        np.testing.assert_allclose(model.history_[0]["D"], regret / regret.sum(), rtol=1e-12)
        against = AdaCostClassifier(n_estimators=1, record=True).fit(X, y, sample_cost=costs)
        expected = np.where(y == "a", regret, costs[:, 0] - 0.5)
        np.testing.assert_allclose(against.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_a_class_with_nothing_at_stake_still_has_a_score(self) -> None:
        X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
        costs = np.where(np.eye(3)[y] == 1, 1.0, 2.0)
        costs[:, 0] = np.where(y == 0, 9.0, 0.0)  # class 0: always dear when right, free when wrong
        model = AdaCostClassifier(n_estimators=3).fit(X, y, sample_cost=costs)
        assert np.isfinite(model.decision_function(X)).all()

    def test_rows_that_cost_something_must_have_weight(self) -> None:
        with pytest.raises(ValueError, match="all costs are zero"):
            CGAdaClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0])

    def test_costs_are_routed_through_a_search(self, rows: Any) -> None:
        X, y = rows
        with config_context(enable_metadata_routing=True):
            model = CGAdaClassifier(n_estimators=5).set_fit_request(sample_cost=True)
            search = GridSearchCV(model, {"learning_rate": [0.5, 1.0]}, cv=2)
            search.fit(X, y, sample_cost=np.where(y == 1, 50.0, 1.0))
        assert search.predict(X).mean() > 0.6

    @pytest.mark.parametrize(
        ("parameters", "sample_cost", "message"),
        [
            ({"cost_fn": 0.0}, None, "cost_fn"),
            ({"cost_tp": 2.0}, None, "cost_fn .* must be greater than cost_tp"),
            ({"cost_matrix": "unbalanced"}, None, "'balanced'"),
            ({"cost_matrix": np.ones((3, 3)) - np.eye(3)}, None, "3 classes"),
            ({"cost_fn": math.nan}, None, "cost_fn must be a finite number"),
            ({}, [1.0], "shape"),
            ({}, [1.0, math.inf], "finite"),
            ({}, [1.0, -1.0], "negative"),
            ({}, [0.0, 0.0], "all costs are zero"),
            ({}, [[0.0, 0.0, 1.0, 1.0]] * 2, "all costs are zero"),
            ({"pos_label": 7}, None, "pos_label"),
        ],
    )
    def test_costs_without_sense_are_refused(
        self, parameters: dict[str, Any], sample_cost: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            CGAdaClassifier(**parameters).fit([[0.0], [1.0]], [0, 1], sample_cost=sample_cost)

    def test_named_cells_and_a_positive_label_are_for_two_classes(self, three: Any) -> None:
        with pytest.raises(ValueError, match="use cost_matrix"):
            CGAdaClassifier(cost_fn=3.0).fit(*three)
        with pytest.raises(ValueError, match="two classes"):
            CGAdaClassifier(pos_label="a").fit(*three)
