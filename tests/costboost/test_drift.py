"""Drift against numbers worked by hand, and against what chance gives."""

import math

import numpy as np
import pytest

from costboost.drift import category_drift, number_drift, stability_index


def test_the_index_of_two_bins() -> None:
    """Shares (50.5, 50.5) / 101 and (90.5, 10.5) / 101: the difference is 40 / 101 on both sides, so
    40 / 101 * (ln(90.5 / 50.5) + ln(50.5 / 10.5)) = 40 / 101 * ln(90.5 / 10.5)."""
    found = stability_index(np.array([50.0, 50.0]), np.array([90.0, 10.0]))
    assert found == pytest.approx(40 / 101 * math.log(90.5 / 10.5))


def test_nothing_moved() -> None:
    values = np.arange(1000.0)
    drift = number_drift(values, values.copy())
    assert (drift.psi, drift.ks, drift.missing) == (0.0, 0.0, 0.0)
    assert (drift.reference, drift.sample) == (1000, 1000)
    assert drift.psi_by_chance == pytest.approx(9 * 2 / 1000)


def test_the_distance_is_the_largest_one() -> None:
    """Of 1 2 3 4 all lie at or below 4, of 3 4 5 6 two: at 2 it is 2/4 - 0, at 4 it is 1 - 2/4."""
    drift = number_drift(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 4.0, 5.0, 6.0]))
    assert drift.ks == 0.5


def test_what_is_missing_is_a_bin() -> None:
    """Reference 8 values and 2 missing, sample 2 and 8: over the two bins that differ in shares."""
    reference = np.array([1.0] * 8 + [np.nan] * 2)
    sample = np.array([1.0] * 2 + [np.nan] * 8)
    drift = number_drift(reference, sample)
    assert (drift.missing_reference, drift.missing, drift.ks) == (0.2, 0.8, 0.0)
    assert drift.psi == pytest.approx(2 * 6 / 11 * math.log(8.5 / 2.5))
    nothing = number_drift(reference, np.full(3, np.nan))
    assert (nothing.ks, nothing.missing) == (None, 1.0)


def test_categories() -> None:
    """a: 6 of 10 -> 2 of 10; b: 4 -> 4; a new one: 0 -> 4; nothing is missing."""
    drift = category_drift(["a"] * 6 + ["b"] * 4, ["a"] * 2 + ["b"] * 4 + ["new"] * 4)
    shares = [(6.5, 2.5), (4.5, 4.5), (0.5, 4.5)]
    assert drift.psi == pytest.approx(sum((a - e) / 11.5 * math.log(a / e) for e, a in shares))
    assert drift.ks is None
    assert category_drift([None, "a"], ["a", "a"]).missing_reference == 0.5


def test_chance_alone_gives_about_what_is_told() -> None:
    rng = np.random.default_rng(3)
    drifts = [number_drift(rng.normal(size=500), rng.normal(size=300)) for _ in range(300)]
    assert np.mean([one.psi for one in drifts]) == pytest.approx(drifts[0].psi_by_chance, rel=0.15)


def test_a_side_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="both sides"):
        number_drift(np.array([1.0]), np.empty(0))
    with pytest.raises(ValueError, match="both sides"):
        category_drift([], ["a"])


def test_bins_are_told_with_the_shares_of_both_sides():
    drift = number_drift(np.array([1.0, 2.0, 3.0, np.nan]), np.array([0.0, 9.0]))
    assert drift.bins[0].startswith("<= ")
    assert drift.bins[-1] == "missing"
    assert sum(drift.shares_reference) == pytest.approx(1.0)
    assert (drift.shares[0], drift.shares[-2:]) == (0.5, (0.5, 0.0))
    named = category_drift(["a", "a", "b"], ["a", "c"])
    assert (named.bins, named.shares_reference) == (("a", "b", "others"), pytest.approx((2 / 3, 1 / 3, 0)))
    assert named.shares == (0.5, 0.0, 0.5)
    assert number_drift(np.full(2, np.nan), np.array([1.0])).bins == ("any number", "missing")
