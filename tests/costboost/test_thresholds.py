import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from costboost.thresholds import empirical_threshold, find_threshold, least_cost


def total(scores, threshold, if_positive, if_negative):
    return np.where(scores > threshold, if_positive, if_negative).sum()


@given(st.data(), st.integers(1, 30))
def test_no_candidate_costs_less(data, n):
    few = st.integers(-3, 3).map(float)
    scores = data.draw(arrays(float, n, elements=few))
    if_positive, if_negative = (data.draw(arrays(float, n, elements=few)) for _ in range(2))
    best = empirical_threshold(scores, if_positive, if_negative)
    found = total(scores, best, if_positive, if_negative)
    levels = np.unique(scores)
    candidates = [-np.inf, *(levels[:-1] / 2 + levels[1:] / 2), np.inf]
    totals = [total(scores, candidate, if_positive, if_negative) for candidate in candidates]
    assert found == min(totals)
    assert best == max(c for c, t in zip(candidates, totals, strict=True) if t == found)


def test_neighbouring_floats_are_told_apart():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    threshold = empirical_threshold(np.array([high, low]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    assert low <= threshold < high


def slow(scores, positive, if_positive, if_negative, weight, aim, min_recall):
    """All candidates, one after another: (threshold, cost, least cost of all)."""
    levels = np.unique(scores)
    candidates = [-np.inf, *(levels[:-1] / 2 + levels[1:] / 2), np.inf]
    rated = []
    for cut in candidates:
        told = scores > cut
        tp, fp = weight[told & positive].sum(), weight[told & ~positive].sum()
        fn, tn = weight[~told & positive].sum(), weight[~told & ~positive].sum()
        cost = total(scores, cut, if_positive, if_negative)
        worth = {
            "cost": -cost,
            "g_mean": np.sqrt(tp / (tp + fn) * tn / (tn + fp)),
            "f1": tp * 2 / (2 * tp + fp + fn),
        }
        rated.append((tp / (tp + fn), worth[aim], cut, cost))
    allowed = [entry for entry in rated if entry[0] >= min_recall - 1e-12]
    best = max(worth for _, worth, _, _ in allowed)
    cut, cost = max((cut, cost) for _, worth, cut, cost in allowed if worth >= best - 1e-9)
    return cut, cost, min(cost for _, _, _, cost in rated)


@given(
    st.data(),
    st.integers(2, 25),
    st.sampled_from(["cost", "g_mean", "f1"]),
    st.sampled_from([0, 0.5, 0.8, 1]),
)
def test_every_aim_and_least_recall_against_all_candidates(data, n, aim, min_recall):
    few = st.integers(0, 4).map(float)
    scores, if_positive, if_negative = (data.draw(arrays(float, n, elements=few)) for _ in range(3))
    weight = data.draw(arrays(float, n, elements=st.integers(1, 3).map(float)))
    positive = data.draw(arrays(bool, n))
    positive[:2] = True, False
    found = find_threshold(scores, positive, if_positive, if_negative, weight, aim=aim, min_recall=min_recall)
    cut, cost, least = slow(scores, positive, if_positive, if_negative, weight, aim, min_recall)
    assert found.threshold == cut
    assert found.cost == pytest.approx(cost)
    assert found.extra_cost == pytest.approx(cost - least, abs=1e-9)
    assert found.recall >= min_recall - 1e-12
    told = scores > cut
    assert found.recall == pytest.approx(weight[told & positive].sum() / weight[positive].sum())
    assert found.specificity == pytest.approx(weight[~told & ~positive].sum() / weight[~positive].sum())
    assert least_cost(scores, if_positive, if_negative) == pytest.approx(least)


def test_f1_worked_by_hand():
    # Above 2.5: 1 of 3 found, none false: 2 / (1 + 3). Above 1.5: 1 found, 1 false: 2 / (2 + 3). Above 0.5: 3
    # found, 1 false: 6 / (4 + 3), the best. All: 3 found, 3 false: 6 / (6 + 3).
    scores = np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.0])
    positive = np.array([True, False, True, True, False, False])
    cost = np.zeros(6)
    found = find_threshold(scores, positive, cost, cost, np.ones(6), aim="f1")
    assert (found.threshold, found.recall, found.specificity) == (0.5, 1.0, 2 / 3)
    # Two rows at the top, a true and a false one, count as much as others: 2 / (2 + 2) against 4 / (5 + 2).
    scores, positive = np.array([2.0, 2.0, 1.0, 1.0, 1.0]), np.array([True, False, True, False, False])
    found = find_threshold(scores, positive, np.zeros(5), np.zeros(5), np.ones(5), aim="f1")
    assert found.threshold == -np.inf


def test_no_recall_is_asked_for_where_none_is_named():
    positive, costs = np.array([True, True, False]), (np.array([0.0, 0.0, 9.0]), np.array([1.0, 1.0, 0.0]))
    found = find_threshold(np.array([2.0, 0.0, 1.0]), positive, *costs, np.ones(3))
    assert (found.threshold, found.recall) == (1.5, 0.5)


def test_the_price_of_a_least_recall_rises_with_it():
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.2
    scores = rng.normal(size=400) + positive
    prices = [
        find_threshold(
            scores, positive, 1.0 * ~positive, 4.0 * positive, np.ones(400), min_recall=recall
        ).extra_cost
        for recall in (0, 0.3, 0.6, 0.9, 1)
    ]
    assert prices == sorted(prices)
    assert prices[0] == 0 < prices[-1]


def test_what_no_threshold_can_aim_at_is_refused():
    scores, positive = np.array([0.0, 1.0]), np.array([True, True])
    with pytest.raises(ValueError, match=r"^a threshold needs rows of both classes"):
        find_threshold(scores, positive, scores, scores, np.ones(2))
    with pytest.raises(ValueError, match="rows of both classes"):
        find_threshold(scores, ~positive, scores, scores, np.ones(2))
    with pytest.raises(ValueError, match="aims at cost, g_mean, f1"):
        find_threshold(scores, positive, scores, scores, np.ones(2), aim="accuracy")
    with pytest.raises(ValueError, match="with a recall in"):
        find_threshold(scores, positive, scores, scores, np.ones(2), min_recall=1.5)
