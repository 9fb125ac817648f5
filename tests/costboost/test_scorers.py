"""Costs as scikit-learn scores, with boosters, models and pipelines, with and without metadata routing."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost.actions import Action, Review
from costboost.boosting.ada_boost import CGAdaClassifier
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.metrics.undefined import UndefinedMetricError
from costboost.model import CostSensitiveModel
from costboost.scorers import CostScorer

COSTS = CostMatrix(cost_fn=6.0, cost_fp=1.0, cost_tp=0.5)
CELLS = np.array([[0.0, 1.0], [6.0, 0.5]])
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def rows(n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    return rng.normal(size=(n, 3)).round(2) + y[:, None], y


def booster(**params: Any) -> CGAdaClassifier:
    return CGAdaClassifier(n_estimators=5, random_state=0, **params)


def test_by_hand() -> None:
    X, y = rows()
    fitted = booster().fit(X, y)
    told = fitted.predict(X)
    weight = np.arange(len(y)) % 3 + 0.0
    paid = CELLS[y, told]
    assert CostScorer(costs=COSTS)(fitted, X, y) == pytest.approx(-paid.mean())
    weighted = CostScorer(costs=COSTS)(fitted, X, y, sample_weight=weight)
    assert weighted == pytest.approx(-np.average(paid, weights=weight))
    least = min(CELLS[y, k].mean() for k in (0, 1))
    assert CostScorer("savings", costs=COSTS)(fitted, X, y) == pytest.approx(1 - paid.mean() / least)
    own = np.random.default_rng(1).random(len(y))
    by_row = CostScorer(costs=COSTS)(fitted, X, y, sample_cost=own)
    assert by_row == pytest.approx(-(own * (told != y)).mean())
    cells = np.tile([6.0, 1.0, 0.5, 0.0], (len(y), 1))
    assert CostScorer()(fitted, X, y, sample_cost=cells) == pytest.approx(-paid.mean())


@pytest.mark.parametrize("names", [("no", "yes"), ("yes", "no")])
def test_the_positive_class_is_the_estimators_or_the_one_named(names: Any) -> None:
    X, y = rows()
    labels = np.array(names)[y]  # the rare class is "yes", then "no"
    fitted = booster(cost_fn=6.0, cost_tp=0.5, pos_label=names[1]).fit(X, labels)
    expected = -CELLS[y, (fitted.predict(X) == names[1]).astype(int)].mean()
    assert CostScorer()(fitted, X, labels) == pytest.approx(expected)
    assert CostScorer(costs=COSTS)(fitted, X, labels) == pytest.approx(expected)
    in_order = CELLS if names[1] == "yes" else CELLS[::-1, ::-1]
    assert CostScorer()(clone(fitted).set_params(cost_matrix=in_order).fit(X, labels), X, labels) < 0
    plain = LogisticRegression().fit(X, labels)
    told = (plain.predict(X) == names[1]).astype(int)
    scorer = CostScorer(costs=COSTS, pos_label=names[1])
    assert scorer(plain, X, labels) == pytest.approx(-CELLS[y, told].mean())
    spec = CostSpec.binary(fn=6, fp=1, tp=0.5, classes=names, positive=1)
    assert CostScorer(costs=spec)(plain, X, labels) == pytest.approx(-CELLS[y, told].mean())
    model = CostSensitiveModel(booster(), costs=spec).fit(X, labels)
    told = (model.predict(X) == names[1]).astype(int)
    assert CostScorer()(model, X, labels) == pytest.approx(-CELLS[y, told].mean())
    four = np.tile([6.0, 1.0, 0.5, 0.0], (len(y), 1))
    assert CostScorer()(model, X, labels, sample_cost=four) == pytest.approx(-CELLS[y, told].mean())


def test_costs_read_columns_and_reviews_cost_what_they_cost() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        amount=np.random.default_rng(2).lognormal(3, 1, len(y))
    )
    labels = np.where(y == 1, "fraud", "legit")
    spec = CostSpec.from_actions(
        ("legit", "fraud"),
        ["approve", "decline", Action("review", None)],
        {("fraud", "approve"): CostCell(per={"amount": 1.0}), ("legit", "decline"): 8.0},
        review=Review(fee=2.0, accuracy=(0.99, 0.9)),
    )
    model = CostSensitiveModel(booster(), costs=spec).fit(frame, labels)
    decided = model.decide(frame).decisions
    assert (decided.label < 0).any()
    own = spec.evaluate({"amount": frame["amount"].to_numpy()}, len(y))[np.arange(len(y)), y]
    assert CostScorer()(model, frame, labels) == pytest.approx(
        -own[np.arange(len(y)), decided.decision].mean()
    )
    saved = 1 - own[np.arange(len(y)), decided.decision].sum() / own[:, :2].sum(axis=0).min()
    assert CostScorer("savings")(model, frame, labels) == pytest.approx(saved)
    dearer = CostScorer(costs=spec.scaled(2.0))(model, frame, labels)
    told = (model.predict(frame) == "fraud").astype(int)
    assert dearer == pytest.approx(-2 * own[np.arange(len(y)), told].mean())


@pytest.mark.parametrize("kind", ["booster", "model", "pipeline"])
def test_cross_validate_and_grid_search_optimise_money(kind: str) -> None:
    X, y = rows()
    cost = np.where(y == 1, 6.0, 1.0) * np.random.default_rng(3).uniform(0.5, 2, len(y))
    weight = np.random.default_rng(4).integers(1, 4, len(y)).astype(float)
    with config_context(enable_metadata_routing=True):
        inner = booster().set_fit_request(sample_cost=True, sample_weight=True)
        estimator, grid = {
            "booster": (inner, {"n_estimators": [1, 8]}),
            "model": (
                CostSensitiveModel(booster()).set_fit_request(sample_cost=True, sample_weight=True),
                {"estimator__n_estimators": [1, 8]},
            ),
            "pipeline": (
                make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner),
                {"cgadaclassifier__n_estimators": [1, 8]},
            ),
        }[kind]
        params = {"sample_cost": cost, "sample_weight": weight}
        found = cross_validate(
            estimator,
            X,
            y,
            cv=FOLDS,
            params=params,
            scoring={"cost": CostScorer(), "saved": CostScorer("savings")},
            return_estimator=True,
        )
        for (_, valid), fitted, score in zip(
            FOLDS.split(X, y), found["estimator"], found["test_cost"], strict=True
        ):
            wrong = fitted.predict(X[valid]) != y[valid]
            assert score == pytest.approx(-np.average(cost[valid] * wrong, weights=weight[valid]))
        assert (found["test_saved"] <= 1).all()
        search = GridSearchCV(estimator, grid, scoring=CostScorer(), cv=FOLDS, error_score="raise")
        search.fit(X, y, **params)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max() < 0
        assert search.score(X, y, **params) == CostScorer()(search.best_estimator_, X, y, **params)


def test_requests_are_scikit_learns() -> None:
    X, y = rows()
    with config_context(enable_metadata_routing=True):
        quiet = CostScorer(costs=COSTS).set_score_request(sample_cost=None)
        assert quiet.set_score_request(sample_weight=False) is quiet
        with pytest.raises(Exception, match="sample_cost"):
            cross_validate(booster(), X, y, cv=FOLDS, scoring=quiet, params={"sample_cost": y + 1.0})
        renamed = CostScorer().set_score_request(sample_cost="price")
        found = cross_validate(
            booster(), X, y, cv=FOLDS, scoring=renamed, params={"price": 3.0 + y}, return_estimator=True
        )
        for (_, valid), fitted, score in zip(
            FOLDS.split(X, y), found["estimator"], found["test_score"], strict=True
        ):
            wrong = fitted.predict(X[valid]) != y[valid]
            assert score == pytest.approx(-((3 + y[valid]) * wrong).mean())
        assert clone(renamed).get_metadata_routing().score.requests["sample_cost"] == "price"
        assert pickle.loads(pickle.dumps(renamed)).metric == "expected_cost"
    # Without routing the costs given to the scorer count.
    found = cross_validate(booster(), X, y, cv=FOLDS, scoring=CostScorer(costs=COSTS), error_score="raise")
    assert (found["test_score"] < 0).all()


def test_three_classes() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 2)) + np.column_stack([y == 1, y == 2])
    matrix = np.array([[0, 1, 2], [5, 0, 1], [9, 3, 0]], dtype=float)
    fitted = booster(cost_matrix=matrix).fit(X, y)
    paid = matrix[y, fitted.predict(X)].mean()
    assert CostScorer()(fitted, X, y) == pytest.approx(-paid)
    assert CostScorer(costs=CostMatrix.from_matrix(matrix))(fitted, X, y) == pytest.approx(-paid)
    assert CostScorer()(fitted, X, y, sample_cost=matrix[y]) == pytest.approx(-paid)
    plain = booster().fit(X, y)
    assert CostScorer()(plain, X, y) == pytest.approx(-(plain.predict(X) != y).mean())


def test_what_cannot_be_scored_is_refused() -> None:
    X, y = rows()
    fitted = booster().fit(X, y)
    with pytest.raises(ValueError, match="the metric is one of"):
        CostScorer("accuracy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has not seen the label"):
        CostScorer()(fitted, X, y + 1)
    with pytest.raises(ValueError, match="no costs of its own"):
        CostScorer()(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="no costs of its own"):
        CostScorer()(booster(cost_matrix="balanced").fit(X, y), X, y)
    with pytest.raises(UndefinedMetricError):
        CostScorer("savings")(fitted, X[y == 0], y[y == 0])
    assert "expected_cost" in repr(CostScorer())
