"""Weights kind by kind are those row by row, and the same bits come out however they are reckoned."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from costboost.boosting import _base
from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._kinds import KindByKind, weighing_of
from costboost.boosting._rounds import RowByRow
from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier, CGAdaClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.boosting.ada_u_boost import AdaUBoostClassifier
from costboost.boosting.asym_boost import AsymBoostClassifier
from costboost.learners import ledger
from tests.costboost import naive_boosters as naive

Rows = tuple[NDArray[Any], NDArray[Any]]

BOOSTERS: dict[str, tuple[type[CostSensitiveBooster], dict[str, Any]]] = {
    "adaboost": (AdaBoostClassifier, {}),
    "slow adaboost": (AdaBoostClassifier, {"learning_rate": 0.1}),
    "adamec": (AdaMECClassifier, {}),
    "cgada": (CGAdaClassifier, {}),
    "asymboost": (AsymBoostClassifier, {}),
    "adauboost": (AdaUBoostClassifier, {}),
    "adacost": (AdaCostClassifier, {}),
    "adacost karakoulas": (AdaCostClassifier, {"beta": "karakoulas"}),
}


def rows(n: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.5).astype(int)
    X[:, 2] = np.where(rng.random(n) < 0.8, 0.0, X[:, 2])
    X[:, 3] = rng.integers(0, 4, n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def made(name: str, **parameters: Any) -> CostSensitiveBooster:
    cls, own = BOOSTERS[name]
    return cls(**{"n_estimators": 30, "cost_fn": 7.0} | own | parameters)


def voted(model: CostSensitiveBooster) -> list[tuple[Any, ...]]:
    """All that the vote depends on, to the bit."""
    stumps = [(s.feature_, s.cut_, s.below_, s.above_, s.missing_) for s in model.estimators_]
    return list(zip(stumps, model.estimator_weights_.tolist(), model.estimator_errors_.tolist(), strict=True))


@pytest.fixture(name="row_by_row")
def row_by_row_fixture(monkeypatch: pytest.MonkeyPatch) -> Any:
    def fit(model: CostSensitiveBooster, *given: Any, **more: Any) -> CostSensitiveBooster:
        with monkeypatch.context() as patch:
            patch.setattr(_base, "weighing_of", RowByRow)
            return model.fit(*given, **more)

    return fit


@pytest.mark.parametrize("name", BOOSTERS)
def test_trees_kind_by_kind_are_those_row_by_row(name: str, row_by_row: Any) -> None:
    X, y = rows(1500)
    parameters: dict[str, Any] = {"estimator": {"name": "tree", "max_depth": 2}, "n_estimators": 12}
    if name.startswith("adacost"):
        parameters["response"] = "sign"
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = made(name, record=True, **parameters).fit(X, y, sample_weight=weights)
    oracle = row_by_row(made(name, record=True, **parameters), X, y, sample_weight=weights)
    for one, other in zip(model.estimators_, oracle.estimators_, strict=True):
        assert one.tree_.cut.tolist() == other.tree_.cut.tolist()
        assert one.tree_.feature.tolist() == other.tree_.feature.tolist()
    for values, expected in zip(model.history_, oracle.history_, strict=True):
        for key in expected:
            np.testing.assert_allclose(values[key], expected[key], rtol=1e-9, atol=1e-14, err_msg=key)
    order = np.random.default_rng(2).permutation(len(y))
    shuffled = made(name, **parameters).fit(X[order], y[order], sample_weight=weights[order])
    assert shuffled.estimator_weights_.tolist() == model.estimator_weights_.tolist()


@pytest.mark.parametrize("name", BOOSTERS)
def test_kind_by_kind_is_row_by_row(name: str, row_by_row: Any) -> None:
    X, y = rows(3000)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = made(name, record=True).fit(X, y, sample_weight=weights)
    oracle = row_by_row(made(name, record=True), X, y, sample_weight=weights)
    assert [stump for stump, *_ in voted(model)] == [stump for stump, *_ in voted(oracle)]
    assert model.stop_reason_ == oracle.stop_reason_
    for values, expected in zip(model.history_, oracle.history_, strict=True):
        assert values.keys() == expected.keys()
        for key in expected:
            np.testing.assert_allclose(values[key], expected[key], rtol=1e-9, atol=1e-14, err_msg=key)


@pytest.mark.parametrize("costs", [[1.0, 4.0], [0.0, 1.0, 2.0, 9.0]])
def test_rows_of_few_costs_are_of_few_kinds(costs: list[float], row_by_row: Any) -> None:
    X, y = rows(600)
    sample_cost = np.random.default_rng(2).choice(costs, len(y))
    for name in ("cgada", "asymboost", "adacost"):
        model = made(name, n_estimators=10).fit(X, y, sample_cost=sample_cost)
        oracle = row_by_row(made(name, n_estimators=10), X, y, sample_cost=sample_cost)
        assert [stump for stump, *_ in voted(model)] == [stump for stump, *_ in voted(oracle)]
        np.testing.assert_allclose(model.estimator_weights_, oracle.estimator_weights_, rtol=1e-10)


def test_who_is_weighed_kind_by_kind() -> None:
    X, y = rows(300)

    def weighing(model: CostSensitiveBooster, **given: Any) -> type:
        seen: list[type] = []

        def watched(*parts: Any) -> Any:
            seen.append(type(weighing_of(*parts)))
            return weighing_of(*parts)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_base, "weighing_of", watched)
            model.fit(X, y, **given)
        return seen[0]

    for name in BOOSTERS:
        assert weighing(made(name)) is KindByKind
    amounts = np.random.default_rng(3).random(len(y))
    assert weighing(made("cgada"), sample_cost=amounts) is KindByKind  # costs are in the first weights alone
    assert weighing(made("adacost"), sample_cost=amounts) is RowByRow
    assert weighing(made("adacost", update="unrolled")) is RowByRow
    assert weighing(made("adacost", beta=lambda correct, cost: 0.5 + 0.0 * cost)) is RowByRow
    assert weighing(made("adaboost", estimator={"name": "tree"})) is KindByKind
    assert weighing(made("adacost", estimator={"name": "tree"})) is RowByRow  # it says probabilities


@pytest.mark.parametrize("name", BOOSTERS)
def test_sums_brought_up_to_date_and_made_anew_give_the_same_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows(2000)
    outcomes = []
    for many in (-1.0, 0.35, 2.0):
        monkeypatch.setattr(ledger, "_MANY", many)
        outcomes.append(voted(made(name).fit(X, y)))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len(outcomes[0]) == (1 if name == "adauboost" else 30)


@pytest.mark.filterwarnings("ignore:.*kept no hypothesis")
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(BOOSTERS)))
def test_the_order_of_rows_changes_no_bit(seed: int, name: str) -> None:
    X, y = rows(60, seed % 100)
    order = np.random.default_rng(seed).permutation(60)
    one, other = made(name, n_estimators=8), made(name, n_estimators=8)
    assert voted(one.fit(X, y)) == voted(other.fit(X[order], y[order]))


@pytest.mark.parametrize("name", ["cgada", "asymboost"])
def test_the_formula_is_that_of_plain_python(name: str) -> None:
    X, y = rows(200)
    model = made(name, n_estimators=12, record=True).fit(X, y)
    formula = {"cgada": naive.CGAda, "asymboost": naive.AsymBoost}[name]
    sign = np.where(y == 1, 1, -1)
    booster = formula(sign.tolist(), [1.0] * 200, np.where(y == 1, 7.0, 1.0).tolist(), 12)
    history, _ = booster.rounds([values["h"].tolist() for values in model.history_])
    for values, expected in zip(model.history_, history, strict=True):
        np.testing.assert_allclose(values["D"], expected["D"], rtol=1e-10)
        np.testing.assert_allclose(values["alpha"], expected["alpha"], rtol=1e-10)


def test_a_warm_start_goes_on_from_the_very_weights() -> None:
    X, y = rows(500)
    for name in ("adaboost", "adacost"):
        once = made(name, n_estimators=20).fit(X, y)
        grown = made(name, n_estimators=7, warm_start=True).fit(X, y)
        assert voted(grown.set_params(n_estimators=20).fit(X, y)) == voted(once)
