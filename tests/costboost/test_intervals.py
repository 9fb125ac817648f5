"""Intervals: numbers by hand, weights that are counts, and how often they hold the truth."""

import numpy as np
import pytest

from costboost.intervals import mean_interval, resampled_mean_interval, share_interval, total_interval


def test_a_mean_by_hand():
    # Values 1 and 3: mean 2, variance (1 + 1) / 1 = 2, standard error 1.
    assert mean_interval(np.array([1.0, 3.0]), np.ones(2)) == pytest.approx((2 - 1.95996398, 2 + 1.95996398))


def test_a_share_by_hand():
    # p = 1/2, n = 4, z² = 3.8415: middle (0.5 + 0.480183) / 1.960365 = 0.5,
    # half 1.95996 · √(0.0625 + 0.0600228) / 1.960365 = 0.349961.
    found = share_interval(np.array([True, False, True, False]), np.ones(4))
    assert found == pytest.approx((0.150039, 0.849961), abs=1e-6)


def test_no_row_at_all_is_no_certainty():
    low, high = share_interval(np.zeros(20, dtype=bool), np.ones(20))
    assert low == 0.0
    assert 0.1 < high < 0.2


def test_none_and_all_begin_and_end_at_the_very_bounds():
    for n in (10, 33, 100, 251):
        assert share_interval(np.zeros(n, dtype=bool), np.ones(n))[0] == 0.0
        assert share_interval(np.ones(n, dtype=bool), np.ones(n))[1] == 1.0


def test_scale_of_weights_does_not_matter_and_rows_without_any_do_not_count():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=50), rng.uniform(0.5, 2.0, 50)
    more = np.append(values, 99.0), np.append(1000.0 * weight, 0.0)
    assert mean_interval(*more) == pytest.approx(mean_interval(values, weight), rel=1e-12)
    hit = values > 0
    padded = share_interval(np.append(hit, True), more[1])
    assert padded == pytest.approx(share_interval(hit, weight), rel=1e-12)


def test_they_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    held = np.zeros(2)
    for _ in range(500):
        values = rng.exponential(1.0, 200)
        low, high = mean_interval(values, np.ones(200))
        held[0] += low <= 1.0 <= high
        low, high = share_interval(values > np.log(4.0), np.ones(200))
        held[1] += low <= 0.25 <= high
    assert (held / 500 > 0.92).all()


def test_of_skewed_costs_the_bootstrap_holds_the_truth_more_often():
    """Few rows cost anything, and some of them much: what is missed is missed above."""
    rng, truth = np.random.default_rng(2), 0.06 * np.exp(4.5)
    held, above = np.zeros(2), np.zeros(2)
    for _ in range(120):
        costs = np.where(rng.random(300) < 0.06, rng.lognormal(4.0, 1.0, 300), 0.0)
        for which, find in enumerate((mean_interval, resampled_mean_interval)):
            low, high = find(costs, np.ones(300))
            held[which] += low <= truth <= high
            above[which] += truth > high
    assert held[1] > held[0]
    assert above[1] < 0.8 * above[0]
    assert held[1] / 120 > 0.85


def test_the_bootstrap_is_the_normal_interval_where_nothing_is_skewed():
    rng = np.random.default_rng(3)
    values, weight = rng.normal(5.0, 1.0, 3000), rng.uniform(0.5, 2.0, 3000)
    assert resampled_mean_interval(values, weight) == pytest.approx(mean_interval(values, weight), abs=0.01)
    padded = np.append(values, 99.0), np.append(weight, 0.0)
    assert resampled_mean_interval(*padded) == pytest.approx(resampled_mean_interval(values, weight))
    order = rng.permutation(3000)
    assert total_interval(values[order]) == total_interval(values)
    low, high = total_interval(1e200 * values)
    assert 0 < low < high < np.inf


def test_what_is_always_the_same_is_sure():
    assert total_interval(np.full(7, 2.0)) == (14.0, 14.0)
    with pytest.raises(ValueError, match="two rows"):
        total_interval(np.array([1.0]))
    with pytest.raises(ValueError, match="two rows"):
        resampled_mean_interval(np.array([1.0, 5.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize("weight", [np.zeros(3), np.zeros(0)])
def test_nothing_says_nothing(weight):
    with pytest.raises(ValueError, match="weight"):
        share_interval(np.zeros(len(weight), dtype=bool), weight)
    with pytest.raises(ValueError, match="two rows"):
        mean_interval(np.zeros(len(weight)), weight)


def test_one_row_has_no_spread():
    with pytest.raises(ValueError, match="two rows"):
        mean_interval(np.array([1.0, 5.0]), np.array([1.0, 0.0]))
