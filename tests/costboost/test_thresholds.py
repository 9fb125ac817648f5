import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from costboost.thresholds import empirical_threshold


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
