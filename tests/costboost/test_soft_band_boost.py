"""SoftBandBoost: rounds by hand, the band and the cap, and the start from classes of equal weight."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.soft_band_boost import SoftBandBoostClassifier
from costboost.registry import ALGORITHMS
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
WRONG_ON_ROW_3 = [1, 1, 1, -1, -1, -1]
WRONG_ON_ROWS_2_AND_6 = [1, -1, -1, -1, -1, 1]


def test_two_rounds_by_hand() -> None:
    # Round 1: D = 1/6, wrong on row 3, alpha = ½ ln 5. AdaBoost's next weights are (1, 1, 5, 1, 1, 1)/10;
    # after one round a margin is 1 or -1, so row 3 counts as noise: its ½ is capped at 1/6. (3,3,5,3,3,3)/20.
    # Round 2: rows 2 and 6 wrong, 6/20: alpha = ½ ln(7/3). exp(-yF)² = 3/35 right twice; 7/15 rows 2 and 6;
    # 15/7 row 3. With s = √3/√35: s · (1, 7/3, 5, 1, 1, 7/3), in 38ths of 3: (3, 7, 15, 3, 3, 7)/38.
    # ρ = (½ ln 5 ± ½ ln 7/3)/Σα: rows 2 and 6 at ln(15/7)/ln(35/3) = 0.3102, row 3 at minus that.
    model = SoftBandBoostClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, record=True
    ).fit(X, Y)
    first, second = model.history_
    assert_allclose(first["margin"], [1, 1, -1, 1, 1, 1], rtol=1e-14)
    assert_allclose(first["D_next"], np.array([3, 3, 5, 3, 3, 3]) / 20, rtol=1e-13)
    one, two = 0.5 * math.log(5), 0.5 * math.log(7 / 3)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-13)
    near = math.log(15 / 7) / math.log(35 / 3)
    assert_allclose(second["margin"], [1, near, -near, 1, 1, near], rtol=1e-12)
    # |ρ| > 0.2 for all; row 3 is noise: 15/38 capped at 1/6 = 19/114. (9, 21, 19, 9, 9, 21)/88.
    assert_allclose(second["D_next"], np.array([9, 21, 19, 9, 9, 21]) / 88, rtol=1e-12)
    score = [one + two, one - two, one - two, -one - two, -one - two, two - one]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)


def test_rows_in_the_band_gain_the_factor() -> None:
    # The same rounds with a band of 0.35: rows 2, 3 and 6 lie in it, and none beyond on the wrong side.
    # Round 1 is as above. Round 2: (3, 7, 15, 3, 3, 7)/38, the three times 3: (3, 21, 45, 3, 3, 21)/96.
    model = SoftBandBoostClassifier(
        played([WRONG_ON_ROW_3, WRONG_ON_ROWS_2_AND_6]), n_estimators=2, band=0.35, boost=3.0, record=True
    ).fit(X, Y)
    assert_allclose(model.history_[1]["D_next"], np.array([3, 21, 45, 3, 3, 21]) / 96, rtol=1e-12)


def test_without_factor_and_noise_it_is_adaboost() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(90, 3))
    y = (x[:, 0] + rng.normal(size=90) > 0.3).astype(int)
    model = SoftBandBoostClassifier(n_estimators=25, band=1.0, boost=1.0).fit(x, y)
    plain = AdaBoostClassifier(n_estimators=25).fit(x, y)
    assert_allclose(model.estimator_weights_, plain.estimator_weights_, rtol=1e-9)
    assert_allclose(model.decision_function(x), plain.decision_function(x), rtol=1e-9)


def test_oversampling_starts_from_classes_of_equal_weight() -> None:
    model = SoftBandBoostClassifier(
        played([WRONG_ON_ROW_3]), n_estimators=1, oversample=True, record=True
    ).fit(X, Y)
    assert_allclose(model.history_[0]["D"], np.array([2, 2, 1, 1, 1, 1]) / 8, rtol=1e-14)
    # eps = 1/8, alpha = ½ ln 7: (2, 2, 7, 1, 1, 1)/14; row 3 capped at 1/8: (8, 8, 7, 4, 4, 4)/56.
    assert_allclose(model.history_[0]["D_next"], np.array([8, 8, 7, 4, 4, 4]) / 35, rtol=1e-13)


def test_oversampling_is_repeating_the_smaller_class() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 3)).round(1)
    y = np.zeros(80, dtype=int)
    y[:20] = 1
    x[:20, 0] += 1.0
    repeated = np.concatenate([np.repeat(np.arange(20), 3), np.arange(20, 80)])
    one = SoftBandBoostClassifier(n_estimators=15, oversample=True).fit(x, y)
    other = SoftBandBoostClassifier(n_estimators=15).fit(x[repeated], y[repeated])
    assert_allclose(one.decision_function(x), other.decision_function(x), rtol=1e-9)


def test_wrong_labels_draw_less_weight_than_in_adaboost() -> None:
    # A first hypothesis that is wrong about the wrong labels alone: AdaBoost would give them half the weight,
    # here they keep their share of the rows, against the (1 - 1/12)·½/(1 - 1/12) = ½ of all others.
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 2))
    y = (x[:, 0] > 0).astype(int)
    noise = np.arange(300) % 12 == 0
    y[noise] = 1 - y[noise]
    shares = [
        cls(n_estimators=1, record=True).fit(x, y).history_[0]["D_next"][noise].sum()
        for cls in (AdaBoostClassifier, SoftBandBoostClassifier)
    ]
    assert_allclose(shares, [1 / 2, (1 / 12) / (1 / 12 + 1 / 2)], rtol=1e-9)


def test_costs_do_not_enter_training() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    y = (x[:, 0] + rng.normal(size=80) > 0.4).astype(int)
    plain = SoftBandBoostClassifier(n_estimators=20).fit(x, y)
    dear = SoftBandBoostClassifier(n_estimators=20, cost_fn=9.0).fit(x, y)
    own = SoftBandBoostClassifier(n_estimators=20).fit(x, y, sample_cost=rng.uniform(1, 9, 80))
    for model in (dear, own):
        assert np.array_equal(model.decision_function(x), plain.decision_function(x))


def test_it_is_told_that_this_is_a_reconstruction() -> None:
    assert "reconstruction of ours" in (SoftBandBoostClassifier.__doc__ or "").lower()
    assert "reconstructed" in ALGORITHMS["softbandboost"].title


@pytest.mark.parametrize("parameters", [{"band": -0.1}, {"band": 1.1}, {"boost": 0.5}, {"oversample": 1}])
def test_parameters_out_of_bounds_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        SoftBandBoostClassifier(**parameters).fit(X, Y)
