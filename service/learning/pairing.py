"""Versions on the same rows: what the decisions of one cost more than those of another, row by row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.intervals import resampled_mean_interval
from service.learning.held_out import TestPart


@dataclass(frozen=True)
class Pairing:
    """
    Two versions on rows that neither was fitted to, priced alike.

    Attributes
    ----------
    differing : int
        Rows that they decide differently.
    difference : float
        Mean cost of a row of the second less that of the first; below 0 the second is cheaper.
    ci95 : pair of float, or None
    """

    rows: int
    differing: int
    first: float
    second: float
    difference: float
    ci95: tuple[float, float] | None


def pair(first: TestPart, second: TestPart) -> Pairing | None:
    """Compare two versions at the costs of the first; None where they share no rows or actions."""
    alike = first.actions == second.actions and first.classes == second.classes
    shared, here, there = np.intersect1d(first.rows, second.rows, return_indices=True)
    if not alike or not shared.size:
        return None
    weight = first.weight[here]
    own = _paid(first, here, first.decision[here])
    other = _paid(first, here, second.decision[there])
    try:
        ci95 = resampled_mean_interval(other - own, weight)
    except ValueError:  # weight on one row alone
        ci95 = None
    return Pairing(
        rows=len(shared),
        differing=int((first.decision[here] != second.decision[there]).sum()),
        first=float(np.average(own, weights=weight)),
        second=float(np.average(other, weights=weight)),
        difference=float(np.average(other - own, weights=weight)),
        ci95=ci95,
    )


def _paid(part: TestPart, rows: NDArray[np.intp], decision: NDArray[np.int64]) -> NDArray[np.float64]:
    costs = np.broadcast_to(part.costs, (len(part.codes), *part.costs.shape[-2:]))
    paid: NDArray[np.float64] = costs[rows, part.codes[rows], decision]
    return paid
