"""Early stopping and warm starts, for every algorithm of the registry."""

import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._early_stopping import parts_of
from costboost.boosting._problem import Problem
from costboost.boosting.ada_boost import AdaBoostClassifier, AdaBoostRule
from costboost.learners.stump import DecisionStump
from costboost.registry import ALGORITHMS, make

NAMES = sorted(ALGORITHMS)
each_name = pytest.mark.parametrize("name", NAMES)


def rows(n: int = 300, n_classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    y = np.digitize(X[:, 0] + X[:, 1] + 1.5 * rng.normal(size=n), np.linspace(0.5, 1.5, n_classes - 1))
    return X, y


def booster(name: str, **params: Any) -> CostSensitiveBooster:
    return make(name, {"estimator": DecisionStump(), "random_state": 0} | params)


def fit(model: CostSensitiveBooster, X: Any, y: Any, **more: Any) -> CostSensitiveBooster:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis|.* of the training rows")
        return model.fit(X, y, **more)


def goes_on(name: str) -> bool:
    return not make(name)._spreads_costs_over_rounds


def slow_cost(score: Any, y: Any, cost_fn: float, cost_fp: float) -> float:
    """Least mean cost over all thresholds, one after another."""
    cuts = [-np.inf, *np.unique(score)]
    return min(np.where(score > cut, cost_fp * (y == 0), cost_fn * (y == 1)).mean() for cut in cuts)


@each_name
def test_every_algorithm_offers_it(name: str) -> None:
    offered = inspect.signature(ALGORITHMS[name].cls).parameters.keys()
    assert {"early_stopping", "validation_fraction", "warm_start"} <= offered
    asked = ALGORITHMS[name].parameters["properties"]
    assert asked["early_stopping"]["default"] is None
    assert "warm_start" not in asked


@each_name
def test_the_rounds_up_to_the_cheapest_are_kept(name: str) -> None:
    X, y = rows()
    model = fit(booster(name, n_estimators=60, early_stopping=5, validation_fraction=0.3, cost_fn=3.0), X, y)
    costs, kept = model.validation_cost_, len(model.estimators_)
    assert kept == np.flatnonzero(costs <= costs.min() + 1e-12)[0] + 1
    if model.stop_reason_ == "early_stopping":
        assert len(costs) == kept + 5 <= 60
    else:
        assert len(costs) < kept + 5
    assert np.isfinite(model.decision_function(X)).all()


def test_the_cost_of_each_round_is_that_of_the_cheapest_threshold() -> None:
    X, y = rows()
    model = booster("cgada", n_estimators=30, early_stopping=30, validation_fraction=0.3, cost_fn=4.0)
    seen: list[Any] = []
    model.fit(X, y, callback=lambda *said: seen.append(said[2]["valid_expected_cost"]))
    seeds = np.random.RandomState(0)
    seeds.randint(2**31 - 1)
    problem = model._read_problem(y, np.full(len(y), 1 / len(y)), None)
    train, apart = parts_of(X, problem, 0.3, groups=None, times=None, seed=seeds.randint(2**31 - 1))
    assert sorted([*train, *apart]) == list(range(len(y)))
    whole = booster("cgada", n_estimators=30, cost_fn=4.0).fit(X[train], y[train])
    expected = [slow_cost(score, y[apart], 4.0, 1.0) for score in whole.staged_decision_function(X[apart])]
    np.testing.assert_allclose(model.validation_cost_, expected, rtol=1e-12)
    assert model.stop_reason_ == "max_rounds"
    assert len(seen) == 30 > len(model.estimators_)
    assert seen == model.validation_cost_.tolist()
    kept = len(model.estimators_)
    np.testing.assert_array_equal(model.estimator_weights_, whole.estimator_weights_[:kept])


@pytest.mark.parametrize("name", [name for name in NAMES if goes_on(name)])
def test_what_is_kept_is_what_a_fit_planned_so_short_gives(name: str) -> None:
    X, y = rows(150)
    model = fit(booster(name, n_estimators=25, early_stopping=25), X, y)
    short = fit(booster(name, n_estimators=len(model.estimators_), early_stopping=25), X, y)
    np.testing.assert_allclose(model.decision_function(X), short.decision_function(X), atol=1e-9)


class Shares(AdaBoostRule):
    """Gives all votes anew in each round: shares of their sum."""

    def final_votes(self, alphas: list[float]) -> list[float]:
        return [alpha**2 / sum(alphas) for alpha in alphas]


class SharesClassifier(AdaBoostClassifier):
    def _rule(self, problem: Problem) -> Shares:
        return Shares(problem.sign, problem.weights)


def test_votes_given_anew_are_those_of_the_cheapest_round() -> None:
    X, y = rows()
    params: dict[str, Any] = {"n_estimators": 20, "early_stopping": 20, "random_state": 0}
    model = SharesClassifier(**params).fit(X, y)
    assert 2 < len(model.estimators_) < 20
    shorter = [SharesClassifier(**params | {"n_estimators": t}).fit(X, y) for t in range(1, 21)]
    own = [short.validation_cost_[-1] for short in shorter]
    np.testing.assert_allclose(model.validation_cost_, own, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if goes_on(name)])
def test_answers_are_kept_only_where_votes_are_given_anew(name: str) -> None:
    X, y = rows()
    model = fit(booster(name, n_estimators=6, early_stopping=9, warm_start=True), X, y)
    given_anew = name in ("adaboost_nu", "lpboost", "softboost", "softbandboost")
    kept = len(model._course.watch._answers)
    assert kept > 0 if given_anew else kept <= 1


def test_costs_and_weights_of_the_rows_count_aside_too() -> None:
    X, y = rows()
    cost, weight = np.where(y == 1, 7.0, 1.0), np.ones(len(y))
    by_class = booster("cgada", early_stopping=3, cost_fn=7.0).fit(X, y)
    by_row = booster("cgada", early_stopping=3).fit(X, y, sample_cost=cost, sample_weight=3 * weight)
    np.testing.assert_allclose(by_row.validation_cost_, by_class.validation_cost_, rtol=1e-9)
    dear = booster("cgada", early_stopping=3, cost_fn=700.0, cost_fp=100.0).fit(X, y)
    np.testing.assert_allclose(dear.validation_cost_, 100 * by_class.validation_cost_, rtol=1e-9)


@pytest.mark.parametrize("name", ["cgada", "adacost"])
def test_many_classes_stop_early_as_a_vote_or_each_for_itself(name: str) -> None:
    X, y = rows(400, 3)
    model = fit(booster(name, n_estimators=200, early_stopping=4, validation_fraction=0.25), X, y)
    machines = [model] if model.machines_ is None else model.machines_
    assert len(machines) == (1 if name == "cgada" else 3)
    for machine in machines:
        assert machine.stop_reason_ == "early_stopping"
        assert len(machine.validation_cost_) == len(machine.estimators_) + 4
    assert model.stop_reason_ == "early_stopping"


def test_groups_and_the_latest_rows_are_set_aside_whole() -> None:
    X, y = rows()
    problem = booster("cgada")._read_problem(y, np.full(len(y), 1 / len(y)), None)
    groups, times = np.arange(len(y)) // 10, np.arange(len(y)) / 3
    train, apart = parts_of(X, problem, 0.2, groups=groups, times=None, seed=1)
    assert not {*groups[train]} & {*groups[apart]}
    train, apart = parts_of(X, problem, 0.2, groups=None, times=times, seed=1)
    assert times[train].max() < times[apart].min()
    train, apart = parts_of(X, problem, 0.2, groups=None, times=None, seed=1)
    assert abs(y[apart].mean() - y.mean()) < 0.02
    first = booster("cgada", early_stopping=5).fit(X, y, groups=groups)
    assert first.validation_cost_.size
    assert booster("cgada", early_stopping=5).fit(X, y, times=times).validation_cost_.size


def test_the_order_of_the_rows_changes_no_bit() -> None:
    X, y = rows()
    order = np.random.default_rng(1).permutation(len(y))
    one = booster("cgada", early_stopping=5).fit(X, y)
    other = booster("cgada", early_stopping=5).fit(X[order], y[order])
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()


def test_what_cannot_be_set_aside_is_refused() -> None:
    X, y = rows()
    model = booster("cgada", early_stopping=5)
    with pytest.raises(ValueError, match="not by both"):
        model.fit(X, y, groups=y, times=y)
    with pytest.raises(ValueError, match="groups must have shape"):
        model.fit(X, y, groups=y[1:])
    with pytest.raises(ValueError, match="at least two rows of each class"):
        model.fit(X[:20], np.arange(20) == 0)
    with pytest.raises(ValueError, match="lack a class"):
        model.fit(X, y, times=y)
    with pytest.raises(ValueError, match="early_stopping must be"):
        clone(model).set_params(early_stopping=0).fit(X, y)


def test_a_weak_learner_of_others_is_asked_about_the_rows_set_aside() -> None:
    X, y = rows()
    model = booster("cgada", estimator=LogisticRegression(), early_stopping=2, n_estimators=20)
    assert len(fit(model, X, y).validation_cost_) >= 1


def test_sparse_rows_and_rows_of_text_are_set_aside_too() -> None:
    X, y = rows()
    model = booster("cgada", estimator=LogisticRegression(), early_stopping=2, n_estimators=20)
    assert len(fit(model, csr_array(X), y).validation_cost_) >= 1
    words = X.astype(str).astype(object)
    tree = make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        DecisionTreeClassifier(max_depth=1),
    )
    model = booster("cgada", estimator=tree, early_stopping=2, n_estimators=5)
    assert len(fit(model, words, y).validation_cost_) >= 1


# Warm starts


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("stopping", [None, 4])
@pytest.mark.parametrize("name", [name for name in NAMES if goes_on(name)])
def test_going_on_gives_what_one_longer_fit_gives(name: str, stopping: int | None, n_classes: int) -> None:
    X, y = rows(150, n_classes)
    params = {"early_stopping": stopping, "record": True}
    whole = fit(booster(name, n_estimators=12, **params), X, y)
    parts = booster(name, n_estimators=1, warm_start=True, **params)
    for rounds in (1, 5, 5, 12):
        fit(parts.set_params(n_estimators=rounds), X, y)
    assert parts.stop_reason_ == whole.stop_reason_
    assert parts.estimator_weights_.tobytes() == whole.estimator_weights_.tobytes()
    assert parts.decision_function(X).tobytes() == whole.decision_function(X).tobytes()
    assert len(parts.history_) == len(whole.history_)


def test_going_on_after_a_callback_stopped_it_and_after_a_pickle() -> None:
    X, y = rows()
    whole = booster("cgada", n_estimators=10).fit(X, y)
    model = booster("cgada", n_estimators=10, warm_start=True).fit(X, y, callback=lambda t, *_: t == 4)
    assert model.stop_reason_ == "cancelled"
    seen: list[int] = []
    again = pickle.loads(pickle.dumps(model))
    again.fit(X, y, callback=lambda t, *_: seen.append(t))
    assert seen == [5, 6, 7, 8, 9, 10]
    assert again.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


def test_a_warm_start_with_other_rows_or_parameters_is_refused() -> None:
    X, y = rows()
    model = booster("cgada", n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="rows, weights and costs it began with"):
        model.fit(X[1:], y[1:])
    with pytest.raises(ValueError, match="rows, weights and costs it began with"):
        model.set_params(cost_fn=2.0).fit(X, y)
    with pytest.raises(ValueError, match="learning_rate has changed"):
        model.set_params(cost_fn=1.0, learning_rate=0.5).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators >= 3"):
        model.set_params(learning_rate=1.0, n_estimators=2).fit(X, y)
    model.set_params(warm_start=False).fit(X[1:], y[1:])
    assert not any(name in vars(model) for name in ("_start", "_course", "_rngs"))
    asym = booster("asymboost", n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="planned rounds"):
        asym.set_params(n_estimators=4).fit(X, y)


def test_what_a_callback_raises_leaves_nothing_to_go_on_with() -> None:
    X, y = rows()

    def give_up(number: int, *_: Any) -> None:
        if number == 2:
            raise KeyboardInterrupt

    model = booster("cgada", n_estimators=5, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, callback=give_up)
    model.fit(X, y)
    whole = booster("cgada", n_estimators=5).fit(X, y)
    assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


def test_a_fit_that_is_over_holds_no_training_rows() -> None:
    X, y = rows(3000)
    model = booster("adacost", n_estimators=3, early_stopping=2).fit(X, y)
    assert len(pickle.dumps(model)) < 20_000
