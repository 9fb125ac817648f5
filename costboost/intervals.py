"""How sure a mean or a share of weighted rows is: intervals that hold the true one in 95 of 100 samples."""

import math
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from costboost.resampling import resampled_totals

__all__ = ["mean_interval", "resampled_mean_interval", "share_interval", "total_interval"]

#: 97.5 % of a normal distribution lie below it.
_Z = 1.959963984540054
_NORMAL: Final = NormalDist()


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


def total_interval(amounts: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """Bootstrap interval of a sum, corrected for bias and skew (BC_a: Efron 1987).

    A few dear rows make most of what decisions cost. A normal interval is then too short above, where the
    samples do not hold enough of them: this one reaches farther up than down.

    Parameters
    ----------
    amounts : ndarray of shape (n,)
        What each of n independent rows adds.
    seed : int

    Raises
    ------
    ValueError
        There are fewer than two rows.

    Examples
    --------
    >>> low, high = total_interval(np.array([0.0] * 18 + [50.0, 400.0]))
    >>> low < 450.0 < high and high - 450.0 > 450.0 - low
    True
    """
    n = len(amounts)
    if n < 2:
        raise ValueError("an interval needs at least two rows")
    total = math.fsum(amounts.tolist())
    odd = amounts - total / n
    size = float(np.abs(odd).max())
    if not size > 0.0:
        return total, total
    odd = odd / size  # so that no power overflows
    skew = float((odd**3).sum() / (6.0 * (odd**2).sum() ** 1.5))
    totals = np.sort(resampled_totals(amounts[:, None], seed)[:, 0])
    places = np.searchsorted(totals, total, "left") + np.searchsorted(totals, total, "right")
    bias = _NORMAL.inv_cdf(min(max(places / (2.0 * len(totals)), 1e-3), 1.0 - 1e-3))
    moved = [bias + z for z in (-_Z, _Z)]
    levels = [_NORMAL.cdf(bias + z / (1.0 - skew * z)) for z in moved]
    low, high = np.quantile(totals, levels)
    return float(low), float(high)


def resampled_mean_interval(
    values: NDArray[np.float64], weight: NDArray[np.float64], seed: int = 0
) -> tuple[float, float]:
    """Bootstrap interval of a weighted mean, for what is skewed, as costs are; see :func:`total_interval`.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of shape (n,), >= 0, not all 0
    seed : int

    Raises
    ------
    ValueError
        There is no weight, or it lies on one row.

    Examples
    --------
    >>> low, high = resampled_mean_interval(np.array([0.0] * 18 + [50.0, 400.0]), np.ones(20))
    >>> low < 22.5 < high
    True
    """
    if _effective(weight) <= 1:
        raise ValueError("an interval needs weight on at least two rows")
    whole = math.fsum(weight.tolist())
    mean = math.fsum((weight * values).tolist()) / whole
    # Linear in the rows: the ratio of two sums moves as the sum of what each row adds to it.
    low, high = total_interval((weight * (values - mean))[weight > 0] / whole, seed)
    return mean + low, mean + high


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
