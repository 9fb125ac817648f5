"""What decisions cost, beside the cheapest constant decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.undefined import UndefinedMetricError
from costboost.metrics.weighted import total
from costboost.resampling import resampled_totals


def savings(
    charged: NDArray[np.float64], constant: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Share of the cost of the cheapest constant decision that was saved.

    Parameters
    ----------
    charged : ndarray of shape (n,)
        Cost of what was decided.
    constant : ndarray of shape (n, A)
        Cost of each action.
    weight : ndarray of shape (n,)

    Raises
    ------
    UndefinedMetricError
        The cheapest constant decision costs nothing or earns money.

    Examples
    --------
    >>> savings(np.array([0.0, 1.0]), np.array([[0.0, 4.0], [5.0, 0.0]]), np.ones(2))
    0.75
    """
    least = min(total(weight * column) for column in constant.T)
    if not least > 0:
        raise UndefinedMetricError("the cheapest constant decision costs nothing or earns money")
    return 1.0 - total(weight * charged) / least


def savings_interval(
    charged: NDArray[np.float64],
    constant: NDArray[np.float64],
    weight: NDArray[np.float64],
    seed: int = 0,
) -> list[float]:
    """95 % percentile interval of `savings` from 1000 bootstrap resamples (Efron & Tibshirani 1993, ch. 13).

    Parameters
    ----------
    charged, constant, weight
        As in `savings`.
    seed : int
        Of the resamples.

    Returns
    -------
    list of float
        The lower end and the upper one.

    Raises
    ------
    UndefinedMetricError
        In more than 1 of 20 resamples the cheapest constant decision costs nothing.
    """
    totals = resampled_totals(np.column_stack([charged, constant]) * weight[:, None], seed)
    least = totals[:, 1:].min(axis=1)
    if np.mean(least > 0) < 0.95:
        raise UndefinedMetricError("in many resamples the cheapest constant decision costs nothing")
    saved = 1.0 - totals[least > 0, 0] / least[least > 0]
    low, high = np.percentile(saved, [2.5, 97.5])
    return [float(low), float(high)]
