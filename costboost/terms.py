"""The additive score of a stump ensemble: one step function per column.

All stumps on one column are added up once, at the end of a fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.step_tables import StepFunction, StepTables

__all__ = ["Terms"]

#: Larger values are refused, so that no sum overflows.
_LARGEST = 1e100

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """An additive score: one step function per column.

    ``F_k(x) = constant[k] + Σ_t value_t[#{cuts of term t below x[feature[t]]}, k]``, with the last row of
    ``value_t`` where ``x[feature[t]]`` is NaN. The sum runs in the order of t, whatever the batch.

    Parameters
    ----------
    feature : ndarray of shape (F,), int32
        Column of each term, in [0, n_features), rising.
    cuts : ndarray of shape (F,), int32
        How many cuts each term has.
    cut : ndarray of shape (B,), float64
        The cuts, one term after another; finite, rising within a term. A value equal to a cut lies below it.
    value : ndarray of shape ((B + 2F) · K',), float64
        What the terms add to each score, one term after another: for each interval from the lowest on, then
        for a missing value.
    constant : ndarray of shape (K',), float64
        Start of each sum; K' is 1 for two classes and K for more.
    votes : ndarray of shape (K',), float64, >= 0
        Sum of the largest votes Σ|α| of the stumps behind each score.
    n_features : int
        Columns a row must have.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, the order is another, or a value is not finite or beyond
        1e100.

    Examples
    --------
    >>> terms = Terms.single([0, 0], [0.5, 1.5], [-1, -1], [1, 1], [0, 0], n_features=1)
    >>> terms.score(np.array([[0.0], [1.0], [2.0], [np.nan]]))[:, 0]
    array([-2.,  0.,  2.,  0.])
    """

    feature: Ints
    cuts: Ints
    cut: Floats
    value: Floats
    constant: Floats
    votes: Floats
    n_features: int

    def __post_init__(self) -> None:
        columns = (self.feature, self.cuts, self.cut, self.value, self.constant, self.votes)
        if any(column.ndim != 1 for column in columns):
            raise ValueError("the arrays of the terms must have one dimension")
        self._check_cuts()
        if not self.votes.shape == self.constant.shape > (0,) or (self.votes < 0).any():
            raise ValueError("each score needs the sum of its votes")
        if self.value.size != (self.cut.size + 2 * self.feature.size) * self.n_outputs:
            raise ValueError("each term needs one value more than cuts, and one for missing values")
        if not all((np.abs(values) <= _LARGEST).all() for values in (self.value, self.constant, self.votes)):
            raise ValueError(f"the values of the terms must be finite and at most {_LARGEST}")

    def _check_cuts(self) -> None:
        if self.feature.size and not 0 <= self.feature.min() <= self.feature.max() < self.n_features:
            raise ValueError("a column of a term is out of range")
        if self.feature.shape != self.cuts.shape or (np.diff(self.feature) <= 0).any():
            raise ValueError("the columns of the terms must rise")
        if (self.cuts < 0).any() or self.cuts.sum(dtype=np.int64) != self.cut.size:
            raise ValueError("the numbers of cuts are not those of the terms")
        rising = (np.diff(self.cut) > 0) | (np.diff(np.repeat(self.feature, self.cuts)) > 0)
        if not np.isfinite(self.cut).all() or not rising.all():
            raise ValueError("the cuts of a term must be finite and rise")

    @classmethod
    def of_stumps(
        cls,
        *,
        feature: Ints,
        cut: Floats,
        below: Floats,
        above: Floats,
        missing: Floats,
        output: Ints,
        constant: Floats,
        n_features: int,
    ) -> "Terms":
        """Add up T stumps on each column, in their order.

        Parameters
        ----------
        feature : ndarray of shape (T,), int32
            Column of each stump, in [0, n_features).
        cut : ndarray of shape (T,), float64
            -inf means that every present value lies above.
        below, above, missing : ndarray of shape (T,), float64
            What a stump adds for a value at or below its cut, above it, and for NaN.
        output : ndarray of shape (T,), int32
            Index of the score a stump adds to, in [0, K').
        constant : ndarray of shape (K',), float64
        n_features : int

        Raises
        ------
        ValueError
            As `Terms`.
        """
        if np.isnan(cut).any() or (cut == np.inf).any():
            raise ValueError("the cuts of the stumps must be numbers below infinity")
        largest = np.maximum(np.maximum(np.abs(below), np.abs(above)), np.abs(missing))
        order = np.argsort(feature, kind="stable")
        columns, starts = np.unique(feature[order], return_index=True)
        cuts, values = [np.zeros(0)], [np.zeros(0)]
        for own in np.split(order, starts[1:]) if columns.size else []:
            distinct = np.unique(cut[own])
            cuts.append(distinct[np.isfinite(distinct)])
            values.append(
                _added(cuts[-1], cut[own], (below[own], above[own], missing[own]), output[own], constant.size)
            )
        return cls(
            feature=columns.astype(np.int32),
            cuts=np.array([own.size for own in cuts[1:]], dtype=np.int32),
            cut=np.concatenate(cuts),
            value=np.concatenate(values),
            constant=constant,
            votes=np.bincount(output, weights=largest, minlength=constant.size).astype(np.float64),
            n_features=n_features,
        )

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
        """Stumps that add to one score (two classes), from plain sequences."""
        return cls.of_stumps(
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
        return float(self.votes.max())

    def score(self, X: NDArray[Any]) -> Floats:
        """Scores of rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_features), float64 or float32
            NaN is a missing value; infinite values lie beyond all cuts.

        Returns
        -------
        ndarray of shape (n, K'), float64

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.shape == (1, self.n_features):
            out = np.empty((1, self.n_outputs))
            out[0] = self.score_row(X.tolist()[0])
            return out
        return self.tables.sums(X, self._one_group, self.constant[None])[:, 0]

    def score_row(self, row: Sequence[float]) -> list[float]:
        """Scores of one row of Python floats; equal to the bit to `score`."""
        if self.n_outputs == 1:
            return [self.tables.sum_of_row(row, self._start)]
        return self.tables.sums_of_row(row, self._one_group, [self.constant.tolist()])[0]

    @cached_property
    def tables(self) -> StepTables:
        """The terms one by one, ready to be looked up."""
        values = self.value.reshape(-1, self.n_outputs)
        cut, step = self._first.tolist(), (self._first + 2 * np.arange(self._first.size)).tolist()
        functions = (
            StepFunction(j, self.cut[cut[t] : cut[t + 1]], values[step[t] : step[t + 1]])
            for t, j in enumerate(self.feature.tolist())
        )
        return StepTables(tuple(functions), self.n_features, self.n_outputs)

    @cached_property
    def _start(self) -> float:
        return float(self.constant[0])

    @cached_property
    def _one_group(self) -> NDArray[np.int64]:
        return np.zeros(self.feature.size, dtype=np.int64)

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """(F + 1,): first cut of each term, and the end."""
        return np.concatenate([[0], np.cumsum(self.cuts, dtype=np.int64)])


def _added(cuts: Floats, cut: Floats, sides: tuple[Floats, Floats, Floats], output: Ints, k: int) -> Floats:
    """((B + 2) · k,): what stumps on one column add on each interval between their cuts, and at the end."""
    values = np.zeros((cuts.size + 2, k))
    # A cut at -inf comes before the first one: every interval lies above it.
    ends = np.where(np.isfinite(cut), np.searchsorted(cuts, cut) + 1, 0)
    for end, below, above, missing, own in zip(
        ends.tolist(), *(side.tolist() for side in sides), output.tolist(), strict=True
    ):
        values[:end, own] += below
        values[end:-1, own] += above
        values[-1, own] += missing
    return values.ravel()
