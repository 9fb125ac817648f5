"""How far probabilities are from what came true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.metrics.weighted import total

_TINY = float(np.finfo(np.float64).eps)


def brier(
    y_codes: NDArray[np.intp], probabilities: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Mean squared error of the probabilities: of the positive class of two, summed over K > 2 classes.

    Examples
    --------
    >>> brier(np.array([1, 0]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.ones(2))
    0.1
    """
    n_classes = probabilities.shape[1]
    missed = sum((probabilities[:, k] - (y_codes == k)) ** 2 for k in range(n_classes))
    error = total(weight * missed) / total(weight)
    return error / 2 if n_classes == 2 else error


def log_loss(
    y_codes: NDArray[np.intp], probabilities: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Mean negative log of the probability of the true class, kept at least 2.2e-16 from 0 and 1.

    Examples
    --------
    >>> log_loss(np.array([1, 0]), np.array([[0.5, 0.5], [0.5, 0.5]]), np.ones(2))
    0.6931471805599453
    """
    own = np.clip(probabilities[np.arange(len(y_codes)), y_codes], _TINY, 1.0 - _TINY)
    return total(weight * -libm.log(own)) / total(weight)
