"""PCADA and PADA over their own weak learner, the weighted SVM."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from costboost.boosting.gentle import GCADAClassifier, MCADAClassifier
from costboost.boosting.pcada import PCADAClassifier
from costboost.boosting.penalized import PenalizedAdaBoostClassifier
from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM

Rows = tuple[NDArray[np.float64], NDArray[Any]]


@pytest.fixture(name="rows", scope="module")
def imbalanced() -> Rows:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(240) < 30, "yes", "no")
    X = rng.normal(size=(240, 3)) * [1.0, 100.0, 0.01]
    X[y == "yes", 0] += 1.5
    X[y == "yes", 1] += 120.0
    return X, y


def g_mean(model: Any, rows: Rows) -> float:
    X, y = rows
    right = model.predict(X) == y
    return float(np.sqrt(right[y == "yes"].mean() * right[y == "no"].mean()))


@pytest.mark.parametrize("base", ["linear", "rbf", "poly"])
def test_each_kernel_finds_the_minority(base: Any, rows: Rows) -> None:
    model = PCADAClassifier(base=base, n_estimators=6).fit(*rows)
    assert all(isinstance(svm, WeightedSVM) and svm.kernel == base for svm in model.estimators_)
    assert model.terms_ is None
    assert g_mean(model, rows) > 0.75


def test_the_score_is_the_sum_of_outputs_by_side(rows: Rows) -> None:
    X = rows[0]
    model = PCADAClassifier(n_estimators=5, learning_rate=0.5, pos_label="no").fit(*rows)
    score = np.zeros(len(X))
    for svm, (named, other) in zip(model.estimators_, model.estimator_values_, strict=True):
        score = score - np.where(svm.predict(X) == "no", named, other)  # scores point to "yes"
    np.testing.assert_array_equal(model.decision_function(X), score)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, score)
    one_by_one = [model.decision_function(row[None])[0] for row in X[:20]]
    np.testing.assert_allclose(one_by_one, score[:20], rtol=1e-12)


def test_the_parameters_reach_the_machine(rows: Rows) -> None:
    asked: dict[str, Any] = {"lambda1": 0.2, "lambda2": 0.5, "p": 0.3, "gamma": 0.7, "eta": 0.01}
    asked |= {"n_epochs": 3, "solver": "sgd", "fit_intercept": False}
    svm = PCADAClassifier(base="rbf", n_estimators=1, **asked).fit(*rows).estimators_[0]
    assert {name: svm.get_params()[name] for name in asked} == asked
    default = PCADAClassifier(n_estimators=1).fit(*rows).estimators_[0].get_params()
    assert default == WeightedSVM(random_state=default["random_state"]).get_params()


def test_literal_overrules_what_is_not_printed(rows: Rows) -> None:
    model = PCADAClassifier(literal=True, p=0.5, weighted_start=True, n_estimators=4, record=True)
    model.fit(*rows)
    svm = model.estimators_[0]
    assert (svm.solver, svm.fit_intercept, svm.p) == ("svrg", False, 0.5)
    np.testing.assert_allclose(model.history_[0]["D"], 1 / 240, rtol=1e-12)
    first = model.history_[0]
    started_anew = first["reset"] > 0
    assert started_anew.any()
    kept = first["D_raw"][~started_anew] / first["D_next"][~started_anew]
    np.testing.assert_allclose(1.0 / first["D_next"][started_anew], kept[0], rtol=1e-9)


def test_a_weak_learner_goes_before_the_base(rows: Rows) -> None:
    for model in (
        PCADAClassifier(DecisionStump(), base="rbf", n_estimators=3),
        PCADAClassifier(estimator=DecisionStump(), n_estimators=3),
        PCADAClassifier(base=DecisionStump(), n_estimators=3),
    ):
        assert clone(model).fit(*rows).terms_ is not None
        assert all(isinstance(stump, DecisionStump) for stump in model.fit(*rows).estimators_)


@pytest.mark.parametrize("solver", ["dual", "svrg", "sgd"])
def test_a_seed_gives_the_same_machines(solver: Any, rows: Rows) -> None:
    one, other = (
        PCADAClassifier(solver=solver, n_estimators=3, n_epochs=3, random_state=4).fit(*rows)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.decision_function(rows[0]), other.decision_function(rows[0]))


def test_parameters_out_of_bounds_are_refused(rows: Rows) -> None:
    X, y = rows
    with pytest.raises(ValueError, match="infinity"):
        PCADAClassifier().fit(np.where(X > 2.5, np.inf, X), y)
    for wrong in ({"base": "cubic"}, {"p": 1.5}, {"gamma": "wide"}, {"tau": 0.0}, {"cost_ratio": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PCADAClassifier(**wrong).fit(X, y)


def test_the_boosters_of_the_comparison_run_over_machines(rows: Rows) -> None:
    plain, weighted = WeightedSVM(solver="sgd", n_epochs=5), WeightedSVM(solver="svrg", p=0.5, n_epochs=5)
    for model in (
        PenalizedAdaBoostClassifier(plain, n_estimators=4, random_state=0),  # PADA
        GCADAClassifier(weighted, n_estimators=4, random_state=0),
        MCADAClassifier(weighted, n_estimators=4, random_state=0),
    ):
        model.fit(*rows)
        assert model.estimator_values_.shape == (4, 2)
        assert len({id(svm) for svm in model.estimators_}) == 4
    assert g_mean(GCADAClassifier(weighted, n_estimators=4).fit(*rows), rows) > 0.75


def test_many_classes_are_told_from_the_rest_with_their_own_balance() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [120, 60, 20])
    X = rng.normal(size=(200, 2)) + np.array([[0, 0], [3, 0], [0, 3]])[y]
    model = PCADAClassifier(n_estimators=4, record=True).fit(X, y)
    for values in model.history_[::4]:
        rest = [80 / 120, 140 / 60, 180 / 20][values["class"]]
        C = values["C"][y == values["class"]]
        assert ((rest * 1.0179 < C) & (rest * 1.5 >= C)).all()
    assert model.score(X, y) > 0.8
