"""Thresholds found on scores of rows whose class is known."""

import numpy as np
from numpy.typing import NDArray

# Total costs that differ by no more than this share are the same.
_TIE = 1e-12


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
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    moved = np.cumsum((cost_if_negative - cost_if_positive)[order])
    ends = np.flatnonzero(np.append(ranked[1:] > ranked[:-1], True))
    # Against the total of "all positive": what the rows at or below each candidate change.
    change = np.concatenate(([0.0], moved[ends]))
    scale = float(np.abs(cost_if_positive).sum() + np.abs(cost_if_negative).sum())
    best = int(np.flatnonzero(change <= change.min() + _TIE * scale)[-1])
    return _candidate(ranked, ends, best)


def _candidate(ranked: NDArray[np.float64], ends: NDArray[np.intp], index: int) -> float:
    if index == 0:
        return -np.inf
    if index == len(ends):
        return np.inf
    low, high = float(ranked[ends[index - 1]]), float(ranked[ends[index - 1] + 1])
    middle = low / 2 + high / 2
    # Between neighbouring floats the midpoint may round up to the upper one.
    return middle if low <= middle < high else low
