"""Shares of classes, and probabilities moved from those of training to those of the rows at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SUM_TOLERANCE = 1e-6


def correct_priors(
    probabilities: NDArray[np.float64], old: NDArray[np.float64], new: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Move probabilities from the class shares of training to other ones (Saerens et al. 2002, equation 2.4).

    Parameters
    ----------
    probabilities : ndarray of shape (n, K), float64
    old, new : ndarray of shape (K,), float64
        Class shares, each summing to 1; those of training are positive.

    Returns
    -------
    ndarray of shape (n, K), float64
        Proportional to p_k new_k / old_k.

    Raises
    ------
    ValueError
        The shares are no distribution, or a row has no class left that is possible.

    Examples
    --------
    >>> correct_priors(np.array([[0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.9, 0.1]))
    array([[0.9, 0.1]])
    """
    for name, shares in (("old", old), ("new", new)):
        if shares.shape != probabilities.shape[1:] or not is_distribution(shares[None, :]):
            raise ValueError(f"the {name} priors must give each class a share, with sum 1")
    if not (old > 0).all():
        raise ValueError("the old priors must be positive: a class without rows cannot be corrected")
    if np.array_equal(old, new):
        return probabilities.copy()
    weighted = probabilities * (new / old)
    total = sum_columns(weighted)
    if not (total > 0).all():
        raise ValueError("the new priors leave some row without a possible class")
    return weighted / total[:, None]


def is_distribution(shares: NDArray[np.float64]) -> bool:
    """Whether each row of shape (n, K) is at least 0 everywhere and sums to 1."""
    # NaN fails the first comparison.
    return bool((shares >= 0.0).all() and (np.abs(sum_columns(shares) - 1.0) <= _SUM_TOLERANCE).all())


def sum_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of each row of shape (n, K), the same to the bit for a row alone and among others."""
    # Column after column: numpy's own sum may add in another order when the shape changes.
    total = values[:, 0].copy()
    for k in range(1, values.shape[1]):
        total += values[:, k]
    return total
