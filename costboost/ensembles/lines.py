"""The score of a linear model on numbers and categories: an additive score, a line or a table per column."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.checks import check_finite, check_lengths
from costboost.ensembles.subsets import CODES, places

__all__ = ["Lines"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lines:
    """``F(x) = constant + Σ_j f_j(x_j)`` with a clipped line for a number and a table for a category.

    A number adds ``slope[j] · clip(x_j, low[j], high[j])``, the code c of a category adds
    ``levels[starts[j] + c]`` (0 beyond its table), a missing value of either kind ``missing[j]``. The sum
    runs in the order of the columns, whatever the batch.

    Parameters
    ----------
    low, high, slope, missing : ndarray of shape (d,), float64
    starts : ndarray of shape (d + 1,), int32
        Where the table of each column begins; a column with an empty one is a number.
    levels : ndarray of float64
    constant : ndarray of shape (1,), float64

    Raises
    ------
    ValueError
        If shapes differ, tables overlap, or a value is not finite.

    Examples
    --------
    >>> floats = lambda *v: np.array(v, np.float64)
    >>> lines = Lines(floats(0), floats(5), floats(2), floats(-1), np.zeros(2, np.int32), floats(), floats(1))
    >>> lines.score(np.array([[1.0], [9.0], [np.nan]]))[:, 0]
    array([ 3., 11.,  0.])
    """

    low: Floats
    high: Floats
    slope: Floats
    missing: Floats
    starts: NDArray[np.int32]
    levels: Floats
    constant: Floats

    def __post_init__(self) -> None:
        d = self.low.size
        check_lengths(d, low=self.low, high=self.high, slope=self.slope, missing=self.missing)
        check_lengths(d + 1, starts=self.starts)
        check_lengths(1, constant=self.constant)
        check_finite(1e150, low=self.low, high=self.high)
        check_finite(missing=self.missing, levels=self.levels, constant=self.constant)
        check_finite(1e100, reach=self.slope * np.maximum(np.abs(self.low), np.abs(self.high)))
        widths = np.diff(self.starts)
        if self.starts[0] != 0 or (widths < 0).any() or (widths > CODES).any():
            raise ValueError("the tables of the lines are not sound")
        check_lengths(int(self.starts[-1]), levels=self.levels)
        if not (self.low <= self.high).all():
            raise ValueError("low must not exceed high")

    @property
    def n_features(self) -> int:
        """Columns a row must have."""
        return self.low.size

    @property
    def n_outputs(self) -> int:
        """One score."""
        return 1

    @property
    def scale(self) -> float:
        """Sum of the largest votes of the columns, what scores are divided by to be margins."""
        votes = np.maximum(np.abs(self.slope * self.low), np.abs(self.slope * self.high))
        for j, (start, end) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            votes[j] = max(votes[j], np.abs(self.levels[start:end]).max(initial=0.0))
        return float(np.maximum(votes, np.abs(self.missing)).sum())

    def score(self, X: Floats) -> Floats:
        """Scores of shape (n, 1) of rows of shape (n, d); NaN is a missing value.

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        total = np.full(X.shape[0], self.constant[0])
        for j in range(self.n_features):
            values = X[:, j]
            table = self.levels[self.starts[j] : self.starts[j + 1]]
            if table.size:
                added = np.append(table, np.zeros(CODES + 1 - table.size))[places(values)]
            else:
                added = self.slope[j] * np.clip(values, self.low[j], self.high[j])
            total += np.where(np.isnan(values), self.missing[j], added)
        return total[:, None]
