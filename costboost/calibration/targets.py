"""What all maps are fitted to: labels as shares that keep away from 0 and 1, and weights of mean 1."""

import numpy as np
from numpy.typing import NDArray

#: A probability stays this far from 0 and from 1.
MARGIN = 1e-10
#: Larger numbers are refused, so that a score times a slope does not overflow.
LARGEST = 1e150


def inside(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities kept away from 0 and 1."""
    return np.clip(p, MARGIN, 1.0 - MARGIN)


def mean_one(scores: NDArray[np.float64], sample_weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights of mean 1: weights in another unit change nothing, and Platt's targets count rows."""
    if sample_weight is None:
        return np.ones(len(scores))
    return np.asarray(
        sample_weight * (np.count_nonzero(sample_weight) / sample_weight.sum()), dtype=np.float64
    )


def platt_targets(positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(n₊ + 1)/(n₊ + 2)`` for positive rows and ``1/(n₋ + 2)`` for negative ones, Platt (1999)."""
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    return np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
