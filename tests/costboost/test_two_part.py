"""Boosters of two parts: against plain Python, by hand, and how they are related to one another."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.gentle import (
    GCADAClassifier,
    GentleAdaBoostClassifier,
    MarginPruningBoostClassifier,
    MCADAClassifier,
)
from costboost.boosting.modest import ModestAdaBoostClassifier
from costboost.boosting.pcada import PCADAClassifier
from costboost.boosting.penalized import PenalizedAdaBoostClassifier
from costboost.learners.stump import DecisionStump
from tests.costboost.naive_two_part import Naive
from tests.costboost.playback import played, row_numbers

TWO_PART = [
    GentleAdaBoostClassifier,
    ModestAdaBoostClassifier,
    MarginPruningBoostClassifier,
    PenalizedAdaBoostClassifier,
    GCADAClassifier,
    MCADAClassifier,
    PCADAClassifier,
]
seeds = st.integers(0, 2**32 - 1)


class Plays:
    """Labels, weights and hypotheses that are right more often than not."""

    def __init__(self, seed: int, weights: str) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(4, 15))
        self.y = np.where(rng.random(n) < 0.4, 1, -1)
        self.y[:2] = [1, -1]
        flips = rng.random((6, n)) < rng.choice([0.2, 0.4])
        self.hypotheses = np.where(flips, -self.y, self.y)
        self.hypotheses[rng.random(6) < 0.15] = rng.choice([-1, 1])  # all rows in one part
        self.weights = {
            "none": np.ones(n),
            "integers": rng.integers(0, 4, n).astype(float),
            "fractions": rng.random(n),
        }[weights]
        self.weights[:2] = np.maximum(self.weights[:2], 0.5)
        self.cost = rng.integers(0, 5, n).astype(float)
        self.cost[:2] = [3.0, 2.0]


plays = st.builds(Plays, seeds, st.sampled_from(["none", "integers", "fractions"]))


def assert_like_naive(model: Any, naive: Naive, play: Plays, sample_cost: Any = None) -> None:
    model.set_params(estimator=played(list(play.hypotheses)), n_estimators=6, record=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis")
        model.fit(row_numbers(play.n), play.y, sample_cost=sample_cost, sample_weight=play.weights)
    history, stop = naive.rounds(play.hypotheses.tolist())
    assert model.stop_reason_ == stop
    assert len(model.history_) == len(history)
    F, there = np.zeros(play.n), play.weights > 0
    for number, (ours, theirs) in enumerate(zip(model.history_, history, strict=True), 1):
        F += theirs["U"]
        for name in theirs.keys() & ours.keys():
            one, other = np.asarray(ours[name]), np.asarray(theirs[name])
            if name in ("C", "D_raw"):  # what a row without weight costs is nobody's business
                one, other = one[there], other[there]
            message = f"{name} of round {number}"
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=message)
    if history:
        np.testing.assert_allclose(model.decision_function(row_numbers(play.n)), F, atol=1e-10)


@settings(max_examples=60)
@given(play=plays, rate=st.sampled_from([1.0, 0.3, 2.5]))
def test_gentle_and_modest_are_their_formulas(play: Plays, rate: float) -> None:
    for cls, name in ((GentleAdaBoostClassifier, "gentle"), (ModestAdaBoostClassifier, "modest")):
        naive = Naive(name, play.y.tolist(), play.weights.tolist(), learning_rate=rate)
        assert_like_naive(cls(learning_rate=rate), naive, play)


@settings(max_examples=60)
@given(play=plays, tau=st.sampled_from([1.5, 3.0, 50.0, math.inf]), rate=st.sampled_from([1.0, 0.3]))
def test_pruning_and_penalties_are_their_formulas(play: Plays, tau: float, rate: float) -> None:
    given_ones: dict[str, Any] = {"tau": tau, "learning_rate": rate}
    for cls, name in ((MarginPruningBoostClassifier, "gentle"), (PenalizedAdaBoostClassifier, "penalized")):
        naive = Naive(name, play.y.tolist(), play.weights.tolist(), **given_ones)
        assert_like_naive(cls(**given_ones), naive, play)


@settings(max_examples=60)
@given(play=plays, reset_to=st.sampled_from(["one", "cost"]), by_row=st.booleans())
def test_priced_boosters_are_their_formulas(play: Plays, reset_to: Any, by_row: bool) -> None:
    y, w = play.y, play.weights
    negatives = np.average(play.cost[y < 0], weights=w[y < 0])
    unit = play.cost / negatives if by_row else np.where(y > 0, w[y < 0].sum() / w[y > 0].sum(), 1.0)
    sample_cost = play.cost if by_row else None

    def adaptive(i: int, U: float) -> float:
        U = min(max(U, -1.0), 1.0)
        return float(unit[i] * (1.0 if y[i] < 0 else 1 + 1 / (1 + math.exp((1 + U) ** 2))))

    for model, name, price, tau in (
        (GCADAClassifier(), "gentle", lambda i, U: float(unit[i]), None),
        (MCADAClassifier(tau=3.0, reset_to=reset_to), "gentle", lambda i, U: float(unit[i]), 3.0),
        (PCADAClassifier(tau=3.0, reset_to=reset_to), "penalized", adaptive, 3.0),
    ):
        naive = Naive(name, y.tolist(), w.tolist(), price, tau, reset_to)
        assert_like_naive(model, naive, play, sample_cost)


@given(play=plays)
def test_beyond_one_outputs_do_not_lower_the_adaptive_cost(play: Plays) -> None:
    model = PCADAClassifier(played(list(play.hypotheses)), n_estimators=6, learning_rate=5.0, cost_ratio=2.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis")
        model.set_params(record=True).fit(row_numbers(play.n), play.y)
    for values in model.history_:
        C, U = values["C"][play.y > 0], values["U"][play.y > 0]
        assert ((C > 2 * 1.0179) & (C <= 3.0)).all()
        assert (C[U <= -1.0] == 3.0).all()
        assert (values["C"][play.y < 0] == 1.0).all()


class TestByHand:
    def test_gentle(self) -> None:
        # Part 1 = {1}: U = 1. Part 2 = {2, 3, 4}, one positive and two negatives: U = (1 - 2)/3.
        y = np.array([1, 1, 0, 0])
        model = GentleAdaBoostClassifier(played([[1, 0, 0, 0]]), n_estimators=1, record=True)
        model.fit(row_numbers(4), y)
        np.testing.assert_allclose(model.estimator_values_, [[1.0, -1 / 3]], rtol=1e-15)
        assert model.estimator_weights_[0] == pytest.approx((1 + 3 / 3) / 4)
        assert model.estimator_errors_[0] == pytest.approx(1 / 4)  # row 2, in a part of negatives
        raw = np.exp([-1.0, 1 / 3, -1 / 3, -1 / 3])
        np.testing.assert_allclose(model.history_[0]["D_next"], raw / raw.sum(), rtol=1e-14)

    def test_modest(self) -> None:
        # D = 1/4 and its inverse too. Part 1 = {1}: 1/4 (1 - 1/4) = 3/16. Part 2 holds one positive and two
        # negatives: 1/4 · 3/4 - 2/4 · 2/4 = -1/16. Round 2, the same again: D ∝ exp(-y U).
        y = np.array([1, 1, 0, 0])
        model = ModestAdaBoostClassifier(played([[1, 0, 0, 0]] * 2), n_estimators=2, record=True)
        model.fit(row_numbers(4), y)
        np.testing.assert_allclose(model.estimator_values_[0], [3 / 16, -1 / 16], rtol=1e-14)
        raw = np.exp([-3 / 16, 1 / 16, -1 / 16, -1 / 16])
        D = raw / raw.sum()
        np.testing.assert_allclose(model.history_[1]["D"], D, rtol=1e-14)
        B = (1 - D) / 3
        first = D[0] * (1 - B[0])
        second = D[1] * (1 - B[1]) - (D[2] + D[3]) * (1 - B[2] - B[3])
        np.testing.assert_allclose(model.estimator_values_[1], [first, second], rtol=1e-14)

    def test_a_tau_of_one_spares_only_the_lightest(self) -> None:
        # Part 1 = {2, 3}, one of each class: U = 0. Part 2 = {1, 4, 5, 6}: U = (1 - 3)/4.
        y = np.array([1, 1, 0, 0, 0, 0])
        hypothesis = [0, 1, 1, 0, 0, 0]
        model = MarginPruningBoostClassifier(played([hypothesis]), tau=1.0, n_estimators=1, record=True)
        model.fit(row_numbers(6), y)
        values = model.history_[0]
        assert values["Q"] == pytest.approx(math.exp(-0.5))
        assert values["reset"].tolist() == [1, 0, 0, 0, 0, 0]  # rows 2 and 3 have no negative margin
        assert values["F_run"] == pytest.approx([0.0, 0.0, 0.0, -0.5, -0.5, -0.5])
        assert model.decision_function(row_numbers(6)) == pytest.approx([-0.5, 0.0, 0.0, -0.5, -0.5, -0.5])


class TestRelations:
    """Over stumps, with missing values, weights and costs."""

    @staticmethod
    def fit(model: Any, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 50))
        X = rng.normal(size=(n, 3)).round(1)
        y = (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)
        X[rng.random((n, 3)) < 0.1] = np.nan
        y[:2] = [0, 1]
        model.set_params(n_estimators=12, record=True)
        if model.estimator is None:
            model.set_params(estimator=DecisionStump())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*kept no hypothesis")
            return model.fit(X, y, sample_weight=rng.integers(1, 4, n)), X

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (MCADAClassifier(tau=math.inf), GCADAClassifier()),
            (MCADAClassifier(tau=math.inf, reset_to="cost", cost_fn=3.0), GCADAClassifier(cost_fn=3.0)),
            (GCADAClassifier(cost_ratio=1.0), GentleAdaBoostClassifier()),
            (GCADAClassifier(cost_matrix=[[0, 2], [2, 0]]), GentleAdaBoostClassifier()),
            (MarginPruningBoostClassifier(tau=math.inf), GentleAdaBoostClassifier()),
            (MCADAClassifier(cost_ratio=1.0), MarginPruningBoostClassifier()),
            (MCADAClassifier(cost_ratio=1.0, reset_to="cost"), MarginPruningBoostClassifier()),
            (PenalizedAdaBoostClassifier(tau=math.inf), PenalizedAdaBoostClassifier(reset=False)),
            (PCADAClassifier(tau=math.inf, cost_fn=4.0), PCADAClassifier(reset=False, cost_ratio=4.0)),
            (GCADAClassifier(cost_fn=6.0, cost_fp=2.0), GCADAClassifier(cost_ratio=3.0)),
            (GCADAClassifier(cost_fn=7.0, cost_tp=1.0), GCADAClassifier(cost_ratio=6.0)),
        ],
        ids=str,
    )
    @settings(max_examples=15)
    @given(seed=seeds)
    def test_equal(self, one: Any, other: Any, seed: int) -> None:
        (one, X), (other, _) = self.fit(one, seed), self.fit(other, seed)
        assert one.stop_reason_ == other.stop_reason_
        np.testing.assert_allclose(one.estimator_values_, other.estimator_values_, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-12)

    @pytest.mark.parametrize("cls", TWO_PART)
    def test_stated_values_and_weights(self, cls: Any) -> None:
        model, X = self.fit(cls(), 3)
        assert model.estimator_values_.shape == (len(model.estimators_), 2)
        np.testing.assert_array_equal(model.history_["U1"], model.estimator_values_[:, 0])
        assert (np.abs(model.estimator_values_) <= 1.0).all()
        assert (model.estimator_weights_ > 0).all()
        assert (model.estimator_errors_ <= 0.5).all()
        assert model.history_["W"].shape == (len(model.estimators_), 2, 2)
        np.testing.assert_allclose(model.history_["W"].sum(axis=(1, 2)), 1.0, rtol=1e-12)
        assert np.isfinite(model.decision_function(X)).all()

    @pytest.mark.parametrize("cls", TWO_PART)
    def test_each_class_against_the_rest(self, cls: Any) -> None:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(150, 3))
        y = np.array(["a", "b", "c"])[np.argmax(X + rng.normal(size=X.shape) / 2, axis=1)]
        model = cls(n_estimators=8, record=True).fit(X, y)
        assert model.estimator_values_.shape == (len(model.estimators_), 2)
        assert set(model.history_["class"]) == {0, 1, 2}
        assert model.score(X, y) > 0.6


class TestCosts:
    X, y = row_numbers(6), np.array([1, 1, 0, 0, 0, 0])
    hypothesis = ((1, 0, 0, 0, 0, 1),)

    def price(self, model: Any, **given_ones: Any) -> list[float]:
        model.set_params(estimator=played(self.hypothesis), n_estimators=1, record=True)
        costs: list[float] = model.fit(self.X, self.y, **given_ones).history_[0]["C"].tolist()
        return costs

    def test_a_number_goes_before_costs_and_costs_before_the_balance(self) -> None:
        rows = [6.0, 3.0, 1.0, 2.0, 3.0, 2.0]
        assert self.price(GCADAClassifier()) == [2.0, 2.0, 1.0, 1.0, 1.0, 1.0]
        assert self.price(GCADAClassifier(cost_matrix=[[0, 1], [1, 0]])) == [1.0] * 6
        assert self.price(GCADAClassifier(cost_fn=8.0)) == [8.0, 8.0, 1.0, 1.0, 1.0, 1.0]
        assert self.price(MCADAClassifier(), sample_cost=rows) == [3.0, 1.5, 0.5, 1.0, 1.5, 1.0]
        assert self.price(MCADAClassifier(cost_ratio=7.0), sample_cost=rows) == [7.0, 7.0, 1.0, 1.0, 1.0, 1.0]

    def test_the_mean_of_the_negatives_and_the_balance_are_weighted(self) -> None:
        weights = [1.0, 1.0, 1.0, 1.0, 0.0, 2.0]
        rows = [6.0, 3.0, 1.0, 2.0, 300.0, 4.5]
        assert self.price(GCADAClassifier(), sample_weight=weights)[:3] == [2.0, 2.0, 1.0]
        priced = self.price(GCADAClassifier(), sample_cost=rows, sample_weight=weights)
        assert priced[:4] == pytest.approx([2.0, 1.0, 1 / 3, 2 / 3])
        assert all(map(math.isfinite, priced))

    def test_free_negatives_leave_the_positives_their_weight(self) -> None:
        model = MCADAClassifier(played(self.hypothesis), n_estimators=1, record=True)
        model.fit(self.X, self.y, sample_cost=[5.0, 5.0, 0.0, 0.0, 0.0, 0.0])
        D = model.history_[0]["D_next"]
        assert D[2:].tolist() == [0.0] * 4
        assert D[:2].sum() == pytest.approx(1.0)

    def test_the_first_weights_hold_costs_only_on_request(self) -> None:
        for start, expected in ((False, [1 / 6] * 6), (True, [1 / 4, 1 / 4] + [1 / 8] * 4)):
            model = PCADAClassifier(
                played(self.hypothesis), n_estimators=1, weighted_start=start, record=True
            )
            np.testing.assert_allclose(model.fit(self.X, self.y).history_[0]["D"], expected, rtol=1e-14)


class TestStops:
    @pytest.mark.parametrize("cls", TWO_PART)
    def test_a_split_that_tells_nothing_is_discarded(self, cls: Any) -> None:
        # Part 1 and part 2 each hold a positive and a negative.
        X, y = row_numbers(4), [1, 1, 0, 0]
        with pytest.warns(UserWarning, match="kept no hypothesis") as caught:
            model = cls(played([[1, 0, 1, 0]]), cost_fn=2.0).fit(X, y)
        assert len(caught) == 1
        assert model.stop_reason_ == "no_information"
        assert model.decision_function(X).tolist() == [1.0] * 4
        assert model.estimator_values_.shape == (0, 2)
        model = cls(played([[1, 0, 0, 0], [1, 1, 1, 1]]), n_estimators=2).fit(X, y)
        assert len(model.estimators_) == 2
        assert model.stop_reason_ == "max_rounds"

    @pytest.mark.parametrize("cls", TWO_PART)
    @pytest.mark.parametrize("towards", [1, -1])
    def test_parts_of_one_class_each_end_the_fit_whichever_is_named_positive(
        self, cls: Any, towards: int
    ) -> None:
        X, y = row_numbers(4), np.array([1, 1, -1, -1])
        model = cls(played([towards * y, y])).fit(X, y)
        assert model.stop_reason_ == "perfect"
        assert len(model.estimators_) == 1
        assert model.predict(X).tolist() == y.tolist()

    def test_scores_far_beyond_the_exponential_stay_exact(self) -> None:
        # With outputs of up to 100 a round, F passes 700 soon; weights are then compared by their logarithms.
        rng = np.random.default_rng(0)
        y = np.where(rng.random(30) < 0.4, 1, -1)
        hypotheses = [np.where(rng.random(30) < 0.2, -y, y) for _ in range(40)]
        for cls in (GentleAdaBoostClassifier, PenalizedAdaBoostClassifier, MCADAClassifier):
            model = cls(played(hypotheses), n_estimators=40, learning_rate=100.0, record=True)
            model.fit(row_numbers(30), y)
            assert len(model.estimators_) > 0
            for values in model.history_:
                assert np.isfinite(values["D_raw"]).all()
                exponent = -y * values["F_run"]
                reset = values.get("reset", np.zeros(30)) > 0
                log_price = np.where(reset, 0.0, np.log(values["C"]))
                D = np.exp(exponent + log_price - (exponent + log_price).max())
                np.testing.assert_allclose(values["D_next"], D / D.sum(), rtol=1e-9, atol=1e-300)
