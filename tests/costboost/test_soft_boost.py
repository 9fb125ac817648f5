"""SoftBoost: rounds by hand, the projection by its optimality conditions, what is promised of the margin."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from costboost.boosting.lp_boost import LPBoostClassifier, soft_margin
from costboost.boosting.soft_boost import EntropyProjection, SoftBoostClassifier
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
WRONG_ON_ROW_3 = [1, 1, 1, -1, -1, -1]
WRONG_ON_ROWS_2_AND_6 = [1, -1, -1, -1, -1, 1]
WRONG_ON_ROWS_1_AND_4 = [-1, 1, -1, 1, -1, -1]


def noisy_rows(seed: int, n: int = 80) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, (x[:, 0] + 0.5 * x[:, 1] + 0.6 * rng.normal(size=n) > 0.2).astype(int)


def test_three_rounds_by_hand() -> None:
    # nu = 0.3 caps weights at 5/9, delta = 1/3. Round 1: edge 2/3, bound 1/3: row 3 must weigh 1/3, and the
    # nearest such weights leave the others equal, 2/15. Round 2: edge 1 - 8/15 = 7/15, bound 2/15: row 3 must
    # weigh 13/30, so must rows 2 and 6 together, and 4/30 is left for three rows. Round 3: edge 1 - 16/90;
    # the least largest edge of the three is 1/3 > 2/15: infeasible. The program's votes are equal.
    model = SoftBoostClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6, WRONG_ON_ROWS_1_AND_4]),
        nu=0.3,
        delta=1 / 3,
        record=True,
    ).fit(X, Y)
    assert_allclose(model.history_["gamma"], [2 / 3, 7 / 15, 74 / 90], atol=1e-7)
    assert_allclose(model.history_["bound"], [1 / 3, 2 / 15, 2 / 15], atol=1e-7)
    first, second, _ = model.history_
    assert_allclose(first["D_next"], np.array([2, 2, 5, 2, 2, 2]) / 15, atol=1e-7)
    assert_allclose(second["D_next"], np.array([8, 39, 78, 8, 8, 39]) / 180, atol=1e-7)
    assert model.stop_reason_ == "infeasible"
    assert_allclose(model.estimator_weights_, [1 / 3, 1 / 3, 1 / 3], rtol=1e-9)
    assert_allclose(model.decision_function(X), Y * [1 / 3, 1 / 3, 1 / 3, 1 / 3, 1, 1 / 3], rtol=1e-9)


def test_the_cap_binds_by_hand() -> None:
    # nu = ½ caps weights at 1/3. Edge 2/3, delta = 0.4, bound 4/15: row 3 would have to weigh 11/30 > 1/3.
    model = SoftBoostClassifier(played([WRONG_ON_ROW_3]), nu=0.5, delta=0.4).fit(X, Y)
    assert model.stop_reason_ == "infeasible"
    assert model.estimator_weights_.tolist() == [1.0]


@st.composite
def projections(draw: st.DrawFn) -> EntropyProjection:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_groups, n_hypotheses = int(rng.integers(4, 25)), int(rng.integers(1, 6))
    agreement = rng.choice([-1.0, 1.0], (n_groups, n_hypotheses), p=[0.35, 0.65])
    prior = rng.uniform(0.05, 1.0, n_groups)
    prior /= prior.sum()
    limit = draw(st.sampled_from([1.5, 3.0, 50.0]))
    least = soft_margin(agreement, limit * prior).edge
    return EntropyProjection(prior, agreement, least + draw(st.sampled_from([0.01, 0.1, 0.4])), limit)


@settings(max_examples=60)
@given(projections())
def test_the_projection_meets_its_optimality_conditions(projection: EntropyProjection) -> None:
    solved = projection.solve(np.zeros(projection.agreement.shape[1]))
    assert solved is not None
    weights, beta = solved
    caps = projection.limit * projection.prior
    excess = weights @ projection.agreement - projection.bound
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (weights <= caps * (1 + 1e-9)).all()
    assert (excess <= 1e-6).all()
    assert (beta >= 0).all()
    assert float(np.abs(beta * excess).max()) <= 1e-5
    # Where no cap binds ln(u/p) + agreement β is one number; a cap can only keep it below.
    level = np.log(weights / projection.prior) + projection.agreement @ beta
    free = weights < caps * (1 - 1e-9)
    if free.any():
        assert np.ptp(level[free]) <= 1e-8
        assert (level <= level[free].max() + 1e-8).all()


@settings(max_examples=40)
@given(projections(), st.sampled_from([0.02, 0.2, 1.0]))
def test_what_is_infeasible_is_told_so(projection: EntropyProjection, below: float) -> None:
    least = soft_margin(projection.agreement, projection.limit * projection.prior).edge
    impossible = EntropyProjection(projection.prior, projection.agreement, least - below, projection.limit)
    assert impossible.solve(np.zeros(projection.agreement.shape[1])) is None


@pytest.mark.parametrize(("nu", "delta"), [(0.2, 0.1), (0.2, 0.03), (0.5, 0.03)])
def test_the_soft_margin_comes_within_delta_of_the_largest(nu: float, delta: float) -> None:
    x, y = noisy_rows(4)
    best = LPBoostClassifier(n_estimators=500, nu=nu, record=True).fit(x, y)
    assert best.stop_reason_ == "converged"
    largest = best.history_[-1]["b"]
    model = SoftBoostClassifier(n_estimators=2000, nu=nu, delta=delta).fit(x, y)
    assert model.stop_reason_ == "infeasible"
    assert len(model.estimators_) <= 1 + 2 * math.log(1 / nu) / delta**2
    margins = (2 * y - 1) * model.decision_function(x)
    reached = max(rho - np.maximum(0.0, rho - margins).sum() / (nu * 80) for rho in margins)
    assert largest - delta - 1e-6 <= reached <= largest + 1e-6


def test_votes_are_those_of_the_largest_soft_margin() -> None:
    x, y = noisy_rows(9)
    model = SoftBoostClassifier(n_estimators=12, nu=0.3, delta=0.02, record=True).fit(x, y)
    agreement = (2 * y - 1)[:, None] * np.array([values["h"] for values in model.history_]).T
    optimum = soft_margin(agreement, np.full(80, 1 / (0.3 * 80)))
    margins = agreement @ model.estimator_weights_
    reached = max(rho - np.maximum(0.0, rho - margins).sum() / (0.3 * 80) for rho in margins)
    assert reached == pytest.approx(optimum.edge, abs=1e-9)
    assert model.estimator_weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert (model.estimator_weights_ >= 0).all()


def test_weights_keep_to_caps_and_bounds_in_every_round() -> None:
    x, y = noisy_rows(13)
    rng = np.random.default_rng(0)
    own = rng.integers(1, 4, 80).astype(float)
    model = SoftBoostClassifier(n_estimators=40, nu=0.25, delta=0.05, record=True).fit(
        x, y, sample_weight=own
    )
    caps = own / (0.25 * own.sum())
    agreement = (2 * y - 1)[:, None] * np.array([values["h"] for values in model.history_]).T
    last = len(model.history_) - (model.stop_reason_ == "infeasible")
    assert last > 3
    for t in range(last):
        weights = model.history_[t]["D_next"]
        assert (weights <= caps * (1 + 1e-9)).all()
        assert (weights @ agreement[:, : t + 1]).max() <= model.history_[t]["bound"] + 1e-6


def test_nu_of_1_leaves_no_choice_of_weights() -> None:
    x, y = noisy_rows(1)
    model = SoftBoostClassifier(nu=1.0).fit(x, y)
    assert model.stop_reason_ == "infeasible"
    assert len(model.estimators_) == 1


def test_a_perfect_hypothesis_is_the_whole_vote() -> None:
    model = SoftBoostClassifier(played([WRONG_ON_ROW_3, Y]), delta=0.2).fit(X, Y)
    assert model.stop_reason_ == "perfect"
    assert_allclose(model.estimator_weights_, [0.0, 1.0], atol=1e-12)


def test_a_hypothesis_no_better_than_chance_is_discarded() -> None:
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        model = SoftBoostClassifier(played([[-label for label in Y]]), cost_fn=9.0).fit(X, Y)
    assert model.stop_reason_ == "weak_learner_no_better_than_chance"
    assert model.predict(X).tolist() == [1] * 6


def test_costs_do_not_enter_training() -> None:
    x, y = noisy_rows(0)
    plain = SoftBoostClassifier(nu=0.3).fit(x, y)
    dear = SoftBoostClassifier(nu=0.3, cost_fn=9.0).fit(x, y)
    own = SoftBoostClassifier(nu=0.3).fit(x, y, sample_cost=np.random.default_rng(0).uniform(1, 9, 80))
    for model in (dear, own):
        assert np.array_equal(model.decision_function(x), plain.decision_function(x))


@pytest.mark.parametrize("parameters", [{"nu": 0.0}, {"nu": 1.5}, {"delta": 0.0}, {"delta": 2}])
def test_parameters_out_of_bounds_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        SoftBoostClassifier(**parameters).fit(X, Y)
