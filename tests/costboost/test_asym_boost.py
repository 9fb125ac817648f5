"""AsymBoost: two rounds by hand, and the form with one factor per row."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.asym_boost import AsymBoostClassifier
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
HYPOTHESES = [[1, -1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]]


def test_two_rounds_by_hand() -> None:
    # K = 4 and T = 2, so positives gain a factor exp(½ ln 4) = 2 on negatives before each round.
    # Round 1: D = (2, 2, 1, 1, 1, 1)/8; wrong on rows 2 and 6: eps = 3/8, alpha = ½ ln(5/3). After it, times
    # e^alpha: (2, 10/3, 1, 1, 1, 5/3), that is (6, 10, 3, 3, 3, 5)/30. Round 2: (12, 20, 3, 3, 3, 5)/46,
    # wrong on row 3: eps = 3/46.
    model = AsymBoostClassifier(played(HYPOTHESES), n_estimators=2, cost_fn=4.0, record=True).fit(X, Y)
    first, second = model.history_
    assert_allclose(first["D"], np.array([2, 2, 1, 1, 1, 1]) / 8, rtol=1e-14)
    assert_allclose(first["D_next"], np.array([6, 10, 3, 3, 3, 5]) / 30, rtol=1e-14)
    assert_allclose(second["D"], np.array([12, 20, 3, 3, 3, 5]) / 46, rtol=1e-14)
    one, two = 0.5 * math.log(5 / 3), 0.5 * math.log(43 / 3)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-13)
    score = [one + two, two - one, two - one, -one - two, -one - two, one - two]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)
    assert model.vote_threshold_ == 0.0


@pytest.mark.parametrize("rounds", [1, 7])
def test_the_weights_are_those_of_the_exponential_of_y(rounds: int) -> None:
    # D ∝ D · exp(y (1/T) ½ ln K) with K = 9/2, against the T-th roots of 9 and 2.
    rng = np.random.default_rng(rounds)
    y = np.where(rng.random(30) < 0.4, 1, -1)
    hypotheses = [np.where(rng.random(30) < 0.2, -y, y) for _ in range(rounds)]
    model = AsymBoostClassifier(
        played(hypotheses), n_estimators=rounds, cost_fn=9.0, cost_fp=2.0, record=True
    ).fit(row_numbers(30), y)
    D = np.full(30, 1 / 30)
    for values, h in zip(model.history_, hypotheses, strict=False):
        D = D * np.exp(y / rounds * 0.5 * math.log(4.5))
        D /= D.sum()
        assert_allclose(values["D"], D, rtol=1e-12)
        D = D * np.exp(-values["alpha"] * y * h)
        D /= D.sum()
        assert_allclose(values["D_next"], D, rtol=1e-12)


def test_all_rounds_together_bring_in_the_whole_cost() -> None:
    # Without AdaBoost's own factor what is left of T rounds is D ∝ c, amounts of 0 included.
    y = np.array([1, 1, -1, -1, -1, -1])
    amounts = np.array([7.0, 0.0, 3.0, 1.0, 1.0, 2.0])
    hypotheses = [[1, 1, -1, -1, -1, 1], [1, 1, -1, -1, 1, -1], [1, 1, -1, 1, -1, -1]]
    model = AsymBoostClassifier(played(hypotheses), n_estimators=3, record=True)
    model.fit(X, y, sample_cost=amounts)
    last = model.history_[2]
    F = sum(alpha * np.array(h) for alpha, h in zip(model.estimator_weights_[:2], hypotheses, strict=False))
    expected = amounts * np.exp(-y * F)
    assert_allclose(last["D"], expected / expected.sum(), rtol=1e-12)


def test_a_fit_that_ends_early_has_had_part_of_the_asymmetry() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 2))
    y = (x[:, 0] + rng.normal(size=400) > 0.7).astype(int)
    whole = AsymBoostClassifier(n_estimators=40, cost_fn=20.0).fit(x, y)
    part = AsymBoostClassifier(n_estimators=40, cost_fn=20.0).fit(
        x, y, callback=lambda number, *_: number == 20
    )
    plain = AdaBoostClassifier(n_estimators=20).fit(x, y)
    shares = [model.predict(x).mean() for model in (plain, part, whole)]
    assert shares[0] < shares[1] < shares[2]
    assert part.stop_reason_ == "cancelled"
