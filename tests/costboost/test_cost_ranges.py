"""Cost ranges against all corners of the box, one after another."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.cost_cells import CostCell
from costboost.cost_ranges import cost_range_report
from costboost.cost_specs import CostSpec
from costboost.decisions import decide
from tests.costboost.strategies import probabilities, row_costs


def corners(low: Any, high: Any) -> Any:
    """Every choice of low or high, cell by cell; low and high of shape (K, A)."""
    for sides in itertools.product([0, 1], repeat=low.size):
        yield np.where(np.reshape(sides, low.shape), high, low)


@settings(max_examples=30)
@given(st.data(), st.sampled_from([(0, 1), (1, 0), (0, 1, 1), (0, 1, None)]))
def test_against_all_corners(data: st.DataObject, serves: Any) -> None:
    p = data.draw(probabilities(2, 4))
    a, b = (data.draw(row_costs(1, 2, len(serves)))[0] for _ in range(2))
    low, high = np.minimum(a, b), np.maximum(a, b)
    report = cost_range_report(p, low, high, serves=serves)
    seen = np.zeros((len(p), len(serves)), dtype=bool)
    seen[np.arange(len(p)), report.decisions.decision] = True
    regret = np.zeros(len(p))
    rows, decision = np.arange(len(p)), report.decisions.decision
    for costs in corners(low, high):
        told = decide(p, costs, serves=serves)
        seen[rows, told.decision] = True
        spent = told.expected_cost
        regret = np.maximum(regret, spent[rows, decision] - spent.min(axis=1))
        assert (spent[rows, decision] <= report.worst_cost + 1e-6).all()
        assert (spent[rows, decision] >= report.best_cost - 1e-6).all()
    assert (report.possible == seen).all()
    assert (report.flips == (seen.sum(axis=1) > 1)).all()
    np.testing.assert_allclose(report.worst_regret, regret, atol=1e-6)


@given(st.data())
def test_no_range_no_flip(data: st.DataObject) -> None:
    p = data.draw(probabilities(3, 6))
    costs = data.draw(row_costs(len(p), 3, 3))
    report = cost_range_report(p, costs, costs, serves=(0, 1, 2))
    assert not report.flips.any()
    assert (report.decisions.decision == decide(p, costs, serves=(0, 1, 2)).decision).all()
    assert np.allclose(report.worst_regret, 0, atol=1e-6)
    assert (report.cautious == report.decisions.decision).mean() > 0.99 or np.allclose(
        report.best_cost, report.worst_cost
    )


def test_wider_ranges_flip_more_and_cost_more() -> None:
    rng = np.random.default_rng(0)
    q = rng.random(500)
    p = np.column_stack([1 - q, q])
    flips, worst = [], []
    for width in (0.0, 0.1, 0.5, 0.9):
        low = np.array([[0.0, 1.0 - width], [9.0 * (1 - width), 0.0]])
        high = np.array([[0.0, 1.0 + width], [9.0 * (1 + width), 0.0]])
        report = cost_range_report(p, low, high, serves=(0, 1), costs=np.array([[0.0, 1.0], [9.0, 0.0]]))
        total = report.summary()
        assert total["best_cost"] <= total["expected_cost"] <= total["worst_cost"]
        assert total["flips"] == report.flips.sum() == round(total["flip_rate"] * 500)
        flips.append(total["flips"])
        worst.append(total["worst_cost"])
    assert flips == sorted(flips)
    assert flips[0] == 0 < flips[-1]
    assert worst == sorted(worst)
    # By hand: p* lies between 0.5/(0.5 + 13.5) and 1.5/(1.5 + 4.5) at a width of one half.
    low, high = np.array([[0.0, 0.5], [4.5, 0.0]]), np.array([[0.0, 1.5], [13.5, 0.0]])
    by_hand = (q > 0.5 / 14) & (q < 1.5 / 6)
    assert (cost_range_report(p, low, high, serves=(0, 1)).flips == by_hand).all()


def test_specs_give_ranges_row_by_row() -> None:
    rng = np.random.default_rng(1)
    q, columns = rng.random(50), {"amount": rng.lognormal(3, 1, 50)}
    p = np.column_stack([1 - q, q])
    low, high = (CostSpec.binary(fn=CostCell(per={"amount": factor}), fp=5.0) for factor in (0.6, 1.0))
    weight = rng.random(50)
    report = cost_range_report(p, low.evaluate(columns, 50), high.evaluate(columns, 50), serves=(0, 1))
    each = [
        cost_range_report(
            p[[i]], *(s.evaluate({"amount": columns["amount"][[i]]}, 1) for s in (low, high)), serves=(0, 1)
        )
        for i in range(50)
    ]
    assert [bool(one.flips[0]) for one in each] == report.flips.tolist()
    assert report.summary(weight)["worst_cost"] == pytest.approx(
        sum(w * one.worst_cost[0] for w, one in zip(weight, each, strict=True))
    )


def test_the_cautious_action_regrets_least() -> None:
    p = np.array([[0.9, 0.1]])
    low, high = np.array([[0.0, 1.0], [8.0, 0.0]]), np.array([[0.0, 1.0], [90.0, 0.0]])
    report = cost_range_report(p, low, high, serves=(0, 1), costs=np.array([[0.0, 1.0], [8.5, 0.0]]))
    assert report.decisions.decision.tolist() == [0]
    assert report.cautious.tolist() == [1]
    assert report.worst_regret[0] == pytest.approx(0.1 * 90 - 0.9)


def test_who_has_one_action_regrets_nothing() -> None:
    p, costs = np.array([[0.5, 0.5]]), np.array([[0.0], [9.0]])
    report = cost_range_report(p, costs, costs + 1, serves=(0,))
    assert report.worst_regret.tolist() == [0.0]
    assert report.cautious.tolist() == [0]


def test_costs_outside_their_range_are_refused() -> None:
    p, low = np.array([[0.5, 0.5]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="within its range"):
        cost_range_report(p, low, low - 1, serves=(0, 1))
    with pytest.raises(ValueError, match="within its range"):
        cost_range_report(p, low, low + 1, serves=(0, 1), costs=low + 2)
    with pytest.raises(ValueError, match="costs must have shape"):
        cost_range_report(p, low[:, :1], low + 1, serves=(0, 1))
