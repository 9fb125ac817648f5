"""Costs known only to lie between two amounts: which decisions hold all the same, and the worst case."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.decisions import Decisions, decide

__all__ = ["CostRangeReport", "cost_range_report"]


@dataclass(frozen=True)
class CostRangeReport:
    """Decisions for n rows under costs that may lie anywhere between `low` and `high`.

    Attributes
    ----------
    decisions : Decisions
        Under the costs in the middle, or those given.
    flips : ndarray of shape (n,), bool
        Whether some costs within the ranges make another action the decision.
    possible : ndarray of shape (n, A), bool
        Whether some costs within the ranges make that action the decision.
    best_cost, worst_cost : ndarray of shape (n,), float64
        Least and largest expected cost of the decision, in money.
    worst_regret : ndarray of shape (n,), float64
        The most that the decision may cost beyond the action that would then have been the cheapest.
    cautious : ndarray of shape (n,), intp
        The action whose worst regret is the least; the decision itself where that is as good as any.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1]])
    >>> low, high = np.array([[0.0, 1.0], [7.0, 0.0]]), np.array([[0.0, 1.0], [11.0, 0.0]])
    >>> report = cost_range_report(p, low, high, serves=(0, 1))
    >>> report.flips.tolist(), report.possible.tolist()
    ([True], [[True, True]])
    """

    decisions: Decisions
    flips: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    best_cost: NDArray[np.float64]
    worst_cost: NDArray[np.float64]
    worst_regret: NDArray[np.float64]
    cautious: NDArray[np.intp]

    def summary(self, sample_weight: NDArray[np.float64] | None = None) -> dict[str, float]:
        """Rows, those that flip, and totals in money, as plain numbers."""
        n = len(self.flips)
        weight = np.ones(n) if sample_weight is None else sample_weight
        chosen = self.decisions.expected_cost[np.arange(n), self.decisions.decision]
        return {
            "rows": n,
            "flips": int(self.flips.sum()),
            "flip_rate": float(weight @ self.flips / weight.sum()),
            "expected_cost": float(weight @ chosen),
            "best_cost": float(weight @ self.best_cost),
            "worst_cost": float(weight @ self.worst_cost),
            "worst_regret": float(weight @ self.worst_regret),
        }


def cost_range_report(
    probabilities: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    costs: NDArray[np.float64] | None = None,
) -> CostRangeReport:
    """Find which decisions hold for all costs between two sets of them, and the worst case.

    Each cell moves in its own range. An expected cost rises with each cell, so that an action is at its best
    with its own cells low and all others high: what is found is exact, without a search. A review's cost is
    made of the others' cells; here it moves on its own, so that for a review `flips` and `worst_regret` err
    on the side of caution.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K), float64
    low, high : ndarray of shape (K, A) or (n, K, A), float64
        ``low <= high``; as a `CostSpec` evaluates them.
    serves, positive
        As in `decide`.
    costs : ndarray of shape (K, A) or (n, K, A), optional
        What is decided with, within the ranges; the middle if left out.

    Returns
    -------
    CostRangeReport

    Raises
    ------
    ValueError
        If a cost lies outside its range, or `decide` refuses the rest.

    Examples
    --------
    >>> p = np.array([[0.95, 0.05], [0.85, 0.15]])
    >>> low, high = np.array([[0.0, 1.0], [7.0, 0.0]]), np.array([[0.0, 1.0], [11.0, 0.0]])
    >>> report = cost_range_report(p, low, high, serves=(0, 1))
    >>> report.decisions.decision, report.flips, report.worst_cost
    (array([0, 1]), array([False, False]), array([0.55, 0.85]))
    """
    n, n_actions = len(probabilities), len(serves)
    shape = (n, probabilities.shape[1], n_actions)
    least, most = (_rows_of(amounts, shape) for amounts in (low, high))
    chosen = least / 2 + most / 2 if costs is None else _rows_of(costs, shape)
    for smaller, larger in ((least, most), (least, chosen), (chosen, most)):
        if not (smaller <= larger).all():
            raise ValueError("each cost must lie within its range, from low to high")
    decisions = decide(probabilities, chosen, serves=serves, positive=positive)
    best = _expected(probabilities, least)
    worst = _expected(probabilities, most)
    possible = np.empty((n, n_actions), dtype=np.bool_)
    for a in range(n_actions):
        favoured = most.copy()
        favoured[:, :, a] = least[:, :, a]
        told = decide(probabilities, favoured, serves=serves, positive=positive)
        possible[:, a] = told.decision == a
    rows, decision = np.arange(n), decisions.decision
    # Rounding aside, what was decided is possible.
    possible[rows, decision] = True
    regret = _worst_regrets(best, worst)
    cautious = np.where(regret[rows, decision] <= regret.min(axis=1), decision, regret.argmin(axis=1))
    return CostRangeReport(
        decisions,
        possible.sum(axis=1) > 1,
        possible,
        best[rows, decision],
        worst[rows, decision],
        regret[rows, decision],
        cautious.astype(np.intp),
    )


def _rows_of(amounts: NDArray[np.float64], shape: tuple[int, int, int]) -> NDArray[np.float64]:
    if amounts.shape not in (shape, shape[1:]):
        raise ValueError(f"costs must have shape {shape[1:]} or {shape}, not {amounts.shape}")
    return np.broadcast_to(amounts, shape)


def _expected(probabilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    expected: NDArray[np.float64] = np.einsum("nk,nka->na", probabilities, costs)
    return expected


def _worst_regrets(best: NDArray[np.float64], worst: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, A): cost of each action at its worst beyond the cheapest other one at its best, at least 0."""
    regret = np.zeros_like(best)
    for a in range(best.shape[1]):
        others = np.delete(best, a, axis=1)
        if others.size:
            regret[:, a] = np.maximum(worst[:, a] - others.min(axis=1), 0.0)
    return regret
