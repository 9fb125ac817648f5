"""exp and log of the C library, element by element, so that a row alone equals the same row in a batch.

numpy's own `exp` and `log` use vector instructions whose last bit differs from the scalar functions, and
which elements get them depends on their position. Here each element goes through one scalar function: few
values in Python, so that scoring a row needs no compiler, many in compiled code.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost import kernels


def exp(x: ArrayLike) -> NDArray[np.float64]:
    """Raise e to the power x: inf where it overflows.

    Parameters
    ----------
    x : array-like of any shape

    Returns
    -------
    ndarray of the same shape, float64

    Examples
    --------
    >>> exp([0.0, 1.0, 1000.0])
    array([1.        , 2.71828183,        inf])
    """
    values = np.asarray(x, dtype=np.float64)
    if kernels.pay_for(values.size):
        from costboost.kernels.elementary import exp_array  # noqa: PLC0415 - loads the compiler

        return exp_array(values)
    return np.array([_exp(value) for value in values.ravel().tolist()]).reshape(values.shape)


def log(x: ArrayLike) -> NDArray[np.float64]:
    """Natural logarithm; -inf at 0 and NaN below, without a warning.

    Parameters
    ----------
    x : array-like of any shape

    Returns
    -------
    ndarray of the same shape, float64

    Examples
    --------
    >>> log([0.0, 1.0, -1.0])
    array([-inf,   0.,  nan])
    """
    values = np.asarray(x, dtype=np.float64)
    if kernels.pay_for(values.size):
        from costboost.kernels.elementary import log_array  # noqa: PLC0415 - loads the compiler

        return log_array(values)
    return np.array([_log(value) for value in values.ravel().tolist()]).reshape(values.shape)


def sigmoid(x: ArrayLike) -> NDArray[np.float64]:
    """1 / (1 + exp(-x)), without overflow on either side.

    Examples
    --------
    >>> sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    values = np.asarray(x, dtype=np.float64)
    small = exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)


def log_odds(p: ArrayLike) -> NDArray[np.float64]:
    """log(p / (1 - p)); -inf at 0, inf at 1.

    Examples
    --------
    >>> log_odds([0.0, 0.5, 1.0])
    array([-inf,   0.,  inf])
    """
    values = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return log(values / (1.0 - values))


def sigmoid_of(x: float) -> float:
    """`sigmoid` of one number, to the bit."""
    small = _exp(-abs(x))
    return (1.0 if x >= 0 else small) / (1.0 + small)


def log_odds_of(p: float) -> float:
    """`log_odds` of one number inside (0, 1), to the bit."""
    return _log(p / (1.0 - p))


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _log(value: float) -> float:
    if value > 0.0:
        return math.log(value)
    return -math.inf if value == 0.0 else math.nan
