"""How sure a mean or a share of weighted rows is: intervals that hold the true one in 95 of 100 samples."""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_interval", "share_interval"]

#: 97.5 % of a normal distribution lie below it.
_Z = 1.959963984540054


def mean_interval(values: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[float, float]:
    """Interval of a weighted mean, by the normal approximation: fair from about 30 rows on.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of shape (n,), >= 0, not all 0

    Raises
    ------
    ValueError
        There is no weight, or it lies on one row: one value says nothing about its spread.

    Examples
    --------
    >>> low, high = mean_interval(np.array([0.0, 1.0, 2.0, 3.0]), np.ones(4))
    >>> round(low, 3), round(high, 3)  # 1.5 ± 1.96 · √(5/3/4)
    (0.235, 2.765)
    """
    n = _effective(weight)
    if n <= 1:
        raise ValueError("an interval needs weight on at least two rows")
    whole = math.fsum(weight.tolist())
    mean = math.fsum((weight * values).tolist()) / whole
    spread = math.fsum((weight * (values - mean) ** 2).tolist()) / whole * n / (n - 1.0)
    half = _Z * math.sqrt(spread / n)
    return mean - half, mean + half


def share_interval(hit: NDArray[np.bool_], weight: NDArray[np.float64]) -> tuple[float, float]:
    """Score interval of a weighted share (Wilson 1927); it lies in [0, 1] and never has width 0.

    Parameters
    ----------
    hit : ndarray of shape (n,), bool
    weight : ndarray of shape (n,), >= 0, not all 0

    Raises
    ------
    ValueError
        There is no weight.

    Examples
    --------
    >>> low, high = share_interval(np.array([True] * 8 + [False] * 2), np.ones(10))
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    n = _effective(weight)
    if not n > 0:
        raise ValueError("a share needs weight")
    share = math.fsum((weight * hit).tolist()) / math.fsum(weight.tolist())
    middle = share + _Z**2 / (2.0 * n)
    half = _Z * math.sqrt(share * (1.0 - share) / n + _Z**2 / (4.0 * n**2))
    scale = 1.0 + _Z**2 / n
    # Where none or all hit, the limit is 0 or 1, and would come out beside it by the last bit.
    low = (middle - half) / scale if share > 0.0 else 0.0
    high = (middle + half) / scale if share < 1.0 else 1.0
    return max(low, 0.0), min(high, 1.0)


def _effective(weight: NDArray[np.float64]) -> float:
    """Rows of one weight that would tell as much (Kish 1965)."""
    squares = math.fsum((weight**2).tolist())
    whole = math.fsum(weight.tolist())
    return whole * whole / squares if squares > 0 else 0.0
