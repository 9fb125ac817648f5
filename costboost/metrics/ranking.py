"""How well scores rank the rows of a class above the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.undefined import UndefinedMetricError
from costboost.metrics.weighted import total


def roc_auc(is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Probability that a positive row ranks above a negative one, ties counting half.

    Parameters
    ----------
    is_positive : ndarray of shape (n,), bool
    ranks : ndarray of shape (n,)
        Higher is more likely positive.
    weight : ndarray of shape (n,)

    Examples
    --------
    >>> roc_auc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]), np.ones(3))
    0.75
    """
    positives, negatives = _by_rank(is_positive, ranks, weight)
    _need_both(positives, negatives)
    below = np.cumsum(negatives) - negatives
    won = total(positives * (below + 0.5 * negatives))
    return won / (total(positives) * total(negatives))


def pr_auc(is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Average precision: mean precision at the ranks of the positive rows, without interpolation.

    Parameters
    ----------
    is_positive, ranks, weight
        As in `roc_auc`.

    Examples
    --------
    >>> pr_auc(np.array([True, False, True]), np.array([0.9, 0.6, 0.5]), np.ones(3))  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    positives, negatives = (counts[::-1] for counts in _by_rank(is_positive, ranks, weight))
    _need_both(positives, negatives)
    found = np.cumsum(positives)
    kept = positives > 0  # a rank without weight has no precision
    gained = positives[kept] * found[kept] / (found + np.cumsum(negatives))[kept]
    return total(gained) / total(positives)


def _by_rank(
    is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of the positive and of the negative rows at each distinct rank, ascending."""
    values, codes = np.unique(ranks, return_inverse=True)
    positives = np.bincount(codes, weights=weight * is_positive, minlength=len(values))
    negatives = np.bincount(codes, weights=weight * ~is_positive, minlength=len(values))
    return positives.astype(np.float64, copy=False), negatives.astype(np.float64, copy=False)


def _need_both(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> None:
    if not positives.any():
        raise UndefinedMetricError("there are no rows of a class to be ranked")
    if not negatives.any():
        raise UndefinedMetricError("all rows are of one class")
