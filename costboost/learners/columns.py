"""Columns cut into bins once per fit, so that each boosting round only adds weights."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import CODES
from costboost.kernels.bins import end_bins, number_by_cuts
from costboost.kernels.fixed_point import quantize
from costboost.learners.value_groups import (
    ColumnValues,
    Keys,
    ValueGroups,
    Values,
    floats,
    group,
    keys_of_columns,
)

__all__ = [
    "BinnedColumns",
    "check_categories",
    "cut_values",
    "cuts_between_codes",
    "greatest_code",
    "masses_of",
]

Ints = NDArray[np.int64]

#: Most bins a column of octets holds; the number after them is that of missing values.
_MOST_BINS = 255
#: So many rows are numbered column by column while they are in the cache.
_ROWS = 4096
#: A group of values holds at most this part of a bin, if its values can be told apart.
_FINENESS = 2


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
        X: NDArray[Any],
        weights: NDArray[np.float64],
        max_bins: int | None,
        categories: Collection[int] = (),
    ) -> "BinnedColumns":
        """Cut the columns of X.

        Parameters
        ----------
        X : ndarray of shape (n, d), float32 or float64
            NaN is a missing value. Cuts are numbers of its type.
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
        check_categories(categories, X.shape[1])
        masses = masses_of(weights)
        if max_bins is None or max_bins > _MOST_BINS:
            return cls._by_sorting(X, masses, max_bins)
        codes = np.empty(X.shape[::-1], dtype=np.uint8)
        cuts = []
        for j, keys in enumerate(keys_of_columns(X)):
            if j in categories:
                own = _number_codes(X[:, j], j, codes[j])
            else:
                own = _number(keys, masses, max_bins, codes[j])
                _number_unweighed(X[:, j], masses, own, codes[j])
            cuts.append(own)
        return cls(codes, tuple(cuts), frozenset(categories))

    @classmethod
    def by_cuts(
        cls, X: NDArray[Any], cuts: tuple[NDArray[np.float64], ...], categories: Collection[int] = ()
    ) -> "BinnedColumns":
        """Number the bins of rows by cuts of at most 255 bins that are known already."""
        codes = np.empty(X.shape[::-1], dtype=np.uint8)
        filled = np.full((len(cuts), _MOST_BINS), np.inf, dtype=X.dtype)  # cuts are numbers of its type
        for own, cut in zip(filled, cuts, strict=True):
            own[: len(cut)] = cut
        for first in range(0, len(X), _ROWS):
            rows = slice(first, first + _ROWS)
            for j, cut in enumerate(cuts):
                number_by_cuts(X[rows, j], filled[j], len(cut) + 1, codes[j, rows])
        return cls(codes, cuts, frozenset(categories))

    @classmethod
    def _by_sorting(cls, X: NDArray[Any], masses: Ints, max_bins: int | None) -> "BinnedColumns":
        """Cut columns into more bins than an octet can number."""
        cuts = tuple(_cuts(*_distinct(column, masses), max_bins) for column in X.T)
        most = max((len(c) + 1 for c in cuts), default=1)
        codes: NDArray[Any] = np.empty(X.shape[::-1], dtype=np.uint8 if most <= _MOST_BINS else np.uint32)
        for column, own_cuts, numbers in zip(X.T, cuts, codes, strict=True):
            _search(column, own_cuts, numbers)
        return cls(codes, cuts)

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        """(d,): whether each column is one of categories."""
        return np.isin(np.arange(len(self.cuts)), list(self.categories))

    @cached_property
    def starts(self) -> Ints:
        """(d + 1,): where each column begins in a flat table of its bins, the missing one included."""
        return np.cumsum([0, *(len(cuts) + 2 for cuts in self.cuts)], dtype=np.int64)

    def cut(self, column: int, index: int) -> float:
        """Return the value of a cut; index -1 is the cut at -inf."""
        return float(self.cuts[column][index]) if index >= 0 else -np.inf


def check_categories(categories: Collection[int], n_columns: int) -> None:
    """Refuse columns of categories that are not there.

    Raises
    ------
    ValueError
        It names them.
    """
    if not all(0 <= j < n_columns for j in categories):
        raise ValueError(f"there are {n_columns} columns, but categories in {sorted(categories)}")


def masses_of(weights: NDArray[np.float64]) -> Ints:
    """Weights as integers that are 0 only for 0; none if all rows weigh the same."""
    if np.all(weights == weights[0]):
        return np.empty(0, dtype=np.int64)
    return np.maximum(quantize(weights), weights > 0)


def _number(keys: Keys, masses: Ints, max_bins: int, out: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Cut a column and write the bin of each row."""
    column = ColumnValues(keys, masses)
    groups, ends, cuts = cut_values(column, max_bins)
    column.number(groups.places, ends, out)
    return cuts


def cut_values(column: Values, max_bins: int) -> tuple[ValueGroups, NDArray[np.bool_], NDArray[np.float64]]:
    """Cut a column, wherever its rows are: groups of values, after which of them a bin ends, and the cuts."""
    groups = group(column, _FINENESS * max_bins)
    ends = _ends(groups.masses, max_bins)
    below, above = groups.neighbours(ends)
    return groups, ends, _middles(floats(below), floats(above))


def _number_unweighed(
    column: NDArray[Any], masses: Ints, cuts: NDArray[np.float64], out: NDArray[np.uint8]
) -> None:
    """Write the bins of rows that took no part in the choice of the cuts."""
    unweighed = np.flatnonzero(masses == 0)
    if unweighed.size:
        numbers = np.empty(unweighed.size, dtype=np.uint8)
        _search(column[unweighed], cuts, numbers)
        out[unweighed] = numbers


def _number_codes(column: NDArray[Any], number: int, out: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Make each code the number of its bin."""
    cuts = cuts_between_codes(greatest_code(column, number))
    missing = np.isnan(column)
    out[~missing], out[missing] = column[~missing], len(cuts) + 1
    return cuts


def greatest_code(column: NDArray[Any], number: int) -> float:
    """Greatest code of a category in a column, or 0.

    Raises
    ------
    ValueError
        If it holds something else than codes.
    """
    known = column[~np.isnan(column)]
    if not ((known >= 0) & (known < CODES) & (known == np.floor(known))).all():
        raise ValueError(f"column {number} holds categories: only whole numbers from 0 to {CODES - 1}")
    return float(known.max(initial=0.0))


def cuts_between_codes(greatest: float) -> NDArray[np.float64]:
    """Cuts that give each code a bin of its own."""
    return np.arange(greatest) + 0.5


def _distinct(column: NDArray[Any], masses: Ints) -> tuple[NDArray[Any], Ints]:
    """Distinct present values in ascending order, with the mass of each."""
    known = ~np.isnan(column)
    if masses.size:
        known &= masses > 0
    values, numbers, counts = np.unique(column[known], return_inverse=True, return_counts=True)
    if masses.size:
        counts = np.zeros(values.size, dtype=np.int64)
        np.add.at(counts, numbers, masses[known])
    return values, counts


def _search(column: NDArray[Any], cuts: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Count the cuts below each value."""
    out[:] = np.searchsorted(cuts, column, side="left")
    out[np.isnan(column)] = len(cuts) + 1


def _cuts(values: NDArray[Any], masses: Ints, max_bins: int | None) -> NDArray[np.float64]:
    ends = _ends(masses, max_bins)[:-1]
    return _middles(values[:-1][ends], values[1:][ends])


def _ends(masses: Ints, max_bins: int | None) -> NDArray[np.bool_]:
    """Mark the values after which a bin ends, all but the last one."""
    if max_bins is None or masses.size <= max_bins:
        return np.arange(1, masses.size + 1) < masses.size
    ends = np.zeros(masses.size, dtype=np.bool_)
    end_bins(masses, max_bins, ends)
    return ends


def _middles(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.float64]:
    """Cut between neighbours, at a number of their own type: comparisons in either type then agree."""
    middle = lower / 2 + upper / 2
    # Halves cannot overflow; between neighbouring floats the middle may round up to the upper one.
    return np.where((middle >= lower) & (middle < upper), middle, lower).astype(np.float64)
