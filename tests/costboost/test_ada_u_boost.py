"""AdaUBoost: a round by hand, the vote as a minimum, and what v is made of."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from costboost.boosting.ada_u_boost import AdaUBoostClassifier, best_vote
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
WRONG_ON_ROW_3 = [1, 1, 1, -1, -1, -1]
WRONG_ON_ROWS_2_AND_6 = [1, -1, -1, -1, -1, 1]
# v = ½, D = 1/6 and row 3 wrong: the loss is (2 e^-a + e^(a/2) + 3 e^(-a/2))/6. With u = e^(a/2) its
# derivative vanishes where u³ - 3u - 4 = 0, that is at u = ∛(2 + √3) + ∛(2 - √3).
U = math.cbrt(2 + math.sqrt(3)) + math.cbrt(2 - math.sqrt(3))


def test_two_rounds_by_hand() -> None:
    model = AdaUBoostClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, cost_fn=2.0, record=True
    ).fit(X, Y)
    first, second = model.history_
    one = 2 * math.log(U)
    assert first["alpha"] == pytest.approx(one, abs=1e-12)
    assert first["eps"] == pytest.approx(1 / 6)
    # exp(-a b y h) times u²: 1 for the positives, u³ for row 3, u for the other negatives.
    moved = np.array([1, 1, U**3, U, U, U])
    assert_allclose(second["D"], moved / moved.sum(), rtol=1e-12)
    # Round 2: right (1, u³ + 2u), wrong (1, u), so the loss is e^-a + e^a + (u³ + 2u) e^(-a/2) + u e^(a/2).
    w = math.exp(second["alpha"] / 2)
    assert -1 / w**2 + w**2 - (U**3 + 2 * U) / (2 * w) + U * w / 2 == pytest.approx(0.0, abs=1e-10)
    two = second["alpha"]
    score = [one + two, one - two, one - two, -one - two, -one - two, two - one]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)


shares = st.floats(0.001, 1.0)


@given(st.lists(shares, min_size=4, max_size=4), st.floats(0.01, 1.0))
def test_the_vote_minimises_the_loss(masses: list[float], v: float) -> None:
    D = (np.array(masses) / sum(masses)).tolist()
    right, wrong = (D[0], D[1]), (D[2], D[3])

    def loss(a: float) -> float:
        return float(
            right[0] * math.exp(-a)
            + wrong[0] * math.exp(a)
            + right[1] * math.exp(-v * a)
            + wrong[1] * math.exp(v * a)
        )

    vote = best_vote(right, wrong, v)
    best = loss(0.0 if vote is None else vote)
    assert all(loss(a) >= best * (1 - 1e-9) for a in np.linspace(0, 16, 161))


def test_a_vote_is_at_most_16_and_with_v_1_that_of_adaboost() -> None:
    for v, vote in ((0.5, 16.0), (1.0, 11.512925464920228)):
        model = AdaUBoostClassifier(played([Y]), v=v).fit(X, Y)
        assert model.stop_reason_ == "perfect"
        assert model.estimator_weights_[0] == pytest.approx(vote, abs=1e-12)
    assert best_vote((0.3, 0.4), (0.1, 0.2), 1.0) == pytest.approx(0.5 * math.log(7 / 3), rel=1e-13)
    assert best_vote((0.3, 0.4), (0.1, 0.2), 1.0 - 1e-15) == pytest.approx(0.5 * math.log(7 / 3), abs=1e-12)


def test_misses_that_weigh_more_than_the_right_negatives_stop() -> None:
    # All negative: at v = ¼ four right negatives pull as strongly as one of two misses.
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        model = AdaUBoostClassifier(played([[-1] * 6]), v=0.25).fit(X, Y)
    assert model.stop_reason_ == "edge_not_positive"
    assert AdaUBoostClassifier(played([[-1] * 6]), v=0.75, n_estimators=1).fit(X, Y).estimator_weights_[0] > 0


@pytest.mark.parametrize(
    ("parameters", "sample_cost", "v"),
    [
        ({"cost_fn": 4.0}, None, 0.25),
        ({"cost_fn": 4.0, "v": 0.5}, None, 0.5),
        ({"cost_fp": 4.0}, None, 1.0),
        ({}, [3.0, 5.0, 1.0, 1.0, 2.0, 2.0], 1.5 / 4.0),
        ({}, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0], 1.0),
        ({}, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], 1e-10),
    ],
)
def test_v_is_the_ratio_of_mean_costs(parameters: dict[str, Any], sample_cost: Any, v: float) -> None:
    model = AdaUBoostClassifier(played([WRONG_ON_ROW_3]), n_estimators=1, record=True, **parameters)
    model.fit(X, Y, sample_cost=sample_cost)
    (values,) = model.history_
    exponent = -values["alpha"] * np.where(Y > 0, 1.0, v) * Y * np.array(WRONG_ON_ROW_3)
    expected = values["D"] * np.exp(exponent)
    assert_allclose(values["D_next"], expected / expected.sum(), rtol=1e-12)
    assert_allclose(values["D"], 1 / 6, rtol=1e-14)  # costs are in the exponent alone
