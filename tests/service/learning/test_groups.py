"""Figures of groups, by hand."""

import numpy as np
import pytest

from service.learning import TestPart, by_class, by_group, figures


def part(decision=(1, 0, 1, 2), codes=(1, 1, 0, 0), weight=(1.0, 1.0, 1.0, 1.0)):
    """Four rows: a hit, a miss, a false alarm and a reviewed one."""
    p = np.array([0.9, 0.2, 0.6, 0.4])
    return TestPart(
        classes=("legit", "fraud"),
        actions=("approve", "decline", "review"),
        positive=1,
        serves=(0, 1, None),
        rows=np.arange(4),
        codes=np.array(codes),
        weight=np.array(weight),
        probabilities=np.column_stack([1 - p, p]),
        score=p,
        decision=np.array(decision),
        costs=np.array([[0.0, 5.0, 2.0], [100.0, 0.0, 3.0]]),
    )


def test_figures_by_hand():
    found = figures(part())
    assert found["rows"] == 4
    assert found["expected_cost"] == pytest.approx((0 + 100 + 5 + 2) / 4)
    assert (found["recall"], found["specificity"], found["precision"]) == (0.5, 0.5, 0.5)
    assert (found["accuracy"], found["review_rate"], found["flagged"]) == (0.25, 0.25, 0.5)
    assert found["mean_probability"] == pytest.approx(0.525)
    assert found["recall_ci95"][0] < 0.5 < found["recall_ci95"][1]


def test_what_has_no_rows_is_undefined():
    found = figures(part(), np.array([True, True, False, False]))
    assert found["specificity"] is None
    assert found["specificity_ci95"] is None
    assert figures(part(), np.array([True, False, False, False]))["expected_cost_ci95"] is None


def test_rows_of_each_class():
    found = by_class(part())
    assert [one["class"] for one in found] == ["legit", "fraud"]
    assert [one["expected_cost"] for one in found] == [3.5, 50.0]


def test_groups_of_categories_and_missing_ones():
    values = np.array(["ch", None, "ch", "de"], dtype=object)
    found = by_group(part(), values, "category")
    assert [(one["group"], one["rows"]) for one in found] == [("ch", 2), ("de", 1), (None, 1)]


def test_rare_categories_are_one_group():
    n = 40
    many = TestPart(
        ("a", "b"), ("a", "b"), 1, (0, 1), np.arange(n), np.arange(n) % 2, np.ones(n),
        np.full((n, 2), 0.5), np.zeros(n), np.zeros(n, dtype=np.int64), np.array([[0.0, 1.0], [1.0, 0.0]]),
    )  # fmt: skip
    values = np.array([f"c{i:02d}" for i in range(n)], dtype=object)
    found = by_group(many, values, "category")
    assert (len(found), found[-1]["group"], found[-1]["rest"], found[-1]["rows"]) == (21, None, True, 20)


def test_quarters_of_a_number_with_ties_and_booleans():
    found = by_group(part(), np.array([1.0, 1.0, 1.0, np.nan]), "number")
    assert [(one["group"], one["rows"]) for one in found] == [("quarter 1", 3), (None, 1)]
    found = by_group(part(), np.array([1.0, 2.0, 3.0, 4.0]), "number")
    assert [(one["low"], one["high"]) for one in found] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    found = by_group(part(), np.array([1.0, 0.0, 1.0, np.nan]), "boolean")
    assert [(one["group"], one["rows"]) for one in found] == [("false", 1), ("true", 2), (None, 1)]
