"""What each threshold on a probability would have cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from costboost.costs import costs_of_true_class
from costboost.metrics.weighted import row_weights

_TABLE_ROWS = 512


def threshold_table(
    y_codes: NDArray[np.intp],
    values: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    max_rows: int = _TABLE_ROWS,
) -> dict[str, NDArray[np.float64]]:
    """Outcome of labelling positive what lies above a threshold, for up to 512 thresholds (two classes).

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    values : ndarray of shape (n,), float64
        Probability of the positive class.
    costs : ndarray of shape (2, A) or (n, 2, A), float64
    serves : sequence of A class indices, None for a review
        The first action that serves a class is the one taken.
    positive : int, optional
        Class 1 when left out.
    sample_weight : ndarray of shape (n,), optional
    max_rows : int
        Above it, half of the thresholds are even in rank, half even in probability, and the cheapest is kept.

    Returns
    -------
    dict of ndarrays of one length
        `threshold` ascending in [0, 1], `tp`, `fp`, `fn`, `tn` (summed weight), `cost` (total, in money).

    Examples
    --------
    >>> table = threshold_table(
    ...     np.array([0, 1]), np.array([0.25, 0.75]), np.array([[0.0, 1.0], [9.0, 0.0]]), serves=(0, 1)
    ... )
    >>> table["threshold"].tolist(), table["cost"].tolist()
    ([0.0, 0.5, 1.0], [1.0, 0.0, 9.0])
    """
    table = _sweep(y_codes, values, costs, serves=serves, positive=positive, sample_weight=sample_weight)
    # Probabilities need no cut outside [0, 1]: all rows lie above 0 unless one is 0, and none above 1.
    table["threshold"][-1] = 1.0
    table["threshold"][0] = 0.0
    if values.min() <= 0.0:
        table = {name: column[1:] for name, column in table.items()}
    kept = _kept_rows(table["threshold"], table["cost"], max_rows)
    return {name: column[kept] for name, column in table.items()}


def _sweep(
    y_codes: NDArray[np.intp],
    values: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None,
    sample_weight: NDArray[np.float64] | None,
) -> dict[str, NDArray[np.float64]]:
    """Outcomes at -inf, at the midpoints of neighbouring values, and at inf."""
    weight = row_weights(y_codes, sample_weight)
    positive = 1 if positive is None else positive
    own = costs_of_true_class(costs, y_codes)
    distinct, codes = np.unique(values, return_inverse=True)

    def at_or_below(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([[0.0], np.cumsum(np.bincount(codes, amounts, len(distinct)))])

    fn = at_or_below(weight * (y_codes == positive))
    tn = at_or_below(weight * (y_codes != positive))
    below = at_or_below(weight * own[:, serves.index(1 - positive)])
    above = at_or_below(weight * own[:, serves.index(positive)])
    return {
        "threshold": np.concatenate([[-np.inf], _midpoints(distinct), [np.inf]]),
        "tp": fn[-1] - fn,
        "fp": tn[-1] - tn,
        "fn": fn,
        "tn": tn,
        "cost": below + (above[-1] - above),
    }


def _midpoints(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = distinct[:-1], distinct[1:]
    middle = low + 0.5 * (high - low)
    # Between two neighbouring doubles the middle is one of them: take the one that separates.
    return np.where(middle < high, middle, low)


def _kept_rows(thresholds: NDArray[np.float64], cost: NDArray[np.float64], max_rows: int) -> NDArray[np.intp]:
    n = len(thresholds)
    if n <= max_rows:
        return np.arange(n)
    by_rank = np.rint(np.linspace(0, n - 1, max_rows // 2)).astype(np.intp)
    grid = np.linspace(0.0, 1.0, max_rows - max_rows // 2 - 1)
    by_value = np.searchsorted(thresholds, grid).clip(0, n - 1)
    return np.unique(np.concatenate([by_rank, by_value, [cost.argmin()]]))
