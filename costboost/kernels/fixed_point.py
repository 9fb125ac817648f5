"""Sums in 64-bit integers, so that neither the order of rows nor a partition of them changes a bit.

A float64 value w is read as the integer rint(w · 2^k). Each k is found from quantities that do not depend on
the order of rows, and is chosen so that no sum of n of them can leave 64 bits.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

#: Values below the first are multiplied by the second, lest the scale overflow. A power of two is exact.
_TINY, _LIFT = 2.0**-900, 2.0**600


#: All bits of a float64 but its sign; magnitudes are ordered as these integers are, infinity and NaN last.
_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


@kernel
def _largest_bits(bits: NDArray[np.int64]) -> np.int64:
    largest = np.int64(0)
    for b in bits:
        largest = max(largest, b & _MAGNITUDE)
    return largest


@kernel
def _sum_rounded(values: NDArray[np.float64], scale: float) -> int:
    total = np.int64(0)
    for value in values:
        total += np.int64(np.rint(value * scale))
    return total  # type: ignore[return-value]


@kernel
def _round_values(values: NDArray[np.float64], scale: float, out: NDArray[np.int64]) -> None:
    for i in range(values.size):
        out[i] = np.int64(np.rint(values[i] * scale))


def largest_magnitude(values: NDArray[np.float64]) -> float:
    """Largest absolute value, infinity and NaN last; 0.0 for no values."""
    return float(np.int64(_largest_bits(values.view(np.int64))).view(np.float64))


def _ceil_log2(value: float) -> int:
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else exponent


def _safe_exponent(size: int, largest: float) -> int:
    return 62 - _ceil_log2(size) - _ceil_log2(largest)


def total(values: NDArray[np.float64]) -> float:
    """Sum of finite values, the same for every order of them.

    Parameters
    ----------
    values : ndarray of shape (n,), float64

    Returns
    -------
    float
        Within n · 2^-62 · n · max|values| of the exact sum; 0.0 for no values.

    Raises
    ------
    FloatingPointError
        If a value is infinite or NaN.
    """
    return total_of(values.size, largest_magnitude(values), lambda *by: sum_rounded(values, *by))


def total_of(size: int, largest: float, summed: Callable[[float, float], int]) -> float:
    """Return the `total` of values that lie in several places.

    Parameters
    ----------
    size : int
        Number of values.
    largest : float
        Their largest magnitude.
    summed : callable
        ``summed(lift, scale)`` adds up what `sum_rounded` says in each place.
    """
    if largest == 0.0:
        return 0.0
    if not math.isfinite(largest):
        raise FloatingPointError("cannot add values that are not finite")
    lift = _LIFT if largest < _TINY else 1.0
    exponent = _safe_exponent(size, largest * lift)
    return math.ldexp(float(summed(lift, math.ldexp(1.0, exponent))), -exponent) / lift


def sum_rounded(values: NDArray[np.float64], lift: float, scale: float) -> int:
    """Sum of the integers ``rint(value · lift · scale)``; lift is a power of two."""
    return int(_sum_rounded(values if lift == 1.0 else values * lift, scale))


def quantize(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as integers whose sum is at most 2^61 and, for weights of any size, near 2^60.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64, >= 0, not all 0

    Returns
    -------
    ndarray of shape (n,), int64
        Proportional to the weights, rounded to the nearest.
    """
    return rounded(*scaled(weights))


def scaled(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights, lifted by a power of two if they are tiny, and the scale by which `quantize` rounds them."""
    largest = largest_magnitude(weights)
    if largest < _TINY:
        return scaled(weights * _LIFT)
    first = _safe_exponent(weights.size, largest)
    mass = int(_sum_rounded(weights, math.ldexp(1.0, first)))
    exponent = 60 - _ceil_log2(float(mass + weights.size)) + first
    return weights, math.ldexp(1.0, exponent)


def rounded(values: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Values times a scale as integers, rounded to the nearest; the caller knows that they fit."""
    out = np.empty(values.size, dtype=np.int64)
    _round_values(values, scale, out)
    return out
