"""Logistic regression with a ridge, on clipped and scaled numbers, levels of categories and gaps."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from costboost.ensembles.lines import Lines
from costboost.kernels.logistic import logistic_slopes

__all__ = ["Linear"]

Floats = NDArray[np.float64]

#: Share of the values at either end of a column that count as the last of the others.
_TAIL = 0.01


@dataclass(frozen=True, eq=False)
class _Design:
    """Columns of numbers, centred and scaled, and the places in theta of levels and gaps.

    Of each column of X: where its numbers are, or the first place and the number of its levels, and the place
    of its gap; -1 for none.
    """

    numbers: Floats
    levels: NDArray[np.int32]
    size: int
    low: Floats
    high: Floats
    centre: Floats
    spread: Floats
    number_of: NDArray[np.int64]
    levels_of: NDArray[np.int64]
    widths: NDArray[np.int64]
    gap_of: NDArray[np.int64]


@dataclass(frozen=True)
class Linear:
    """Logistic regression.

    Parameters
    ----------
    ridge : float
        Half of it times the squared factors is added to the loss, in rows; the constant is free.
    """

    ridge: float = 1.0

    def fit(self, X: Floats, label: Floats, weights: Floats, categories: Collection[int]) -> Lines:
        """Fit a line or a table per column of X, of shape (n, d); weights of mean 1."""
        design = _design(X, frozenset(categories))
        slopes = np.empty(design.size)

        def loss(theta: Floats) -> tuple[float, Floats]:
            value = logistic_slopes(design.numbers, design.levels, label, weights, theta, slopes)
            free = np.append(0.0, theta[1:])
            return value + 0.5 * self.ridge * float((free * free).sum()), slopes + self.ridge * free

        begin = np.zeros(design.size)
        theta = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
        return _lines(design, theta)


def _design(X: Floats, categories: frozenset[int]) -> _Design:
    n, d = X.shape
    numeric = [j for j in range(d) if j not in categories]
    low, high, centre, spread = np.zeros(d), np.zeros(d), np.zeros(d), np.ones(d)
    number_of, levels_of, gap_of = np.full(d, -1), np.full(d, -1), np.full(d, -1)
    widths = np.zeros(d, dtype=np.int64)
    numbers, places = np.zeros((n, len(numeric))), []
    size = 1 + len(numeric)
    for j in range(d):
        values, gaps = X[:, j], np.isnan(X[:, j])
        known = values[~gaps]
        place = np.full(n, -1, dtype=np.int32)
        if j in categories:
            levels_of[j], widths[j] = size, int(known.max(initial=-1.0)) + 1
            place[~gaps] = size + known.astype(np.int32)
            size += int(widths[j])
        elif known.size:
            number_of[j] = numeric.index(j)
            low[j], high[j] = np.quantile(known, [_TAIL, 1 - _TAIL])
            clipped = np.clip(values, low[j], high[j])
            centre[j] = clipped[~gaps].mean()
            spread[j] = clipped[~gaps].std() or 1.0
            numbers[:, number_of[j]] = np.where(gaps, 0.0, (clipped - centre[j]) / spread[j])
        if gaps.any():
            gap_of[j] = size
            place[gaps] = size
            size += 1
        if (place >= 0).any():
            places.append(place)
    levels = np.array(places, dtype=np.int32).reshape(len(places), n).T.copy()
    return _Design(numbers, levels, size, low, high, centre, spread, number_of, levels_of, widths, gap_of)


def _lines(design: _Design, theta: Floats) -> Lines:
    constant = theta[0]
    d = design.low.size
    slope, missing = np.zeros(d), np.zeros(d)
    tables = []
    for j in range(d):
        own = 0.0
        if design.number_of[j] >= 0:
            slope[j] = theta[1 + design.number_of[j]] / design.spread[j]
            own = slope[j] * design.centre[j]
            constant -= own
        # A gap adds what the centre adds, and what it says itself.
        missing[j] = own + (theta[design.gap_of[j]] if design.gap_of[j] >= 0 else 0.0)
        first = max(design.levels_of[j], 0)
        tables.append(theta[first : first + design.widths[j]])
    return Lines(
        low=design.low,
        high=design.high,
        slope=slope,
        missing=missing,
        starts=np.cumsum([0, *design.widths]).astype(np.int32),
        levels=np.concatenate([np.zeros(0), *tables]),
        constant=np.array([constant]),
    )
