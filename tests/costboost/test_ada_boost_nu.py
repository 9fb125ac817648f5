"""AdaBoost*_ν: two rounds by hand, the margin it promises, and what a perfect hypothesis does to the vote."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.ada_boost_nu import AdaBoostNuClassifier
from costboost.boosting.lp_boost import LPBoostClassifier
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
WRONG_ON_ROW_3 = [1, 1, 1, -1, -1, -1]
WRONG_ON_ROWS_2_AND_6 = [1, -1, -1, -1, -1, 1]


def half_log_ratio(edge: float) -> float:
    return 0.5 * math.log((1 + edge) / (1 - edge))


def least_margin(model: Any, x: Any, y: Any) -> float:
    """Smallest y F / Σα, with y in {0, 1}."""
    score = model.decision_function(x) / model.estimator_weights_.sum()
    return float(((2 * y - 1) * score).min())


def test_two_rounds_by_hand() -> None:
    # nu = 1/6. Round 1: D = 1/6, wrong on row 3: gamma = 2/3, rho = 2/3 - 1/6 = ½, so
    # alpha = ½ ln(5/1) - ½ ln(3/1) = ½ ln(5/3). Wrong rows times 5/3 against right ones: (3,3,5,3,3,3)/20.
    # Round 2: wrong on rows 2 and 6, together 6/20: gamma = 2/5, rho = 2/5 - 1/6 = 7/30, so
    # alpha = ½ ln(7/3) - ½ ln(37/23) = ½ ln(161/111).
    model = AdaBoostNuClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, nu=1 / 6, record=True
    ).fit(X, Y)
    first, second = model.history_
    one, two = 0.5 * math.log(5 / 3), 0.5 * math.log(161 / 111)
    assert_allclose(model.history_["gamma"], [2 / 3, 2 / 5], rtol=1e-14)
    assert_allclose(model.history_["rho"], [1 / 2, 7 / 30], rtol=1e-14)
    assert_allclose(first["D_next"], np.array([3, 3, 5, 3, 3, 3]) / 20, rtol=1e-13)
    # Z = 5/6 · √(3/5) + 1/6 · √(5/3) = (5·3 + 5)/(6 √15)
    assert first["Z"] == pytest.approx(20 / (6 * math.sqrt(15)), rel=1e-13)
    # Rows 2 and 6 times 161/111: (333, 483, 555, 333, 333, 483).
    assert_allclose(second["D_next"], np.array([333, 483, 555, 333, 333, 483]) / 2520, rtol=1e-13)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-13)
    assert_allclose(model.estimator_errors_, [1 / 6, 3 / 10], rtol=1e-13)
    score = [one + two, one - two, one - two, -one - two, -one - two, two - one]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)
    assert model.stop_reason_ == "max_rounds"


def test_rho_follows_the_least_edge_so_far() -> None:
    # Edges 1/3 (rows 2 and 6 wrong), then a larger one: rho stays 1/3 - nu.
    model = AdaBoostNuClassifier(
        played([WRONG_ON_ROWS_2_AND_6, WRONG_ON_ROW_3]), n_estimators=2, nu=0.25, record=True
    ).fit(X, Y)
    gamma, rho = model.history_["gamma"], model.history_["rho"]
    assert gamma[1] > gamma[0] == pytest.approx(1 / 3)
    assert_allclose(rho, 1 / 3 - 0.25, rtol=1e-12)
    expected = [half_log_ratio(edge) - half_log_ratio(1 / 3 - 0.25) for edge in gamma]
    assert_allclose(model.estimator_weights_, expected, rtol=1e-12)


def test_a_margin_of_nothing_aimed_at_is_adaboost() -> None:
    # nu equal to the one edge makes rho 0.
    model = AdaBoostNuClassifier(played([WRONG_ON_ROW_3]), n_estimators=1, nu=2 / 3).fit(X, Y)
    plain = AdaBoostClassifier(played([WRONG_ON_ROW_3]), n_estimators=1).fit(X, Y)
    assert_allclose(model.estimator_weights_, plain.estimator_weights_, rtol=1e-13)


@pytest.mark.parametrize("nu", [0.2, 0.1, 0.05])
def test_the_least_margin_comes_within_nu_of_the_largest(nu: float) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 2))
    y = (np.abs(x).sum(axis=1) > 1.1).astype(int)
    best = LPBoostClassifier(n_estimators=500, nu=1e-3).fit(x, y)
    assert best.stop_reason_ == "converged"
    largest = least_margin(best, x, y)
    assert largest > 0.01
    rounds = math.ceil(2 * math.log(60) / nu**2)
    model = AdaBoostNuClassifier(n_estimators=rounds, nu=nu).fit(x, y)
    assert largest - nu <= least_margin(model, x, y) <= largest + 1e-6


def test_a_perfect_hypothesis_alone_is_the_vote() -> None:
    model = AdaBoostNuClassifier(played([WRONG_ON_ROW_3, Y, WRONG_ON_ROWS_2_AND_6])).fit(X, Y)
    assert model.stop_reason_ == "perfect"
    assert model.estimator_weights_.tolist() == [0.0, 1.0]
    assert model.decision_function(X).tolist() == Y.tolist()


def test_a_hypothesis_no_better_than_chance_is_discarded() -> None:
    model = AdaBoostNuClassifier(played([WRONG_ON_ROW_3, [-label for label in Y]])).fit(X, Y)
    assert model.stop_reason_ == "weak_learner_no_better_than_chance"
    assert len(model.estimators_) == 1
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        empty = AdaBoostNuClassifier(played([[1, -1, 1, 1, -1, -1]]), cost_fn=5.0).fit(X, Y)
    assert empty.predict(X).tolist() == [1] * 6  # the dear class


def test_the_learning_rate_shortens_the_step_before_the_update() -> None:
    whole, half = (
        AdaBoostNuClassifier(played([WRONG_ON_ROW_3]), n_estimators=1, learning_rate=rate, record=True).fit(
            X, Y
        )
        for rate in (1.0, 0.5)
    )
    assert_allclose(half.estimator_weights_, whole.estimator_weights_ / 2, rtol=1e-14)
    ratio = whole.history_[0]["D_next"][2] / whole.history_[0]["D_next"][0]
    assert half.history_[0]["D_next"][2] / half.history_[0]["D_next"][0] == pytest.approx(math.sqrt(ratio))


def test_costs_do_not_enter_training() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    y = (x[:, 0] + rng.normal(size=80) > 0.4).astype(int)
    plain = AdaBoostNuClassifier(n_estimators=20).fit(x, y)
    for model in (
        AdaBoostNuClassifier(n_estimators=20, cost_fn=9.0).fit(x, y),
        AdaBoostNuClassifier(n_estimators=20).fit(x, y, sample_cost=rng.uniform(1, 9, 80)),
    ):
        assert np.array_equal(model.decision_function(x), plain.decision_function(x))


def test_rows_far_from_the_margin_are_not_forgotten() -> None:
    # A column tells all rows but two; after thousands of rounds the weights of the others are no exact zeros'
    # recursion: they are those of the whole history, and the score has the margin to show for it.
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 2))
    y = (x[:, 0] > 0).astype(int)
    y[:2] = 1 - y[:2]
    model = AdaBoostNuClassifier(n_estimators=3000, nu=0.02, record=True).fit(x, y)
    last = model.history_[-1]["D_next"]
    sign = 2 * y - 1
    exponent = -sign * model.decision_function(x)
    expected = np.exp(exponent - exponent.max())
    assert_allclose(last, expected / expected.sum(), rtol=1e-6, atol=1e-300)
    assert least_margin(model, x, y) > 0


@pytest.mark.parametrize("nu", [0.0, 1.0, -0.1, float("nan"), "0.1"])
def test_nu_lies_between_0_and_1(nu: Any) -> None:
    with pytest.raises(ValueError, match="nu must be"):
        AdaBoostNuClassifier(nu=nu).fit(X, Y)


def test_a_rate_beyond_all_measure_overflows_nowhere() -> None:
    rows = np.arange(60.0).reshape(-1, 1)
    y = (rows[:, 0] > 30).astype(int)
    y[0] = 1  # the only mistake of the best cut, of next to no weight: its vote is 725
    weight = np.where(np.arange(60) == 0, 3e-5, 1.0)
    model = AdaBoostNuClassifier(n_estimators=3, learning_rate=100.0, nu=0.999)
    assert np.isfinite(model.fit(rows, y, sample_weight=weight).decision_function(rows)).all()
