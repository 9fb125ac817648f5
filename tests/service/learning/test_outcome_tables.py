"""Tables of outcomes in rows and money, and versions paired row by row, by numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from service.learning.held_out import TestPart
from service.learning.outcome_tables import cost_by_outcome, decided_table
from service.learning.pairing import pair

P = np.array([0.9, 0.6, 0.4, 0.1])


def part(*, per_row: bool = False) -> TestPart:
    """Rows: fraud .9, legit .6, fraud .4 (twice as heavy), legit .1; a miss costs 50, a false alarm 10."""
    costs = np.array([[0.0, 10.0], [50.0, 1.0]])
    amounts = np.array([70.0, 0.0, 30.0, 0.0])
    by_row = np.broadcast_to(costs, (4, 2, 2)).copy()
    by_row[:, 1, 0] = amounts
    return TestPart(
        classes=("legit", "fraud"),
        actions=("legit", "fraud"),
        positive=1,
        serves=(0, 1),
        rows=np.array([3, 5, 7, 9]),
        codes=np.array([1, 0, 1, 0]),
        weight=np.array([1.0, 1.0, 2.0, 1.0]),
        probabilities=np.column_stack([1 - P, P]),
        score=P,
        decision=np.array([1, 1, 0, 0]),
        costs=by_row if per_row else costs,
    )


def test_what_was_decided_in_rows_and_in_money() -> None:
    found = decided_table(part())
    assert found["count"] == [[1.0, 1.0], [2.0, 1.0]]
    assert found["cost"] == [[0.0, 10.0], [100.0, 1.0]]


def test_costs_of_each_row_count_by_themselves() -> None:
    assert decided_table(part(per_row=True))["cost"] == [[0.0, 10.0], [60.0, 1.0]]


def test_money_by_outcome_at_each_threshold() -> None:
    found = cost_by_outcome(part(per_row=True), [0.0, 0.4, 0.5, 1.0])
    assert found == {
        "tp": [3.0, 1.0, 1.0, 0.0],  # 1 for .9, 2 x 1 for .4, which is not above .4
        "fp": [20.0, 10.0, 10.0, 0.0],
        "fn": [0.0, 60.0, 60.0, 130.0],
        "tn": [0.0, 0.0, 0.0, 0.0],
    }


def test_versions_are_paired_on_the_rows_that_both_set_aside() -> None:
    first = part()
    second = replace(first, rows=np.array([5, 7, 9, 11]), decision=np.array([0, 1, 0, 0]))
    found = pair(first, second)
    assert found is not None
    # Rows 5, 7, 9 of weights 1, 2, 1: the first pays 10, 50, 0, the second 0, 1, 0.
    assert (found.rows, found.differing) == (3, 2)
    assert found.first == pytest.approx(110 / 4)
    assert found.second == pytest.approx(2 / 4)
    assert found.difference == pytest.approx(-27.0)
    assert found.ci95 is not None
    assert found.ci95[0] < -27.0 < found.ci95[1]


def test_versions_without_rows_in_common_are_not_compared() -> None:
    first = part()
    assert pair(first, replace(first, rows=np.array([0, 1, 2, 4]))) is None
    assert pair(first, replace(first, actions=("a", "b"))) is None
