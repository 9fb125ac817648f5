"""Contributions by asking: any score, with columns exchanged for those of a typical training row.

The Shapley value of the game in which a coalition of columns keeps the row's values and all others hold
those of the typical row (baseline Shapley: Sundararajan, Najmi 2020, The many Shapley values for model
explanation, ICML). Over few columns all orders are asked; over more, a fixed set of them and their reverses
(Castro, Gómez, Tejada 2009, Computers & Operations Research 36:1726-1730): an estimate whose sum is exact.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from costboost.contributions.columns import SourceColumns
from costboost.scorer import ScoreFunction

__all__ = ["ReferenceContributions"]

Floats = NDArray[np.float64]

#: Up to so many columns every order is asked: 24 of them.
_ALL_ORDERS = 4
#: Otherwise so many orders and as many reversed ones.
_DRAWN_ORDERS = 8
#: Cells of encoded rows scored at a time.
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class ReferenceContributions:
    """Mean over orders of the columns of what each adds when the columns are exchanged in that order.

    Parameters
    ----------
    ensemble : ScoreFunction
    sources : SourceColumns
    typical : ndarray of shape (d,), float64
        An encoded row of medians and most frequent categories, from `background`.
    """

    ensemble: ScoreFunction
    sources: SourceColumns
    typical: Floats

    @property
    def method(self) -> str:
        """Whether every order was asked."""
        return "reference_shapley" if self.sources.count <= _ALL_ORDERS else "reference_permutations"

    @cached_property
    def baseline(self) -> Floats:
        """(K',): scores of the typical row."""
        score: Floats = self.ensemble.score(self.typical[None])[0]
        return score

    def contributions(self, X: Floats) -> Floats:
        """(n, S, K') for encoded rows (n, d)."""
        out = np.zeros((X.shape[0], self.sources.count, self.ensemble.n_outputs))
        block = max(1, _BLOCK // (self.sources.count * max(X.shape[1], 1)))
        for start in range(0, X.shape[0], block):
            rows = X[start : start + block]
            for order in self._orders:
                self._add(rows, order, out[start : start + block])
        return out / len(self._orders)

    def _add(self, rows: Floats, order: tuple[int, ...], out: Floats) -> None:
        """Exchange one column after the other; each gets what the scores change by."""
        steps = np.repeat(self.typical[None], len(rows) * len(order), axis=0)
        steps = steps.reshape(len(order), len(rows), -1)
        for number, source in enumerate(order):
            cells = self.sources.columns(source)
            steps[number:, :, cells] = rows[:, cells]
        scores = self.ensemble.score(steps.reshape(len(order) * len(rows), -1))
        before = np.repeat(self.baseline[None], len(rows), axis=0)
        for source, after in zip(order, scores.reshape(len(order), len(rows), -1), strict=True):
            out[:, source] += after - before
            before = after

    @cached_property
    def _orders(self) -> tuple[tuple[int, ...], ...]:
        count = self.sources.count
        if count <= _ALL_ORDERS:
            return tuple(permutations(range(count)))
        rng = np.random.default_rng(0)
        drawn = [tuple(rng.permutation(count).tolist()) for _ in range(_DRAWN_ORDERS)]
        return (*drawn, *(order[::-1] for order in drawn))

    @staticmethod
    def background(
        sources: SourceColumns,
        categories: NDArray[np.bool_],
        X: Floats,
        weight: Floats,
        *,
        coded: bool,
    ) -> Floats:
        """(d,): the typical row of the training rows X under their weights.

        `categories` (S,) says which sources are some. They are codes in one matrix column each if `coded`,
        else each has a column for every category, of which one holds 1.
        """
        most_frequent = _most_frequent_code if coded else _most_frequent
        return np.concatenate(
            [
                most_frequent(X[:, cells], weight) if categories[source] else _medians(X[:, cells], weight)
                for source in range(sources.count)
                for cells in [sources.columns(source)]
            ]
        )


def _most_frequent(marks: Floats, weight: Floats) -> Floats:
    masses = np.array([weight[column > 0].sum() for column in marks.T])
    return np.eye(len(masses))[masses.argmax()] if masses.size else masses


def _most_frequent_code(column: Floats, weight: Floats) -> Floats:
    codes, place = np.unique(column[:, 0], return_inverse=True)  # missing ones count as one code
    return codes[[np.bincount(place, weights=weight).argmax()]]


def _medians(columns: Floats, weight: Floats) -> Floats:
    return np.array([_median(column, weight) for column in columns.T])


def _median(values: Floats, weight: Floats) -> float:
    """Lower weighted median of the values that are there; NaN if none is."""
    present = ~np.isnan(values) & (weight > 0)
    if not present.any():
        return np.nan
    distinct, place = np.unique(values[present], return_inverse=True)
    mass = np.cumsum(np.bincount(place, weights=weight[present]))
    return float(distinct[np.searchsorted(mass, mass[-1] / 2)])
