"""Reviews within a capacity: laws, and small cases by hand."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.actions import Action, Review
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.decisions import decide
from costboost.review import lower_envelope, net_benefit, plan_reviews
from tests.costboost.strategies import probabilities, row_costs

SERVES = (0, 1, None)


def with_review(draw: Any, coarse: bool) -> tuple[Any, Any]:
    """Probabilities, and costs of which the last action is a review within the others' range."""
    p = draw(probabilities(2, 12))
    if coarse:  # many rows of one worth
        p = np.column_stack([1 - (q := p[:, 1].round(1)), q])
        costs = np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
        return p, costs
    costs = draw(row_costs(len(p), 2, 3))
    costs[:, :, 2] = costs[:, :, :2].mean(axis=2) - draw(st.floats(0, 100, width=32))
    return p, costs


@given(st.data(), st.booleans())
def test_laws_of_a_capacity(data: st.DataObject, coarse: bool) -> None:
    p, costs = with_review(data.draw, coarse)
    before = np.inf
    for capacity in range(len(p) + 1):
        plan = plan_reviews(p, costs, capacity, serves=SERVES)
        assert plan.reviewed.sum() <= capacity
        # The shadow price moves decisions, not what they are expected to cost.
        free = decide(p, costs, serves=SERVES).expected_cost
        np.testing.assert_array_equal(plan.decisions.expected_cost, free)
        # The price alone reproduces the choice.
        priced = np.broadcast_to(costs, (len(p), 2, 3)).copy()
        priced[:, :, 2] += plan.price
        again = decide(p, priced, serves=SERVES)
        assert (again.decision == plan.decisions.decision).all()
        # More places never cost more.
        assert plan.cost <= before + 1e-9 * np.abs(costs).max() * len(p)
        before = plan.cost
        # Places stay empty only for want of worth, or by a tie.
        wanted = int((plan.net_benefit > 1e-9 * np.abs(costs).max()).sum())
        if plan.tied == 0:
            assert plan.reviewed.sum() >= min(capacity, wanted) or near_tie(plan, costs)
    free = decide(p, costs, serves=SERVES)
    assert plan.price == 0.0
    assert (plan.decisions.decision == free.decision).all()


def near_tie(plan: Any, costs: Any) -> bool:
    """Whether two rows are worth the same but for the last digits."""
    worth = np.sort(plan.net_benefit)
    return bool((np.diff(worth) <= 1e-12 * np.abs(costs).max()).any())


def test_exactly_so_many_rows_when_no_two_are_worth_the_same() -> None:
    rng = np.random.default_rng(0)
    q = rng.random(500)
    p, costs = np.column_stack([1 - q, q]), np.array([[0.0, 5.0, 0.5], [9.0, 0.0, 0.5]])
    worth = np.sort(net_benefit(decide(p, costs, serves=SERVES).expected_cost, SERVES))[::-1]
    for capacity in (0, 1, 7, 100, 250):
        plan = plan_reviews(p, costs, capacity, serves=SERVES)
        assert plan.reviewed.sum() == capacity
        assert plan.tied == 0
        assert set(plan.net_benefit[plan.reviewed]) == set(worth[:capacity])


def test_rows_of_one_worth_get_places_together_or_not_at_all() -> None:
    q = np.array([0.4, 0.3, 0.3, 0.3, 0.2])
    p, costs = np.column_stack([1 - q, q]), np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
    for capacity, reviewed, tied in [(0, 0, 0), (1, 1, 0), (2, 1, 3), (3, 1, 3), (4, 4, 0), (5, 5, 0)]:
        plan = plan_reviews(p, costs, capacity, serves=SERVES)
        assert (plan.reviewed.sum(), plan.tied) == (reviewed, tied)


def test_each_period_has_its_own_capacity_and_the_largest_price_is_safe_for_all() -> None:
    rng = np.random.default_rng(1)
    q, days = rng.random(300), rng.integers(0, 4, 300)
    p, costs = np.column_stack([1 - q, q]), np.array([[0.0, 5.0, 0.5], [9.0, 0.0, 0.5]])
    plan = plan_reviews(p, costs, 10, serves=SERVES, periods=days)
    assert np.bincount(days, plan.reviewed).tolist() == [10.0] * 4
    for day in range(4):
        alone = plan_reviews(p[days == day], costs, 10, serves=SERVES)
        assert (plan.shadow_price[days == day] == alone.price).all()
        assert (plan.reviewed[days == day] == alone.reviewed).all()
    dear = costs + np.array([0.0, 0.0, plan.price])
    assert (np.bincount(days, decide(p, dear, serves=SERVES).label < 0) <= 10).all()


def test_periods_with_costs_of_their_rows_and_ties_in_each() -> None:
    rng = np.random.default_rng(3)
    q, days = rng.random(60), np.repeat([0, 1], 30)
    p = np.column_stack([1 - q, q])
    costs = np.array([[0.0, 5.0, 0.5], [9.0, 0.0, 0.5]]) * rng.uniform(1, 9, 60)[:, None, None]
    plan = plan_reviews(p, costs, 5, serves=SERVES, periods=days)
    for day in (0, 1):
        alone = plan_reviews(p[days == day], costs[days == day], 5, serves=SERVES)
        assert (plan.shadow_price[days == day] == alone.price).all()
        assert (plan.reviewed[days == day] == alone.reviewed).all()
    # Of three rows of one worth none gets one of two places, on either day.
    same = plan_reviews(p[[0] * 6], costs[[0] * 6], 2, serves=SERVES, periods=np.repeat([0, 1], 3))
    assert (same.reviewed.sum(), same.tied) == (0, 6)


def test_a_spec_with_the_shadow_price_decides_the_same() -> None:
    spec = CostSpec.from_actions(
        ("legit", "fraud"),
        ["approve", "decline", Action("review", None)],
        {("fraud", "approve"): CostCell(per={"amount": 1.0}), ("legit", "decline"): 20.0},
        review=Review(fee=3.5, accuracy=(0.99, 0.95)),
    )
    rng = np.random.default_rng(2)
    q, amount = rng.random(400) ** 3, rng.lognormal(4, 1, 400)
    p, columns = np.column_stack([1 - q, q]), {"amount": amount}
    plan = plan_reviews(p, spec.evaluate(columns, 400), 25, serves=spec.serves, positive=1)
    priced = replace(spec, review=replace(spec.review, shadow_price=plan.price))
    again = decide(p, priced.evaluate(columns, 400), serves=spec.serves, positive=1)
    assert (again.decision == plan.decisions.decision).all()
    assert plan.reviewed.sum() == 25


def test_large_files_of_near_ties_take_few_steps() -> None:
    q = 0.3 + np.arange(50_000) * 1e-16
    p, costs = np.column_stack([1 - q, q]), np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
    assert plan_reviews(p, costs, 700, serves=SERVES).reviewed.sum() <= 700


def test_what_has_no_review_or_capacity_is_refused() -> None:
    p, costs = np.array([[0.5, 0.5]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="none of the actions is a review"):
        plan_reviews(p, costs, 1, serves=(0, 1))
    with pytest.raises(ValueError, match="must not be negative"):
        plan_reviews(p, costs, -1, serves=(0, 1))
    with pytest.raises(ValueError, match="periods must have shape"):
        plan_reviews(p, np.ones((2, 3)), 1, serves=SERVES, periods=np.zeros(2))
    with pytest.raises(ValueError, match="an envelope is of two classes"):
        lower_envelope(np.ones((3, 3)), serves=SERVES)


@given(st.data(), st.sampled_from([0, 1]))
def test_the_envelope_names_what_decide_decides(data: st.DataObject, positive: int) -> None:
    costs = data.draw(row_costs(1, 2, 3))[0]
    parts = lower_envelope(costs, serves=SERVES, positive=positive)
    if positive == 1:
        assert parts == lower_envelope(costs, serves=SERVES)
    assert parts[0].low == 0.0
    assert parts[-1].high == 1.0
    for part, following in itertools.pairwise(parts):
        assert part.high == following.low
        assert part.action != following.action
    for q in np.linspace(0.0005, 0.9995, 100):
        p = np.array([[q, 1 - q] if positive == 0 else [1 - q, q]])
        told = decide(p, costs, serves=SERVES, positive=positive)
        action = next(part.action for part in parts if part.low <= q <= part.high)
        spent = told.expected_cost[0]
        assert spent[action] <= spent.min() + 1e-9 * (1 + np.abs(costs).max())
