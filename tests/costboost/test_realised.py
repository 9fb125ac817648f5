"""Realised cost, against numbers worked by hand and against a world in which every label is known."""

import math

import numpy as np
import pytest

from costboost.realised import realised_cost

ACCEPTED, DECLINED = [0.0, 100.0], [10.0, 0.0]
Z = 1.959963984540054


def test_where_all_labels_are_known_it_is_the_mean() -> None:
    """Costs 0, 100, 0, 5: mean 26.25; squares of deviations 7268.75, so the variance of the mean is
    7268.75 / 3 / 4 = 605.729."""
    costs = np.array([[0.0, 100.0], [0.0, 100.0], [5.0, 0.0], [5.0, 0.0]])
    found = realised_cost(costs, np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 1.0, 1.0]))
    assert found.mean == 26.25
    assert found.ci95 == pytest.approx(
        (26.25 - Z * math.sqrt(605.7291666), 26.25 + Z * math.sqrt(605.7291666))
    )
    assert found.bounds == (26.25, 26.25)
    assert (found.method, found.rows, found.known) == ("observed", 4, 4)


def test_late_labels_stand_for_those_to_come() -> None:
    """Of three accepted rows one label is missing: the mean of the others; bounds 0 and 100 for it."""
    found = realised_cost(np.array([ACCEPTED] * 3), np.array([0, 1, -1]), np.ones(3))
    assert found.mean == 50.0
    assert found.bounds == pytest.approx((100 / 3, 200 / 3))
    assert (found.method, found.known) == ("observed", 2)


def test_what_was_declined_is_known_from_what_was_let_through() -> None:
    """Six accepted, labels 0 0 0 1 and two late: 25. Four declined, of which two were let through, with
    probabilities 1/4 (class 0: 10) and 1/2 (class 1: 0): (4*10 + 2*0) / 6 = 6 2/3. Together
    0.6 * 25 + 0.4 * 6.667 = 17.667. The accepted have the variance 7500 / 3 / 4 = 625, the declined
    2 * (16 * 11.111 + 4 * 44.444) / 36 = 19.753; between them 0.6 * 53.78 + 0.4 * 121
    = 80.667, over ten rows.
    """
    costs = np.array([ACCEPTED] * 6 + [DECLINED] * 4)
    label = np.array([0, 0, 0, 1, -1, -1, 0, 1, -1, -1])
    reveal = np.array([1.0] * 6 + [0.25, 0.5, 0.0, 0.0])
    found = realised_cost(costs, label, reveal)
    assert found.mean == pytest.approx(15 + 0.4 * 20 / 3)
    variance = 0.36 * 625 + 0.16 * 19.7530864 + 80.6666667 / 10
    half = Z * math.sqrt(variance)
    assert found.ci95 == pytest.approx((found.mean - half, found.mean + half))
    assert found.bounds == pytest.approx(
        (11.0, 33.0)
    )  # (100 + 10) / 10; the four unknown add 100 + 100 + 10 + 10
    assert found.method == "inverse_propensity"


def test_where_nothing_was_let_through_only_bounds_are_known() -> None:
    """A label that came of itself for a declined row stands for that row alone."""
    costs = np.array([ACCEPTED] * 2 + [DECLINED] * 3)
    found = realised_cost(costs, np.array([0, 0, 0, -1, -1]), np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
    assert (found.mean, found.ci95, found.method) == (None, None, "not_identifiable")
    assert found.reason is not None
    assert found.reason.startswith("2 of 3 rows decided positive have no label")
    assert found.bounds == (2.0, 6.0)
    complete = realised_cost(costs, np.array([0, 0, 0, 1, 1]), np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
    assert (complete.mean, complete.method) == (2.0, "observed")


def test_why_nothing_is_known_is_said_and_only_then() -> None:
    one_missing = realised_cost(np.array([DECLINED] * 3), np.array([0, 0, -1]), np.zeros(3))
    assert str(one_missing.reason).startswith("1 of 3 rows decided positive has no label")
    assert one_missing.bounds == pytest.approx((20 / 3, 10.0))
    early = realised_cost(np.array([ACCEPTED] * 2), np.array([-1, -1]), np.ones(2))
    assert str(early.reason).startswith("none of 2 rows whose labels come late")
    assert realised_cost(np.array([DECLINED] * 3), np.array([0, 0, 1]), np.zeros(3)).reason is None


def test_a_row_that_costs_the_same_whatever_it_is_needs_no_label() -> None:
    """A pair of decisions that agree differs by nothing: only where they part a label is needed."""
    difference = np.array([[0.0, 0.0]] * 8 + [[10.0, -100.0]] * 2)
    found = realised_cost(difference, np.full(10, -1), np.array([0.0] * 8 + [1.0, 1.0]))
    assert (found.method, found.known) == ("not_identifiable", 8)
    found = realised_cost(difference, np.array([-1] * 8 + [0, 1]), np.array([0.0] * 8 + [1.0, 1.0]))
    assert found.mean == pytest.approx(-9.0)
    assert found.ci95 is not None
    assert found.bounds == (-9.0, -9.0)


def test_one_row_has_no_interval() -> None:
    found = realised_cost(np.array([ACCEPTED]), np.array([1]), np.ones(1))
    assert (found.mean, found.ci95) == (100.0, None)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """2000 rows of a known world, 400 times: declined rows are let through with probability 0.1."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        p = rng.uniform(size=2000) ** 3
        truth = (rng.uniform(size=2000) < p).astype(np.intp)
        declined = p > 0.3
        costs = np.where(declined[:, None], DECLINED, ACCEPTED)
        drawn = rng.uniform(size=2000) < 0.1
        reveal = np.where(declined, np.where(drawn, 0.1, 0.0), 1.0)
        late = rng.uniform(size=2000) < 0.2
        found = realised_cost(costs, np.where((reveal > 0) & ~late, truth, -1), reveal)
        # The mean of the world: p is u^3, so both parts are integrals; by a fine grid they are exact enough.
        grid = (np.arange(200_000) + 0.5) / 200_000
        q = grid**3
        world = np.where(q > 0.3, 10.0 * (1 - q), 100.0 * q).mean()
        assert found.ci95 is not None
        hits += found.ci95[0] <= world <= found.ci95[1]
    assert 0.92 <= hits / 400 <= 0.98


def test_no_row_and_no_probability_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        realised_cost(np.empty((0, 2)), np.empty(0, dtype=np.intp), np.empty(0))
    with pytest.raises(ValueError, match="probabilities"):
        realised_cost(np.array([ACCEPTED]), np.array([0]), np.array([1.5]))
