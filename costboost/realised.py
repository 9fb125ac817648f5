"""What decisions cost in the end, though labels come late, and of what was refused seldom at all.

Rows fall into three strata. *Settled* ones cost the same whatever their class is: no label is needed. Labels
of *open* ones come by themselves, only late: those that have come stand for the others. Labels of *hidden*
ones do not come, because the decision itself prevents it (what was declined is never seen to be fraud): only
rows that chance let through, with a known probability, stand for them, each by the inverse of its probability
(Horvitz & Thompson 1952; normed, Hájek 1971). Where nothing stands for a stratum the mean is not
identifiable, and the bounds are all that can be known (Manski 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Method", "RealisedCost", "realised_cost"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Method = Literal["observed", "inverse_propensity", "not_identifiable"]

#: Of the normal distribution, for 95 %.
_Z = 1.959963984540054


@dataclass(frozen=True)
class RealisedCost:
    """The mean cost of a row, as far as it can be known.

    Attributes
    ----------
    mean : float or None
        Money a row; None where it is not identifiable.
    ci95 : tuple of two floats, or None
        Normal interval of the mean; None where a stratum has fewer than two rows to tell its spread.
    bounds : tuple of two floats
        The mean if every row whose cost is not known had its cheapest, or its dearest, class.
    method : {"observed", "inverse_propensity", "not_identifiable"}
    rows, known : int
        All rows, and those whose cost is known.
    reason : str or None
        Why the mean is not identifiable, and what would make it so.

    Examples
    --------
    >>> costs = np.array([[0.0, 8.0], [2.0, 0.0]])  # the label of the second row is not known yet
    >>> estimate = realised_cost(costs, np.array([1, -1]), np.array([1.0, 1.0]))
    >>> estimate.mean, estimate.bounds, estimate.rows, estimate.known
    (8.0, (4.0, 5.0), 2, 1)
    """

    mean: float | None
    ci95: tuple[float, float] | None
    bounds: tuple[float, float]
    method: Method
    rows: int
    known: int
    reason: str | None = None


def realised_cost(costs: Floats, label: NDArray[np.intp], reveal: Floats) -> RealisedCost:
    """Estimate the mean cost of a row.

    Parameters
    ----------
    costs : ndarray of shape (n, K), float64
        What the row's decision costs under each class; or the difference between two decisions for it, and
        then the mean difference of a pair is estimated.
    label : ndarray of shape (n,), int
        Index of the class; -1 where it is not known.
    reveal : ndarray of shape (n,), float64
        1 for open rows; for hidden ones the probability of having been let through if the row was, else 0.

    Returns
    -------
    RealisedCost

    Raises
    ------
    ValueError
        There is no row, or a `reveal` is no probability.

    Examples
    --------
    >>> declined = np.array([[10.0, 0.0]] * 4)  # declining costs 10 if the row was of class 0
    >>> realised_cost(declined, np.array([0, 1, -1, -1]), np.array([0.25, 0.5, 0.0, 0.0])).mean
    6.666666666666667
    """
    if not len(costs):
        raise ValueError("at least one row is needed")
    if not np.all((reveal >= 0.0) & (reveal <= 1.0)):
        raise ValueError("reveal holds probabilities")
    lowest, highest = costs.min(axis=1), costs.max(axis=1)
    settled, labelled = lowest == highest, label >= 0
    known = settled | labelled
    cost = np.where(labelled, np.take_along_axis(costs, np.maximum(label, 0)[:, None], axis=1)[:, 0], lowest)
    hidden = ~settled & (reveal < 1.0)
    waiting = ~settled & ~hidden
    strata = [
        _stratum(cost[rows], known[rows], reveal[rows]) for rows in (settled, waiting, hidden) if rows.any()
    ]
    bounds = (_mean(np.where(known, cost, lowest)), _mean(np.where(known, cost, highest)))
    mean, ci95 = _joined(strata, len(costs))
    method = _method(mean, weighed=any(one.weighed for one in strata))
    reason = None if mean is not None else _reason(known, waiting, hidden)
    return RealisedCost(mean, ci95, bounds, method, len(costs), int(known.sum()), reason)


@dataclass(frozen=True)
class _Stratum:
    """Rows, their mean and its variance; NaN where they are not identifiable."""

    rows: int
    mean: float
    variance: float
    weighed: bool


def _stratum(cost: Floats, known: Bools, reveal: Floats) -> _Stratum:
    all_known = bool(known.all())
    weights = np.ones(len(cost)) if all_known else _inverse(np.where(known, reveal, 0.0))
    used = weights > 0.0
    w, x, n = weights[used], cost[used], int(used.sum())
    if n == 0:
        return _Stratum(len(cost), math.nan, math.nan, weighed=False)
    whole = math.fsum(w)
    mean = math.fsum(w * x) / whole
    spread = math.fsum((w * (x - mean)) ** 2) / whole**2
    variance = spread * n / (n - 1) if n > 1 else math.nan
    return _Stratum(len(cost), mean, variance, weighed=bool((w != 1.0).any()))


def _inverse(probability: Floats) -> Floats:
    return np.divide(1.0, probability, out=np.zeros_like(probability), where=probability > 0.0)


def _joined(strata: list[_Stratum], n: int) -> tuple[float | None, tuple[float, float] | None]:
    mean = math.fsum(one.rows / n * one.mean for one in strata)
    if math.isnan(mean):
        return None, None
    within = math.fsum((one.rows / n) ** 2 * one.variance for one in strata)
    # How many rows fall into each stratum is chance too.
    between = math.fsum(one.rows / n * (one.mean - mean) ** 2 for one in strata) / n
    if math.isnan(within):
        return mean, None
    half = _Z * math.sqrt(within + between)
    return mean, (mean - half, mean + half)


def _method(mean: float | None, *, weighed: bool) -> Method:
    if mean is None:
        return "not_identifiable"
    return "inverse_propensity" if weighed else "observed"


def _reason(known: Bools, waiting: Bools, hidden: Bools) -> str:
    """Name the stratum for whose missing labels nothing stands."""
    n, missing = int(hidden.sum()), int((hidden & ~known).sum())
    if missing and (known[waiting].any() or not waiting.any()):
        lack = "has no label" if missing == 1 else "have no label"
        return (
            f"{missing} of {n} rows decided positive {lack}, and none was let through by chance to stand for "
            "what is missing: a control share, or the labels, make it known"
        )
    return (
        f"none of {int(waiting.sum())} rows whose labels come late has one yet: the first ones make it known"
    )


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values)
