"""Columns cut into bins once per fit, so that each boosting round only adds weights."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import CODES
from costboost.kernels.bins import count_cuts, end_bins
from costboost.kernels.fixed_point import quantize

__all__ = ["BinnedColumns"]


@dataclass(frozen=True)
class BinnedColumns:
    """The columns of a training set as bin numbers.

    Parameters
    ----------
    codes : ndarray of shape (d, n), unsigned integers
        Number of cuts below each value; one more than the number of cuts for a missing value.
    cuts : tuple of d ndarrays of float64, ascending
        A value lies above a cut iff it is greater. A column of categories has a bin per code.
    categories : frozenset of int
        Columns of categories.
    """

    codes: NDArray[Any]
    cuts: tuple[NDArray[np.float64], ...]
    categories: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        X: NDArray[np.float64],
        weights: NDArray[np.float64],
        max_bins: int | None,
        categories: Collection[int] = (),
    ) -> "BinnedColumns":
        """Cut the columns of X.

        Parameters
        ----------
        X : ndarray of shape (n, d), float64
            NaN is a missing value.
        weights : ndarray of shape (n,), float64, >= 0
            Rows of weight 0 take no part in the choice of cuts; the others count by their weight.
        max_bins : int or None
            A column of at most so many distinct values is cut between any two of them, another into so many
            bins of about equal weight. None cuts between all.
        categories : collection of int
            Columns that hold codes of categories.

        Raises
        ------
        ValueError
            If there is no such column, or it holds something else than whole numbers from 0 to 254.
        """
        columns = np.ascontiguousarray(X.T)
        if not all(0 <= j < len(columns) for j in categories):
            raise ValueError(f"there are {len(columns)} columns, but categories in {sorted(categories)}")
        cuts = tuple(
            _cuts_of_codes(column, j) if j in categories else _cuts(*_distinct(column, weights), max_bins)
            for j, column in enumerate(columns)
        )
        most = max((len(c) + 1 for c in cuts), default=1)
        codes = np.empty(columns.shape, dtype=np.uint8 if most <= 255 else np.uint32)
        for column, own_cuts, numbers in zip(columns, cuts, codes, strict=True):
            _number(column, own_cuts, numbers)
        return cls(codes, cuts, frozenset(categories))

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        """(d,): whether each column is one of categories."""
        return np.isin(np.arange(len(self.cuts)), list(self.categories))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,): where each column begins in a flat table of its bins, the missing one included."""
        return np.cumsum([0, *(len(cuts) + 2 for cuts in self.cuts)], dtype=np.int64)

    def cut(self, column: int, index: int) -> float:
        """Return the value of a cut; index -1 is the cut at -inf."""
        return float(self.cuts[column][index]) if index >= 0 else -np.inf


def _distinct(
    column: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct present values in ascending order, with the integer mass of each."""
    known = (weights > 0) & ~np.isnan(column)
    values, masses = column[known], weights[known]
    if values.size == 0:
        return values, np.empty(0, dtype=np.int64)
    if np.all(masses == masses[0]):
        values, counts = np.sort(values), np.ones(values.size, dtype=np.int64)
    else:
        order = np.argsort(values)
        values, counts = values[order], quantize(masses)[order]
    first = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return values[first], np.add.reduceat(counts, first)


def _cuts_of_codes(column: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """Cuts that make each code the number of its bin."""
    known = column[~np.isnan(column)]
    if not ((known >= 0) & (known < CODES) & (known == np.floor(known))).all():
        raise ValueError(f"column {number} holds categories: only whole numbers from 0 to {CODES - 1}")
    return np.arange(known.max(initial=0.0)) + 0.5


def _number(column: NDArray[np.float64], cuts: NDArray[np.float64], out: NDArray[Any]) -> None:
    if out.dtype == np.uint8:
        padded = np.full(256, np.inf)
        padded[: len(cuts)] = cuts
        count_cuts(column, padded, out)
    else:
        out[:] = np.searchsorted(cuts, column, side="left")
    out[np.isnan(column)] = len(cuts) + 1


def _cuts(
    values: NDArray[np.float64], masses: NDArray[np.int64], max_bins: int | None
) -> NDArray[np.float64]:
    lower, upper = values[:-1], values[1:]
    if max_bins is not None and values.size > max_bins:
        ends = np.zeros(values.size, dtype=np.bool_)
        end_bins(masses, max_bins, ends)
        lower, upper = lower[ends[:-1]], upper[ends[:-1]]
    middle = lower / 2 + upper / 2
    # Halves cannot overflow; between neighbouring floats the middle may round up to the upper one.
    return np.where((middle >= lower) & (middle < upper), middle, lower)
