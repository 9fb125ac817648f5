"""Contributions in a stump ensemble: each column's part of the score is a step function of that column."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import numpy as np
from numpy.typing import NDArray

from costboost.contributions.columns import SourceColumns, mean_of_bins
from costboost.terms import Terms

__all__ = ["StepContributions", "StepFunction"]

Floats = NDArray[np.float64]

#: Rows looked up at a time.
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class StepFunction:
    """What one matrix column adds to the scores: constant between neighbouring cuts.

    Attributes
    ----------
    feature : int
        The matrix column.
    cuts : ndarray of shape (B,), float64
        Rising and finite; a value equal to a cut lies below it.
    values : ndarray of shape (B + 2, K'), float64
        For each interval from the lowest on; the last row is for a missing value.
    """

    feature: int
    cuts: Floats
    values: Floats

    @classmethod
    def of(cls, terms: Terms, feature: int) -> "StepFunction":
        """Add up all terms on one column, in their order."""
        own = np.flatnonzero(terms.feature == feature)
        cuts = np.unique(terms.cut[own])
        cuts = cuts[np.isfinite(cuts)]
        values = np.zeros((cuts.size + 2, terms.n_outputs))
        # A cut at -inf comes before the first one: every interval lies above it.
        ends = np.where(np.isfinite(terms.cut[own]), np.searchsorted(cuts, terms.cut[own]) + 1, 0)
        for t, end in zip(own.tolist(), ends.tolist(), strict=True):
            k = int(terms.output[t])
            values[:end, k] += terms.below[t]
            values[end:-1, k] += terms.above[t]
            values[-1, k] += terms.missing[t]
        return cls(feature, cuts, values)

    def bins(self, x: Floats) -> NDArray[np.intp]:
        """(n,): row of `values` for each value of the column."""
        place = np.searchsorted(self.cuts, x, side="left")
        return np.where(np.isnan(x), len(self.values) - 1, place)

    def bin_of(self, value: float) -> int:
        """Row of `values` for one value; equal to `bins`."""
        return len(self.values) - 1 if isnan(value) else bisect_left(self._cuts, value)

    @cached_property
    def _cuts(self) -> list[float]:
        cuts: list[float] = self.cuts.tolist()
        return cuts


@dataclass(frozen=True, eq=False)
class StepContributions:
    """Exact contributions: what a column adds for this row, less what it adds on average over training rows.

    Parameters
    ----------
    terms : Terms
    sources : SourceColumns
    means : ndarray of shape (S, K'), float64
        Mean over training rows of what each source adds, from `background`.
    """

    terms: Terms
    sources: SourceColumns
    means: Floats
    method = "additive"

    @cached_property
    def functions(self) -> tuple[StepFunction, ...]:
        """One per matrix column that a term reads, in the order of the columns."""
        return tuple(StepFunction.of(self.terms, j) for j in np.unique(self.terms.feature).tolist())

    @property
    def baseline(self) -> Floats:
        """(K',): mean score of the training rows."""
        total = self.terms.constant.copy()
        for mean in self.means:
            total += mean
        return total

    def contributions(self, X: Floats) -> Floats:
        """(n, S, K') for encoded rows (n, d)."""
        if X.shape[0] == 1:
            return self._row(X[0].tolist())[None] - self.means
        out = np.zeros((X.shape[0], *self.means.shape))
        for start in range(0, X.shape[0], _BLOCK):
            columns = np.ascontiguousarray(X[start : start + _BLOCK].T)
            for function in self.functions:
                source = self.sources.of[function.feature]
                out[start : start + _BLOCK, source] += function.values[
                    function.bins(columns[function.feature])
                ]
        return out - self.means

    def _row(self, row: Sequence[float]) -> Floats:
        added = np.zeros_like(self.means)
        for function in self.functions:
            values = function.values[function.bin_of(row[function.feature])]
            added[self.sources.of[function.feature]] += values
        return added

    def effect(self, source: int, X: Floats) -> Floats:
        """(n, K'): contribution of one source alone."""
        added: Floats = np.zeros((X.shape[0], self.terms.n_outputs))
        for function in self.functions:
            if self.sources.of[function.feature] == source:
                added += function.values[function.bins(X[:, function.feature])]
        added -= self.means[source]
        return added

    @staticmethod
    def background(terms: Terms, sources: SourceColumns, X: Floats, weight: Floats) -> Floats:
        """(S · K',): the means, from the training rows X and their weights."""
        means = np.zeros((sources.count, terms.n_outputs))
        for j in np.unique(terms.feature).tolist():
            function = StepFunction.of(terms, j)
            means[sources.of[j]] += mean_of_bins(function.bins(X[:, j]), function.values, weight)
        return means.ravel()
