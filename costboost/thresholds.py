"""Thresholds found on scores of rows whose class is known."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["Aim", "FoundThreshold", "empirical_threshold", "find_threshold", "least_cost"]

#: What a threshold is chosen for: the least cost, or the largest G-mean or F1.
Aim = Literal["cost", "g_mean", "f1"]

# Amounts that differ by no more than this share are the same.
_TIE = 1e-12


@dataclass(frozen=True)
class FoundThreshold:
    """A threshold θ on the score, and what deciding positive above it does to the rows it was found on.

    Attributes
    ----------
    threshold : float
        May be -inf (all positive) or inf (all negative).
    cost : float
        Total, in money.
    extra_cost : float
        What the aim and the least recall cost beyond the cheapest threshold, in money: their price. At
        least 0.
    recall, specificity : float

    Examples
    --------
    >>> FoundThreshold(threshold=0.5, cost=12.0, extra_cost=2.0, recall=0.9, specificity=0.7).extra_cost
    2.0
    """

    threshold: float
    cost: float
    extra_cost: float
    recall: float
    specificity: float


@dataclass(frozen=True)
class _Cuts:
    """The candidates: -inf, the midpoints of neighbouring distinct scores, and inf."""

    order: NDArray[np.intp]
    ranked: NDArray[np.float64]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> "_Cuts":
        order = np.argsort(scores, kind="stable")
        ranked = scores[order]
        return cls(order, ranked, np.flatnonzero(np.append(ranked[1:] > ranked[:-1], True)))

    def at_or_below(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the amounts of the rows that each candidate leaves negative."""
        return np.concatenate(([0.0], np.cumsum(amounts[self.order])[self.ends]))

    def threshold(self, index: int) -> float:
        if index == 0:
            return -np.inf
        if index == len(self.ends):
            return np.inf
        low = float(self.ranked[self.ends[index - 1]])
        high = float(self.ranked[self.ends[index - 1] + 1])
        middle = low / 2 + high / 2
        # Between neighbouring floats the midpoint may round up to the upper one.
        return middle if low <= middle < high else low


def empirical_threshold(
    scores: NDArray[np.float64],
    cost_if_positive: NDArray[np.float64],
    cost_if_negative: NDArray[np.float64],
) -> float:
    """Threshold θ of least total cost when a row is decided positive iff its score is above θ.

    Candidates are the midpoints of neighbouring distinct scores and ±inf; of equal totals the largest θ is
    taken, so that the rows it was found on never cost more than either constant decision would.

    Parameters
    ----------
    scores : ndarray of shape (n,), float64
        Out-of-fold scores.
    cost_if_positive, cost_if_negative : ndarray of shape (n,), float64
        What each row costs when it is decided so, given its true class (times its weight).

    Returns
    -------
    float
        May be -inf (all positive) or inf (all negative).

    Examples
    --------
    >>> empirical_threshold(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 9.0]))
    1.5
    """
    cuts = _Cuts.of(scores)
    change = cuts.at_or_below(cost_if_negative - cost_if_positive)
    return cuts.threshold(_last(change <= change.min() + _tolerance(cost_if_positive, cost_if_negative)))


def least_cost(
    scores: NDArray[np.float64],
    cost_if_positive: NDArray[np.float64],
    cost_if_negative: NDArray[np.float64],
) -> float:
    """Total cost at the cheapest threshold on the score.

    Parameters
    ----------
    scores, cost_if_positive, cost_if_negative
        As in `empirical_threshold`.

    Examples
    --------
    >>> least_cost(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 9.0]))
    0.0
    """
    change = _Cuts.of(scores).at_or_below(cost_if_negative - cost_if_positive)
    return float(cost_if_positive.sum() + change.min())


def find_threshold(
    scores: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    cost_if_positive: NDArray[np.float64],
    cost_if_negative: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    aim: Aim = "cost",
    min_recall: float = 0.0,
) -> FoundThreshold:
    """Threshold that serves an aim best among those that find enough of the positive rows, with its price.

    Of equally good thresholds the largest is taken. What it says of the rows it was found on is too good:
    with few positive rows the threshold has a high variance.

    Parameters
    ----------
    scores, cost_if_positive, cost_if_negative
        As in `empirical_threshold`.
    is_positive : ndarray of shape (n,), bool
    weight : ndarray of shape (n,), float64
        Counts the rows in recall, specificity and F1; costs are already times it.
    aim : {"cost", "g_mean", "f1"}
        Least cost; or the largest geometric mean of recall and specificity; or the largest harmonic mean of
        precision and recall.
    min_recall : float in [0, 1], default 0
        Share of the positive rows' weight that must lie above the threshold.

    Returns
    -------
    FoundThreshold

    Raises
    ------
    ValueError
        If the aim is unknown, `min_recall` is no share, or a class has no rows with weight.

    Examples
    --------
    >>> s, positive = np.array([0.0, 1.0, 2.0, 3.0]), np.array([True, False, False, True])
    >>> found = find_threshold(s, positive, 5.0 * ~positive, 8.0 * positive, np.ones(4), min_recall=1.0)
    >>> found.threshold, found.cost, found.extra_cost  # 2.5 costs 8, but finds one of two
    (-inf, 10.0, 2.0)
    """
    if aim not in get_args(Aim) or not 0 <= min_recall <= 1:
        aims = ", ".join(get_args(Aim))
        raise ValueError(f"a threshold aims at {aims} with a recall in [0, 1], not {aim!r}, {min_recall}")
    cuts = _Cuts.of(scores)
    missed, rest = cuts.at_or_below(weight * is_positive), cuts.at_or_below(weight * ~is_positive)
    if not (missed[-1] > 0 and rest[-1] > 0):
        raise ValueError("a threshold needs rows of both classes")
    change = cuts.at_or_below(cost_if_negative - cost_if_positive)
    tolerance = _tolerance(cost_if_positive, cost_if_negative)
    recall, specificity = 1.0 - missed / missed[-1], rest / rest[-1]
    if aim == "cost":
        gain, tie = -change, tolerance
    elif aim == "g_mean":
        gain, tie = np.sqrt(recall * specificity), _TIE
    else:
        gain, tie = _f1(missed, rest), _TIE
    allowed = recall >= min_recall - _TIE
    best = _last(allowed & (gain >= gain[allowed].max() - tie))
    return FoundThreshold(
        threshold=cuts.threshold(best),
        cost=float(cost_if_positive.sum() + change[best]),
        extra_cost=float(change[best] - change.min()),
        recall=float(recall[best]),
        specificity=float(specificity[best]),
    )


def _f1(missed: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    found, false = missed[-1] - missed, rest[-1] - rest
    f1: NDArray[np.float64] = 2.0 * found / (found + false + missed[-1])
    return f1


def _tolerance(cost_if_positive: NDArray[np.float64], cost_if_negative: NDArray[np.float64]) -> float:
    return _TIE * float(np.abs(cost_if_positive).sum() + np.abs(cost_if_negative).sum())


def _last(chosen: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(chosen)[-1])
