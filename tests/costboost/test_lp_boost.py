"""LPBoost: rounds by hand, strong duality, and groups of rows against the rows themselves."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from costboost.boosting._row_groups import RowGroups
from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.lp_boost import LPBoostClassifier, soft_margin
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
WRONG_ON_ROW_3 = [1, 1, 1, -1, -1, -1]
WRONG_ON_ROWS_2_AND_6 = [1, -1, -1, -1, -1, 1]
WRONG_ON_ROWS_1_AND_4 = [-1, 1, -1, 1, -1, -1]

Floats = NDArray[np.float64]


def primal_value(margins: Floats, caps: Floats) -> float:
    """``max over ρ of ρ - Σ caps max(0, ρ - margin)``; the maximum lies at one of the margins."""
    return max(float(rho - caps @ np.maximum(0.0, rho - margins)) for rho in margins)


def noisy_rows(seed: int, n: int = 60) -> tuple[Floats, NDArray[np.int64], Floats]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.6 * rng.normal(size=n) > 0.2).astype(int)
    return x, y, rng.choice([0.0, 1.0, 2.5, 7.0], n)


def test_three_rounds_by_hand() -> None:
    # nu = 1/6, so caps are 1. Round 1: all weight goes to row 3, b = -1. Round 2: edge 1 under it; half on
    # row 3, half on rows 2 and 6, b = 0 and equal votes. Round 3: edge 1; a third on each set of wrong rows,
    # b = 1/3, equal votes. Round 4: the first hypothesis again, edge 1/3: nothing to gain.
    rounds = [WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6, WRONG_ON_ROWS_1_AND_4, WRONG_ON_ROW_3]
    model = LPBoostClassifier(played(rounds), nu=1 / 6, record=True).fit(X, Y)
    assert_allclose(model.history_["edge"], [2 / 3, 1, 1], rtol=1e-12)
    assert_allclose(model.history_["b"], [-1, 0, 1 / 3], atol=1e-12)
    weights = np.array([[0, 0, 12, 0, 0, 0], [0, 3, 6, 0, 0, 3], [2, 2, 4, 2, 0, 2]]) / 12
    assert_allclose(model.history_["D_next"], weights, atol=1e-12)
    assert_allclose(model.history_["alpha"], [1, 1 / 2, 1 / 3], rtol=1e-12)
    assert_allclose(model.estimator_weights_, [1 / 3, 1 / 3, 1 / 3], rtol=1e-12)
    assert_allclose(model.decision_function(X), Y * [1 / 3, 1 / 3, 1 / 3, 1 / 3, 1, 1 / 3], rtol=1e-12)
    assert model.stop_reason_ == "converged"


def test_costs_are_caps() -> None:
    # Costs (1, 1, 2, 1, 1, 1) and nu = ½: caps (2, 2, 4, 2, 2, 2)/7. D_1 ∝ cost; row 3 wrong: edge 1 - 4/7.
    # Its cap of 4/7 leaves 3/7 for five rows: b = 3/7 - 4/7. Round 2: edge 1 - 2·6/35; ½ and ½ keep to caps.
    model = LPBoostClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, nu=0.5, record=True
    ).fit(X, Y, sample_cost=[1, 1, 2, 1, 1, 1])
    first, second = model.history_
    assert_allclose(first["D"], np.array([1, 1, 2, 1, 1, 1]) / 7, rtol=1e-12)
    assert_allclose(first["D_next"], np.array([3, 3, 20, 3, 3, 3]) / 35, rtol=1e-12)
    assert_allclose(model.history_["edge"], [3 / 7, 23 / 35], rtol=1e-12)
    assert_allclose(model.history_["b"], [-1 / 7, 0], atol=1e-12)
    assert_allclose(second["D_next"], [0, 1 / 4, 1 / 2, 0, 0, 1 / 4], atol=1e-12)
    assert_allclose(model.estimator_weights_, [0.5, 0.5], rtol=1e-12)


def test_a_dear_row_is_got_right_at_the_price_of_cheap_ones() -> None:
    # One hypothesis is wrong on row 3, one on rows 2 and 6; with nu = 1 the caps are the shares of cost.
    cheap = LPBoostClassifier(played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, nu=1.0)
    dear = LPBoostClassifier(played([WRONG_ON_ROWS_2_AND_6, WRONG_ON_ROW_3]), n_estimators=2, nu=1.0)
    assert cheap.fit(X, Y).predict(X).tolist() == WRONG_ON_ROW_3
    dear.fit(X, Y, sample_cost=[1, 1, 5, 1, 1, 1])
    assert dear.predict(X).tolist() == WRONG_ON_ROWS_2_AND_6


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.2, 0.5, 1.0]), st.booleans())
def test_strong_duality_after_every_round(seed: int, nu: float, priced: bool) -> None:
    x, y, cost = noisy_rows(seed)
    cost = cost if priced else np.ones(60)
    caps = cost / (nu * cost.sum())
    previous = -np.inf
    for rounds in (1, 2, 5, 16):
        model = LPBoostClassifier(n_estimators=rounds, nu=nu, record=True).fit(x, y, sample_cost=cost)
        votes, last = model.estimator_weights_, model.history_[-1]
        assert (votes >= 0).all()
        assert votes.sum() == pytest.approx(1.0, abs=1e-12)
        weights = last["D_next"]
        assert (weights <= caps * (1 + 1e-9) + 1e-12).all()
        # The weights reach b against every hypothesis, the votes reach it against all weights: both are best.
        sign = 2 * y - 1
        agreement = sign[:, None] * np.array([values["h"] for values in model.history_]).T
        assert (weights @ agreement).max() == pytest.approx(last["b"], abs=1e-9)
        assert primal_value(sign * model.decision_function(x), caps) == pytest.approx(last["b"], abs=1e-9)
        b = model.history_["b"]
        assert (np.diff(b) >= -1e-9).all()
        assert b[-1] >= previous - 1e-9
        previous = b[-1]


def test_once_converged_no_stump_has_a_larger_edge() -> None:
    x, y, cost = noisy_rows(7)
    cost = cost + 0.5
    model = LPBoostClassifier(n_estimators=500, nu=0.3, record=True).fit(x, y, sample_cost=cost)
    assert model.stop_reason_ == "converged"
    weights, b = model.history_[-1]["D_next"], model.history_[-1]["b"]
    signed = weights * (2 * y - 1)
    for column in x.T:
        for cut in np.append(column, -np.inf):
            assert abs((signed * np.where(column > cut, 1, -1)).sum()) <= b + 1.1e-6


def test_at_most_a_share_nu_of_the_cost_falls_short_of_the_margin() -> None:
    x, y, cost = noisy_rows(11, n=150)
    cost = cost + 0.1
    for nu in (0.2, 0.4):
        model = LPBoostClassifier(n_estimators=500, nu=nu).fit(x, y, sample_cost=cost)
        margins = (2 * y - 1) * model.decision_function(x)
        # ρ is the nu-quantile of the margins, counted by cost.
        order = np.argsort(margins)
        rho = margins[order][np.searchsorted(np.cumsum(cost[order]), nu * cost.sum())]
        assert cost[margins < rho - 1e-9].sum() <= nu * cost.sum()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.1, 0.37, 1.0]))
def test_groups_of_rows_stand_for_the_rows(seed: int, n_hypotheses: int, nu: float) -> None:
    rng = np.random.default_rng(seed)
    agreement = rng.choice([-1.0, 1.0], (20, n_hypotheses), p=[0.3, 0.7])
    weights = rng.uniform(0.1, 1.0, 20)
    weights /= weights.sum()
    groups = RowGroups(weights)
    for column in agreement.T:
        groups.split(column)
    by_group = soft_margin(groups.agreement, groups.share / nu)
    by_row = soft_margin(agreement, weights / nu)
    assert by_group.edge == pytest.approx(by_row.edge, abs=1e-9)
    spread = groups.spread(by_group.weights)
    assert spread.sum() == pytest.approx(1.0, abs=1e-9)
    assert (spread <= weights / nu * (1 + 1e-9) + 1e-12).all()
    assert (spread @ agreement).max() == pytest.approx(by_row.edge, abs=1e-9)


class TestRowGroups:
    def test_the_order_of_rows_does_not_matter(self) -> None:
        rng = np.random.default_rng(0)
        weights, answers, order = (
            rng.uniform(size=30),
            rng.choice([-1.0, 1.0], (30, 4)),
            rng.permutation(30),
        )
        one, other = RowGroups(weights), RowGroups(weights[order])
        for column in answers.T:
            one.split(column)
            other.split(column[order])
        assert np.array_equal(one.agreement, other.agreement)
        assert np.array_equal(one.share, other.share)
        shares = rng.uniform(size=len(one.share))
        assert np.array_equal(one.spread(shares)[order], other.spread(shares))

    def test_rows_without_weight_belong_to_no_group(self) -> None:
        groups = RowGroups(np.array([0.0, 1.0, 1e-300, 3.0]))
        groups.split(np.array([-1.0, 1.0, -1.0, 1.0]))
        assert groups.agreement.tolist() == [[1.0]]
        assert groups.spread(np.array([1.0])).tolist() == [0.0, 0.25, 0.0, 0.75]


def test_the_last_votes_replace_those_of_the_rounds() -> None:
    x, y, _ = noisy_rows(5)
    model = LPBoostClassifier(n_estimators=8, nu=0.3, record=True).fit(x, y)
    assert not np.allclose(model.history_["alpha"], model.estimator_weights_)
    assert model.history_["alpha"][-1] == model.estimator_weights_[-1]
    stages = list(model.staged_decision_function(x))
    assert_allclose(stages[-1], model.decision_function(x), atol=1e-12)
    assert len(stages) == 8


def test_a_hypothesis_no_better_than_chance_is_discarded() -> None:
    model = LPBoostClassifier(played([WRONG_ON_ROW_3, WRONG_ON_ROW_3]), nu=1 / 6).fit(X, Y)
    assert model.stop_reason_ == "weak_learner_no_better_than_chance"  # its edge is -1 on the row it misses
    assert model.estimator_weights_.tolist() == [1.0]
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        empty = LPBoostClassifier(played([[-label for label in Y]]), cost_fn=9.0).fit(X, Y)
    assert empty.predict(X).tolist() == [1] * 6


def test_a_perfect_hypothesis_is_the_whole_vote_however_late() -> None:
    model = LPBoostClassifier(played([WRONG_ON_ROW_3, Y])).fit(X, Y)
    assert model.stop_reason_ == "perfect"
    assert_allclose(model.estimator_weights_, [0.0, 1.0], atol=1e-12)
    # Right on all rows that weigh anything, for the last weights were on row 3 alone, is not perfect.
    late = LPBoostClassifier(played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, nu=1 / 6)
    assert late.fit(X, Y).stop_reason_ == "max_rounds"


def test_a_soft_margin_learns_what_noise_hides_from_a_hard_one() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    noisy = np.where(rng.random(400) < 0.1, 1 - y, y)
    hits = {
        nu: (LPBoostClassifier(n_estimators=60, nu=nu).fit(x, noisy).predict(x) == y).mean()
        for nu in (0.01, 0.3)
    }
    assert hits[0.3] > 0.9
    assert hits[0.3] > hits[0.01]
    assert hits[0.3] > (AdaBoostClassifier(n_estimators=60).fit(x, noisy).predict(x) == y).mean() - 0.05


def test_extreme_costs_leave_the_program_solvable() -> None:
    x, y, _ = noisy_rows(2)
    for ratio in (1e-9, 1e9):
        model = LPBoostClassifier(n_estimators=40, record=True).fit(
            x, y, sample_cost=np.where(y == 1, ratio, 1.0)
        )
        assert np.isfinite(model.decision_function(x)).all()
        assert model.estimator_weights_.sum() == pytest.approx(1.0)
        dear = y == int(ratio > 1)
        assert (model.predict(x)[dear] == y[dear]).all()


def test_more_than_two_classes_are_told_from_the_rest_each() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(150, 2))
    y = np.digitize(x[:, 0], [-0.5, 0.5])
    model = LPBoostClassifier(n_estimators=30, nu=0.2).fit(x, y)
    assert model.machines_ is not None
    assert [machine.estimator_weights_.sum() for machine in model.machines_] == pytest.approx([1, 1, 1])
    assert model.score(x, y) > 0.95


@pytest.mark.parametrize("parameters", [{"nu": 0.0}, {"nu": 1.5}, {"tol": 0.0}, {"nu": True}])
def test_parameters_out_of_bounds_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        LPBoostClassifier(**parameters).fit(X, Y)
