"""Contributions in a stump ensemble: each column's part of the score is a step function of that column."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costboost.contributions.columns import SourceColumns
from costboost.step_tables import StepFunction
from costboost.terms import Terms

__all__ = ["StepContributions"]

Floats = NDArray[np.float64]


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

    @property
    def functions(self) -> tuple[StepFunction, ...]:
        """One per matrix column that a term reads, in the order of the columns."""
        return self.terms.tables.functions

    @property
    def baseline(self) -> Floats:
        """(K',): mean score of the training rows."""
        total = self.terms.constant.copy()
        for mean in self.means:
            total += mean
        return total

    def contributions(self, X: Floats) -> Floats:
        """(n, S, K') for encoded rows (n, d)."""
        return self.terms.tables.sums(X, self._sources, np.zeros_like(self.means)) - self.means

    def effect(self, source: int, X: Floats) -> Floats:
        """(n, K'): contribution of one source alone."""
        added: Floats = np.zeros((X.shape[0], self.terms.n_outputs))
        for function in self.functions:
            if self.sources.of[function.feature] == source:
                added += function.values[function.places(X[:, function.feature])]
        added -= self.means[source]
        return added

    @cached_property
    def _sources(self) -> NDArray[np.int64]:
        """(F,): source of the column that each term reads."""
        return self.sources.of[self.terms.feature].astype(np.int64)

    @staticmethod
    def background(terms: Terms, sources: SourceColumns, X: Floats, weight: Floats) -> Floats:
        """(S · K',): the means, from the training rows X and their weights."""
        means, whole = np.zeros((sources.count, terms.n_outputs)), weight.sum()
        for function, mass in zip(terms.tables.functions, terms.tables.mass(X, weight), strict=True):
            # By the weight of each step: an integer weight counts exactly as that many rows do.
            means[sources.of[function.feature]] += (mass[:, None] / whole * function.values).sum(axis=0)
        return means.ravel()
