"""Exponential and logarithm of whole arrays, equal to ``math.exp`` and ``math.log`` to the last bit."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

#: Values looked at before one of them may end the search.
_BLOCK = 4096


@kernel
def _exp_values(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(values.size):
        out[i] = math.exp(values[i])


@kernel
def _log_values(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(values.size):
        out[i] = math.log(values[i])


@kernel
def _any_infinite(values: NDArray[Any]) -> bool:
    for start in range(0, values.size, _BLOCK):
        found = False
        for value in values[start : start + _BLOCK]:
            found |= abs(value) == np.inf
        if found:
            return True
    return False


def any_infinite(values: NDArray[Any]) -> bool:
    """Whether an array of float64 or float32 holds an infinite value; NaN is none."""
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        return bool(np.isinf(values).any())
    flat = values.reshape(-1, order="A").view()
    flat.flags.writeable = False
    return bool(_any_infinite(flat))


def exp_array(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponential of each element.

    Parameters
    ----------
    values : ndarray of float64, any shape

    Returns
    -------
    ndarray of float64, same shape
        Above 709.78 the result is ``inf``, where ``math.exp`` would raise.
    """
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    out = np.empty_like(flat)
    _exp_values(flat, out)
    return out.reshape(np.shape(values))


def log_array(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of each element.

    Parameters
    ----------
    values : ndarray of float64, any shape

    Returns
    -------
    ndarray of float64, same shape
        ``-inf`` at 0 and NaN below it, where ``math.log`` would raise.
    """
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    out = np.empty_like(flat)
    _log_values(flat, out)
    return out.reshape(np.shape(values))
