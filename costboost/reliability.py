"""How far probabilities can be taken at their word: predicted against observed shares."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.metrics.undefined import UndefinedMetricError

__all__ = ["calibration_line", "reliability_table"]

MAX_BINS = 512

_NEWTON_STEPS = 100
_CONVERGED = 1e-10
_TINY = float(np.finfo(np.float64).eps)


def reliability_table(
    is_positive: NDArray[np.bool_],
    p: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
) -> dict[str, list[float]]:
    """Predicted probability against observed share, in bins of rows.

    Parameters
    ----------
    is_positive : ndarray of shape (n,), bool
    p : ndarray of shape (n,), float64
        Probability of being positive.
    weight : ndarray of shape (n,), float64
    bins : int, default 10
        At most 512; empty ones are left out.
    strategy : {"quantile", "uniform"}
        Bins of about the same weight, rows of one probability together; or of the same width.

    Returns
    -------
    dict of lists
        `low`, `high` (least and largest probability in the bin), `mean_probability`, `observed_rate`,
        `weight`.

    Examples
    --------
    >>> is_positive, p = np.array([False, True, True, True]), np.array([0.125, 0.375, 0.75, 1.0])
    >>> table = reliability_table(is_positive, p, np.ones(4), bins=2)
    >>> table["mean_probability"], table["observed_rate"]
    ([0.25, 0.875], [0.5, 1.0])
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins must lie between 1 and {MAX_BINS}, not {bins}")
    number = _quantile_bins(p, weight, bins) if strategy == "quantile" else _even_bins(p, bins)
    mass = np.bincount(number, weight, bins)
    used = np.flatnonzero(mass > 0)
    low, high = np.full(bins, np.inf), np.full(bins, -np.inf)
    np.minimum.at(low, number, p)
    np.maximum.at(high, number, p)
    return {
        "low": low[used].tolist(),
        "high": high[used].tolist(),
        "mean_probability": (np.bincount(number, weight * p, bins)[used] / mass[used]).tolist(),
        "observed_rate": (np.bincount(number, weight * is_positive, bins)[used] / mass[used]).tolist(),
        "weight": mass[used].tolist(),
    }


def calibration_line(
    is_positive: NDArray[np.bool_], p: NDArray[np.float64], weight: NDArray[np.float64]
) -> dict[str, float]:
    """Logistic recalibration: ``log-odds = intercept + slope · logit(p)`` of largest likelihood (Cox 1958).

    A slope below 1 means probabilities too near 0 and 1.

    Parameters
    ----------
    is_positive, p, weight
        As in `reliability_table`; p is kept 2.2e-16 from 0 and 1.

    Returns
    -------
    dict
        `slope`, 1 when calibrated; `intercept`, 0 when calibrated; `in_the_large`: the intercept when the
        slope is held at 1.

    Raises
    ------
    UndefinedMetricError
        All rows are of one class, or the probabilities are all equal or separate the classes.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8, 0.8])  # 0.4 and 0.6 would be right
    >>> line = calibration_line(np.array([1, 1, 0, 0, 0, 1, 1, 1, 0, 0]) == 1, p, np.ones(10))
    >>> {name: abs(round(value, 4)) for name, value in line.items()}
    {'slope': 0.2925, 'intercept': 0.0, 'in_the_large': 0.0}
    """
    counted = weight > 0
    y, w = is_positive[counted].astype(np.float64), weight[counted]
    kept = np.clip(p[counted], _TINY, 1.0 - _TINY)
    odds = libm.log(kept) - libm.log(1.0 - kept)
    if not 0.0 < y.mean() < 1.0:
        raise UndefinedMetricError("all rows are of one class")
    if odds.min() == odds.max():
        raise UndefinedMetricError("the probabilities are all equal")
    ones, others = odds[y == 1], odds[y == 0]
    if ones.min() >= others.max() or others.min() >= ones.max():
        raise UndefinedMetricError("the probabilities separate the classes perfectly")
    intercept, slope = _logistic(np.column_stack([np.ones(len(odds)), odds]), y, w, np.zeros(len(odds)))
    (in_the_large,) = _logistic(np.ones((len(odds), 1)), y, w, odds)
    return {"slope": slope, "intercept": intercept, "in_the_large": in_the_large}


def _quantile_bins(p: NDArray[np.float64], weight: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    levels, number = np.unique(p, return_inverse=True)
    mass = np.bincount(number, weight, len(levels))
    middle = np.cumsum(mass) - mass / 2
    of_level = np.floor(bins * middle / mass.sum()).astype(np.intp).clip(0, bins - 1)
    result: NDArray[np.intp] = of_level[number]
    return result


def _even_bins(p: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    # A probability on an edge belongs to the bin below it, as in scikit-learn.
    return np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p)


def _logistic(
    X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64], offset: NDArray[np.float64]
) -> list[float]:
    """Coefficients of a logistic regression by Newton's method with halved steps."""
    beta = np.zeros(X.shape[1])
    loss = _log_loss(offset, y, weight)
    for _ in range(_NEWTON_STEPS):
        p = libm.sigmoid(_odds(X, beta) + offset)
        gradient = np.einsum("nk,n->k", X, weight * (p - y))
        curvature = np.einsum("nk,nl,n->kl", X, X, weight * p * (1.0 - p))
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (
            lower := _log_loss(_odds(X, beta - size * step) + offset, y, weight)
        ) > loss and size > _CONVERGED:
            size /= 2
        beta, loss = beta - size * step, lower
        if np.abs(step).max() <= _CONVERGED * (1.0 + np.abs(beta).max()):
            break
    coefficients: list[float] = beta.tolist()
    return coefficients


def _odds(X: NDArray[np.float64], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.einsum("nk,k->n", X, beta)
    return odds


def _log_loss(odds: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    signed = np.where(y > 0, odds, -odds)
    # log(1 + exp(-x)) without overflow.
    losses = np.maximum(-signed, 0.0) + libm.log(1.0 + libm.exp(-np.abs(signed)))
    return math.fsum((weight * losses).tolist())
