"""What must hold for every algorithm of the registry, whatever the data."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting._base import CostSensitiveBooster
from costboost.costs import CostMatrix
from costboost.learners.stump import DecisionStump
from costboost.registry import ALGORITHMS, DEFAULT_ALGORITHM, TRAINABLE, find, make
from tests.costboost.every_algorithm import FORMS, Rows, few, fit

each_class = pytest.mark.parametrize("cls", FORMS.values(), ids=FORMS)

#: Parameters under which an algorithm is AdaBoost when every mistake costs 1.
LIKE_ADABOOST: dict[str, dict[str, Any]] = {
    "adaboost": {},
    "adac1": {},
    "adac2": {},
    "adac3": {},
    "adacost": {"beta": "karakoulas", "v": 1.0},
    "adamec": {},
    "adauboost": {},
    "asymboost": {},
    "cgada": {},
    "csb2": {},
}

#: Algorithms whose formula treats the classes differently even after they are swapped with their costs.
ONE_SIDED = frozenset({"adauboost", "mcada", "pcada"})


seeds = st.integers(0, 2**32 - 1)
rows_of_three = st.builds(Rows, seeds, n_classes=st.just(3), missing=st.sampled_from([0.0, 0.2]))
rows_of_two = st.builds(Rows, seeds, missing=st.sampled_from([0.0, 0.2]))
complete_rows = st.builds(Rows, seeds)


def assert_same(one: CostSensitiveBooster, other: CostSensitiveBooster, X: Any, rtol: float = 1e-8) -> None:
    assert one.stop_reason_ == other.stop_reason_
    np.testing.assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=rtol)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=rtol, atol=1e-9)


@pytest.mark.parametrize("name", LIKE_ADABOOST)
@few
@given(rows=rows_of_two)
def test_equal_costs_give_adaboost(name: str, rows: Rows) -> None:
    plain = fit(ALGORITHMS["adaboost"].cls, rows.X, rows.y)
    ours = fit(FORMS[name], rows.X, rows.y, **LIKE_ADABOOST[name])
    # AdaCost clips the edge of a perfect hypothesis where AdaBoost clips its error.
    if plain.stop_reason_ != "perfect" or name != "adacost":
        np.testing.assert_allclose(ours.estimator_weights_, plain.estimator_weights_, rtol=1e-10)
        np.testing.assert_allclose(
            ours.decision_function(rows.X), plain.decision_function(rows.X), atol=1e-12
        )


@few
@given(rows=rows_of_two)
def test_integer_costs_of_cgada_are_copies_under_adaboost(rows: Rows) -> None:
    copies = np.repeat(np.arange(len(rows.y)), rows.cost.astype(int))
    weighted = fit(ALGORITHMS["cgada"].cls, rows.X, rows.y, rows.cost)
    repeated = fit(ALGORITHMS["adaboost"].cls, rows.X[copies], rows.y[copies])
    assert_same(weighted, repeated, rows.X)


@each_class
@few
@given(rows=rows_of_two, exponent=st.sampled_from([-8, 0, 8]))
def test_weights_are_a_finite_distribution_in_every_round(cls: Any, rows: Rows, exponent: int) -> None:
    costs = np.where(rows.y == 1, 10.0**exponent, 1.0)
    model = fit(cls, rows.X, rows.y, costs, record=True, n_estimators=40)
    for values in model.history_:
        for name in ("D", "D_next"):
            assert np.isfinite(values[name]).all()
            assert (values[name] >= 0).all()
            assert abs(values[name].sum() - 1.0) <= 1e-12


@each_class
def test_a_thousand_rounds_stay_finite(cls: Any) -> None:
    rows = Rows(7)
    for ratio in (1e-8, 1.0, 1e8):
        model = fit(cls, rows.X, rows.y, np.where(rows.y == 1, ratio, 1.0), record=True, n_estimators=1000)
        if model.estimators_:
            last = model.history_[-1]["D_next"]
            assert np.isfinite(last).all()
            assert abs(last.sum() - 1.0) <= 1e-12
        assert np.isfinite(model.predict_proba(rows.X)).all()


@each_class
@few
@given(rows=rows_of_two, factor=st.sampled_from([1e-6, 1 / 3, 7.0, 1e9]))
def test_the_currency_does_not_matter(cls: Any, rows: Rows, factor: float) -> None:
    assert_same(fit(cls, rows.X, rows.y, rows.cost), fit(cls, rows.X, rows.y, rows.cost * factor), rows.X)
    cells = {"cost_fn": 5.0, "cost_fp": 2.0, "cost_tp": 1.0, "cost_tn": 0.5}
    scaled = {name: cost * factor for name, cost in cells.items()}
    assert_same(fit(cls, rows.X, rows.y, **cells), fit(cls, rows.X, rows.y, **scaled), rows.X)


@each_class
@few
@given(rows=rows_of_two)
def test_the_order_of_rows_does_not_change_a_bit(cls: Any, rows: Rows) -> None:
    order = rows.order
    one = fit(cls, rows.X, rows.y, rows.cost, record=True, sample_weight=rows.copies)
    other = fit(
        cls, rows.X[order], rows.y[order], rows.cost[order], record=True, sample_weight=rows.copies[order]
    )
    assert np.array_equal(one.decision_function(rows.X), other.decision_function(rows.X))
    for before, after in zip(one.history_, other.history_, strict=True):
        assert np.array_equal(before["D_next"][order], after["D_next"])


@pytest.mark.parametrize("name", sorted(set(FORMS) - ONE_SIDED))
@few
@given(rows=complete_rows)
def test_swapping_the_classes_with_their_costs_flips_the_score(name: str, rows: Rows) -> None:
    cells = {"cost_fn": 5.0, "cost_fp": 2.0, "cost_tp": 1.0, "cost_tn": 0.5}
    swapped = {"cost_fn": 2.0, "cost_fp": 5.0, "cost_tp": 0.5, "cost_tn": 1.0}
    cls = FORMS[name]
    one, other = fit(cls, rows.X, rows.y, **cells), fit(cls, rows.X, 1 - rows.y, **swapped)
    if one.estimators_:  # the constant of a tie is the negative class of both
        np.testing.assert_allclose(one.decision_function(rows.X), -other.decision_function(rows.X), atol=1e-9)
        assert one.vote_threshold_ == pytest.approx(-other.vote_threshold_)


@each_class
def test_separable_rows_stop_after_the_first_perfect_learner(cls: Any) -> None:
    X = np.arange(12.0)[:, None]
    y = (X[:, 0] > 5).astype(int)
    model = fit(cls, X, y, cost_fn=5.0)
    assert model.stop_reason_ == "perfect"
    assert len(model.estimators_) == 1
    p = model.predict_proba(X)
    assert ((p > 0) & (p < 1)).all()
    assert model.predict(X).tolist() == y.tolist()


@each_class
@few
@given(rows=rows_of_two)
def test_an_integer_weight_is_so_many_copies(cls: Any, rows: Rows) -> None:
    copies = np.repeat(np.arange(len(rows.y)), rows.copies)
    weighted = fit(cls, rows.X, rows.y, rows.cost, sample_weight=rows.copies)
    repeated = fit(cls, rows.X[copies], rows.y[copies], rows.cost[copies])
    assert_same(weighted, repeated, rows.X)


@each_class
@few
@given(rows=rows_of_two)
def test_all_weights_times_seven_change_nothing(cls: Any, rows: Rows) -> None:
    one = fit(cls, rows.X, rows.y, rows.cost, sample_weight=rows.copies)
    other = fit(cls, rows.X, rows.y, rows.cost, sample_weight=7 * rows.copies)
    assert_same(one, other, rows.X)


@each_class
@settings(few, max_examples=5)
@given(rows=rows_of_two)
def test_the_laws_of_weights_and_of_currency_hold_over_trees(cls: Any, rows: Rows) -> None:
    over_trees = {"estimator": {"name": "tree", "max_depth": 3}, "n_estimators": 6}
    copies = np.repeat(np.arange(len(rows.y)), rows.copies)
    model = fit(cls, rows.X, rows.y, rows.cost, sample_weight=rows.copies, **over_trees)
    for other in (
        fit(cls, rows.X[copies], rows.y[copies], rows.cost[copies], **over_trees),
        fit(cls, rows.X, rows.y, rows.cost, sample_weight=7 * rows.copies, **over_trees),
        fit(cls, rows.X, rows.y, 7 * rows.cost, sample_weight=rows.copies, **over_trees),
    ):
        assert_same(model, other, rows.X)


@each_class
@few
@given(rows=rows_of_two)
def test_a_row_of_weight_zero_is_not_there(cls: Any, rows: Rows) -> None:
    weights = np.where(rows.copies == 1, 0, 1)
    weights[:2] = 1
    kept = weights > 0
    one = fit(cls, rows.X, rows.y, rows.cost, sample_weight=weights)
    other = fit(cls, rows.X[kept], rows.y[kept], rows.cost[kept])
    assert_same(one, other, rows.X)


@each_class
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_alone_scores_as_in_a_batch(cls: Any, n_classes: int) -> None:
    rows = Rows(3, n_classes, missing=0.2)
    model = fit(cls, rows.X, rows.y)
    for method in (model.decision_function, model.predict_proba, model.predict):
        together = method(rows.X)
        alone = np.concatenate([method(row[None]) for row in rows.X])
        assert np.array_equal(together, alone)


@each_class
@few
@given(rows=rows_of_two)
def test_binary_cells_and_a_matrix_say_the_same(cls: Any, rows: Rows) -> None:
    one = fit(cls, rows.X, rows.y, cost_fn=7.0, cost_fp=2.0)
    other = fit(cls, rows.X, rows.y, cost_matrix=[[0.0, 2.0], [7.0, 0.0]])
    assert np.array_equal(one.decision_function(rows.X), other.decision_function(rows.X))


@each_class
@few
@given(rows=rows_of_three)
def test_the_laws_hold_for_many_classes(cls: Any, rows: Rows) -> None:
    costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 4.0], [8.0, 6.0, 0.0]])
    copies, order = np.repeat(np.arange(len(rows.y)), rows.copies), rows.order
    model = fit(cls, rows.X, rows.y, cost_matrix=costs, sample_weight=rows.copies, n_estimators=5)
    for other in (
        fit(cls, rows.X[copies], rows.y[copies], cost_matrix=costs, n_estimators=5),
        fit(cls, rows.X, rows.y, cost_matrix=costs, sample_weight=7 * rows.copies, n_estimators=5),
        fit(cls, rows.X, rows.y, cost_matrix=1e6 * costs, sample_weight=rows.copies, n_estimators=5),
    ):
        assert_same(model, other, rows.X)
    shuffled = fit(
        cls,
        rows.X[order],
        rows.y[order],
        cost_matrix=costs,
        sample_weight=rows.copies[order],
        n_estimators=5,
    )
    assert np.array_equal(shuffled.decision_function(rows.X), model.decision_function(rows.X))


@each_class
@few
@given(rows=st.builds(Rows, seeds, n_classes=st.sampled_from([2, 3, 5]), missing=st.sampled_from([0.0, 0.2])))
def test_equal_costs_decide_for_the_most_probable_class(cls: Any, rows: Rows) -> None:
    model = fit(cls, rows.X, rows.y, n_estimators=5)
    p, codes = model.predict_proba(rows.X), model.predict(rows.X)
    assert (p[np.arange(len(codes)), codes] == p.max(axis=1)).all()


@each_class
@pytest.mark.parametrize("n_classes", [3, 5])
def test_many_classes_with_missing_values_and_row_costs(cls: Any, n_classes: int) -> None:
    rows = Rows(5, n_classes, missing=0.1)
    costs = np.random.default_rng(0).uniform(0, 9, (len(rows.y), n_classes))
    for cost in (None, rows.cost, costs):
        model = fit(cls, rows.X, rows.y, cost)
        assert model.decision_function(rows.X).shape == (len(rows.y), n_classes)
        np.testing.assert_allclose(model.predict_proba(rows.X).sum(axis=1), 1.0)


class TestRegistry:
    def test_names_ignore_case_and_separators(self) -> None:
        for name in ALGORITHMS:
            assert name == name.lower()
            assert name.isalnum()
        assert find("Ada_Cost") is ALGORITHMS["adacost"]
        assert find("auto") is TRAINABLE[DEFAULT_ALGORITHM]
        with pytest.raises(ValueError, match="known are mixture, adaboost"):
            find("xgboost")

    def test_each_algorithm_explains_its_parameters(self) -> None:
        for algorithm in ALGORITHMS.values():
            schema = algorithm.parameters
            # LPBoost and SoftBoost find all votes anew, so there is no step to shorten.
            step = set() if algorithm.name in ("lpboost", "softboost") else {"learning_rate"}
            assert {"n_estimators"} | step <= schema["properties"].keys()
            assert all(entry["description"] for entry in schema["properties"].values())
            assert not {"cost_fn", "cost_matrix", "random_state", "record"} & schema["properties"].keys()
            assert algorithm.reference
            assert algorithm.title
        assert ALGORITHMS["adacost"].parameters["properties"]["cost_scale"]["exclusiveMinimum"] == 0
        assert ALGORITHMS["adacost"].parameters["properties"]["beta"]["enum"] == ["fan", "karakoulas"]

    def test_make_passes_params_costs_and_seed(self) -> None:
        costs = CostMatrix(cost_fn=3, cost_fp=1)
        model = make("ada-cost", {"n_estimators": 7, "cost_scale": 0.5}, costs, random_state=3)
        assert (model.n_estimators, model.cost_matrix, model.random_state) == (7, costs, 3)
        with pytest.raises(ValueError, match="Invalid parameter"):
            make("adacost", {"depth": 2})

    def test_stumps_of_the_ensemble_are_ordinary_estimators(self) -> None:
        rows = Rows(1)
        model = fit(ALGORITHMS["cgada"].cls, rows.X, rows.y)
        assert all(isinstance(stump, DecisionStump) for stump in model.estimators_)
        assert set(model.estimators_[0].predict(rows.X)) <= {0, 1}
