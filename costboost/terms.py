"""The additive score of a stump ensemble: one row through plain Python, a batch through numpy.

Both add in the same order, so they agree to the bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: Rows scored at a time: a few columns of a block fit in the cache.
_BLOCK = 4096
#: Larger values are refused, so that no sum overflows.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Terms:
    """An additive score: one threshold on one column per term.

    ``F_k(x) = constant[k] + Σ_{t: output[t] = k} (above[t] if x[feature[t]] > cut[t] else below[t])``, with
    ``missing[t]`` where ``x[feature[t]]`` is NaN. The sum runs in the order of t, whatever the batch.

    Parameters
    ----------
    feature : ndarray of shape (T,), int32
        Column of each term, in [0, n_features).
    cut : ndarray of shape (T,), float64
        Cut of each term; -inf means that every present value lies above.
    below, above, missing : ndarray of shape (T,), float64
        What the term adds for a value at or below the cut, above it, and for NaN.
    output : ndarray of shape (T,), int32
        Index of the score the term belongs to, in [0, n_outputs).
    constant : ndarray of shape (K',), float64
        Start of each sum; K' is 1 for two classes and K for more.
    n_features : int
        Columns a row must have.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, or a value is not finite or beyond 1e100 (but a cut may
        be -inf).

    Examples
    --------
    >>> terms = Terms.single([0], [0.5], [-1.0], [1.0], [0.0], n_features=1)
    >>> terms.score(np.array([[0.0], [1.0], [np.nan]]))[:, 0]
    array([-1.,  1.,  0.])
    """

    feature: NDArray[np.int32]
    cut: NDArray[np.float64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]
    missing: NDArray[np.float64]
    output: NDArray[np.int32]
    constant: NDArray[np.float64]
    n_features: int

    def __post_init__(self) -> None:
        n_terms = self.feature.shape[0] if self.feature.ndim == 1 else -1
        columns = (self.feature, self.cut, self.below, self.above, self.missing, self.output)
        if any(column.shape != (n_terms,) for column in columns) or self.constant.ndim != 1:
            raise ValueError("the arrays of the terms must be one-dimensional and of one length")
        _check_indices("feature", self.feature, self.n_features)
        _check_indices("output", self.output, self.constant.shape[0])
        finite = (self.below, self.above, self.missing, self.constant)
        if not all((np.abs(values) <= _LARGEST).all() for values in finite):
            raise ValueError(f"the values of the terms must be finite and at most {_LARGEST}")
        if not (self.cut < np.inf).all():
            raise ValueError("the cuts of the terms must be numbers below infinity")

    @classmethod
    def single(
        cls,
        feature: Sequence[int],
        cut: Sequence[float],
        below: Sequence[float],
        above: Sequence[float],
        missing: Sequence[float],
        *,
        n_features: int,
        constant: float = 0.0,
    ) -> "Terms":
        """Terms of one score (two classes), from plain sequences."""
        return cls(
            feature=np.asarray(feature, dtype=np.int32),
            cut=np.asarray(cut, dtype=np.float64),
            below=np.asarray(below, dtype=np.float64),
            above=np.asarray(above, dtype=np.float64),
            missing=np.asarray(missing, dtype=np.float64),
            output=np.zeros(len(feature), dtype=np.int32),
            constant=np.array([constant], dtype=np.float64),
            n_features=n_features,
        )

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        return int(self.constant.shape[0])

    @property
    def scale(self) -> float:
        """Sum of the votes Σ|α|, what scores are divided by to be margins; the largest one if K > 2."""
        votes = np.maximum(np.maximum(np.abs(self.below), np.abs(self.above)), np.abs(self.missing))
        return float(np.bincount(self.output, weights=votes, minlength=self.n_outputs).max())

    def score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_features), float64
            NaN is a missing value.

        Returns
        -------
        ndarray of shape (n, K'), float64

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        if X.shape[0] == 1:
            return np.array([self.score_row(X[0].tolist())])
        out = np.empty((X.shape[0], self.n_outputs))
        for start in range(0, X.shape[0], _BLOCK):
            out[start : start + _BLOCK] = self._score_block(X[start : start + _BLOCK])
        return out

    def score_row(self, row: Sequence[float]) -> list[float]:
        """Scores of one row of Python floats; equal to the bit to `score`."""
        totals: list[float] = self.constant.tolist()
        for feature, cut, below, above, missing, output in self._rows:
            value = row[feature]
            if value > cut:
                totals[output] += above
            elif value <= cut:
                totals[output] += below
            else:
                totals[output] += missing
        return totals

    def _score_block(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = np.ascontiguousarray(X.T)
        absent = np.isnan(columns)
        gaps = [bool(column.any()) for column in absent]
        totals = np.repeat(self.constant[:, None], X.shape[0], axis=1)
        for feature, cut, below, above, missing, output in self._rows:
            added = np.where(columns[feature] > cut, above, below)
            if gaps[feature]:
                added[absent[feature]] = missing
            totals[output] += added
        return totals.T

    @cached_property
    def _rows(self) -> list[tuple[int, float, float, float, float, int]]:
        columns = (self.feature, self.cut, self.below, self.above, self.missing, self.output)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def _check_indices(name: str, indices: NDArray[np.int32], size: int) -> None:
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= size):
        raise ValueError(f"{name} of a term is out of range")
