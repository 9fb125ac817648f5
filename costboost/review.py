"""Which rows of a file are worth a review when reviewers are few, and the price that says so row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST
from costboost.decisions import Decisions, decide

__all__ = ["EnvelopePart", "ReviewPlan", "lower_envelope", "net_benefit", "plan_reviews"]

# So much above all rows' worth, no rounding lets one of them in.
_BEYOND = 1e-12


@dataclass(frozen=True)
class ReviewPlan:
    """Reviews within a capacity.

    Attributes
    ----------
    decisions : Decisions
        What `decide` says when the review of each row costs `shadow_price` more.
    reviewed : ndarray of shape (n,), bool
    net_benefit : ndarray of shape (n,), float64
        What a review saves against the cheapest other action, in money; negative where it costs more.
    shadow_price : ndarray of shape (n,), float64
        What a place in the review is worth, in money: the same for all rows of a period.
    price : float
        The largest of them: with it no period exceeds its capacity.
    tied : int
        Rows left out because they are worth as much as others that have no place either: a price that lets
        one of them in lets in all.
    cost : float
        Expected cost of the decisions in money, the shadow price not counted.

    Examples
    --------
    >>> p, costs = np.array([[0.5, 0.5]]), np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
    >>> plan = plan_reviews(p, costs, 1, serves=(0, 1, None))
    >>> plan.reviewed.tolist(), plan.cost, plan.price
    ([True], 1.0, 0.0)
    """

    decisions: Decisions
    reviewed: NDArray[np.bool_]
    net_benefit: NDArray[np.float64]
    shadow_price: NDArray[np.float64]
    price: float
    tied: int
    cost: float


def net_benefit(expected_cost: NDArray[np.float64], serves: Sequence[int | None]) -> NDArray[np.float64]:
    """What reviewing each row saves against the cheapest other action.

    Parameters
    ----------
    expected_cost : ndarray of shape (n, A), float64
        Of `Decisions`.
    serves : sequence of A class indices, None for the review

    Returns
    -------
    ndarray of shape (n,), float64
        In money.

    Raises
    ------
    ValueError
        If no action is a review.

    Examples
    --------
    >>> net_benefit(np.array([[10.0, 4.0, 1.0], [0.5, 4.0, 1.0]]), (0, 1, None))
    array([ 3. , -0.5])
    """
    review = _review(serves)
    others = [a for a in range(len(serves)) if a != review]
    benefit: NDArray[np.float64] = expected_cost[:, others].min(axis=1) - expected_cost[:, review]
    return benefit


def plan_reviews(
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
    capacity: int,
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    periods: NDArray[np.generic] | None = None,
) -> ReviewPlan:
    """Give the places in the review to the rows for which it saves most.

    A row is reviewed iff its net benefit exceeds a price: 0 if there are places enough, else one between the
    last row that gets a place and the first that gets none. Rows of one worth get places together or not at
    all, so that the price alone reproduces the choice, row by row.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K), float64
    costs : ndarray of shape (K, A) or (n, K, A), float64
        That of the review without a shadow price.
    capacity : int
        Rows that can be reviewed, in each period.
    serves : sequence of A class indices, None for the review
    positive : int, optional
        As in `decide`.
    periods : ndarray of shape (n,), optional
        Day, or whatever the capacity is per; one period if left out.

    Returns
    -------
    ReviewPlan

    Raises
    ------
    ValueError
        If no action is a review, the capacity is negative, or `decide` refuses the rest.

    Examples
    --------
    >>> p = np.array([0.5, 0.4, 0.01])
    >>> costs = np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
    >>> plan = plan_reviews(np.column_stack([1 - p, p]), costs, 1, serves=(0, 1, None))
    >>> plan.reviewed.tolist(), plan.net_benefit.round(2).tolist(), round(plan.price, 2)
    ([False, True, False], [1.5, 2.0, -0.91], 1.75)
    """
    if capacity < 0:
        raise ValueError(f"the capacity of a review must not be negative, not {capacity}")
    free = decide(probabilities, costs, serves=serves, positive=positive)
    benefit = net_benefit(free.expected_cost, serves)
    n = len(probabilities)
    period = np.zeros(n, dtype=np.intp) if periods is None else np.unique(periods, return_inverse=True)[1]
    if period.shape != (n,):
        raise ValueError(f"periods must have shape {(n,)}, not {period.shape}")
    prices, tied = np.zeros(n), 0
    for number in range(int(period.max()) + 1):
        rows = np.flatnonzero(period == number)
        own = costs if costs.ndim == 2 else costs[rows]
        choice = _Choice(probabilities[rows], own, serves, positive)
        prices[rows], without = choice.price(benefit[rows], capacity)
        tied += without
    decisions = decide(probabilities, _raised(costs, serves, prices), serves=serves, positive=positive)
    decisions = replace(decisions, expected_cost=free.expected_cost)
    paid = free.expected_cost[np.arange(n), decisions.decision]
    return ReviewPlan(
        decisions,
        decisions.label < 0,
        benefit,
        prices,
        price=float(prices.max()),
        tied=tied,
        cost=float(paid.sum()),
    )


@dataclass(frozen=True)
class _Choice:
    """Rows of one period, and which of them are reviewed at a price."""

    probabilities: NDArray[np.float64]
    costs: NDArray[np.float64]
    serves: Sequence[int | None]
    positive: int | None

    def reviewed(self, price: float) -> int:
        raised = _raised(self.costs, self.serves, np.full(len(self.probabilities), price))
        labels = decide(self.probabilities, raised, serves=self.serves, positive=self.positive).label
        return int((labels < 0).sum())

    def price(self, benefit: NDArray[np.float64], capacity: int) -> tuple[float, int]:
        """Price of a place, and how many rows a tie at that price leaves out."""
        if self.reviewed(0.0) <= capacity:
            return 0.0, 0
        worth = np.unique(benefit)[::-1]
        beyond = worth[0] * (1.0 + _BEYOND) + _BEYOND * float(np.abs(self.costs).max())
        prices = np.append(min(beyond, LARGEST_COST), np.maximum(worth[:-1] / 2 + worth[1:] / 2, 0.0))
        # Deciding adds in another order than the benefit was found in, so the choice itself is searched.
        level, too_low = 0, len(prices)
        while too_low - level > 1:
            middle = (level + too_low) // 2
            if self.reviewed(float(prices[middle])) <= capacity:
                level = middle
            else:
                too_low = middle
        places_left = capacity - self.reviewed(float(prices[level]))
        return float(prices[level]), int((benefit == worth[level]).sum()) if places_left else 0


@dataclass(frozen=True)
class EnvelopePart:
    """Where one action is expected to cost least.

    Attributes
    ----------
    action : int
    low, high : float
        Probability of the positive class from and to which.
    """

    action: int
    low: float
    high: float


def lower_envelope(
    costs: NDArray[np.float64], *, serves: Sequence[int | None], positive: int | None = None
) -> list[EnvelopePart]:
    """Actions of least expected cost, in the order of the probability of the positive class (two classes).

    Expected costs are straight lines over the probability; the lower envelope of these lines is what the
    decisions cost.

    Parameters
    ----------
    costs : ndarray of shape (2, A), float64
    serves : sequence of A class indices, None for a review
    positive : int, optional
        Class 1 when left out.

    Returns
    -------
    list of EnvelopePart
        From 0 to 1 without gaps.

    Examples
    --------
    >>> costs = np.array([[0.0, 5.0, 1.0], [9.0, 0.0, 1.0]])
    >>> [(part.action, round(part.high, 3)) for part in lower_envelope(costs, serves=(0, 1, None))]
    [(0, 0.111), (2, 0.8), (1, 1.0)]
    """
    if costs.shape != (2, len(serves)):
        raise ValueError(f"an envelope is of two classes and {len(serves)} actions, not of {costs.shape}")
    chosen = 1 if positive is None else positive
    at_zero, at_one = costs[1 - chosen], costs[chosen]
    slope = at_one - at_zero
    pairs = [(a, b) for a in range(len(slope)) for b in range(a) if slope[a] != slope[b]]
    crossings = [(at_zero[b] - at_zero[a]) / (slope[a] - slope[b]) for a, b in pairs]
    bounds = np.unique([0.0, 1.0, *(p for p in crossings if 0.0 < p < 1.0)])
    middles = bounds[:-1] / 2 + bounds[1:] / 2
    p = np.column_stack([1.0 - middles, middles] if chosen == 1 else [middles, 1.0 - middles])
    actions = decide(p, costs, serves=serves, positive=positive).decision
    starts = np.flatnonzero(np.append(True, actions[1:] != actions[:-1]))
    ends = np.append(starts[1:], len(actions))
    return [
        EnvelopePart(int(actions[start]), float(bounds[start]), float(bounds[end]))
        for start, end in zip(starts, ends, strict=True)
    ]


def _review(serves: Sequence[int | None]) -> int:
    if None not in serves:
        raise ValueError("none of the actions is a review")
    return serves.index(None)


def _raised(
    costs: NDArray[np.float64], serves: Sequence[int | None], prices: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n, K, A): the review of each row dearer by its price."""
    raised = np.repeat(costs[None], len(prices), axis=0) if costs.ndim == 2 else costs.copy()
    raised[:, :, _review(serves)] += prices[:, None]
    return raised
