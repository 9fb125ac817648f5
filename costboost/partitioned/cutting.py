"""Cuts of columns whose rows lie in several places: those of all rows in one place."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.learners.columns import check_categories, cut_values, cuts_between_codes, masses_of
from costboost.learners.value_groups import MOST_DISTINCT, Keys
from costboost.partitioned.roster import Roster

__all__ = ["find_cuts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def find_cuts(
    roster: Roster,
    n_columns: int,
    dtype: Any,
    weights: Floats,
    *,
    max_bins: int,
    categories: Collection[int] = (),
) -> tuple[Floats, ...]:
    """Find the cuts of `BinnedColumns.of`.

    Parameters
    ----------
    roster : Roster
    n_columns : int
    dtype : dtype
        float32 or float64.
    weights : ndarray of shape (n,)
        Of all rows, partition by partition.
    max_bins, categories
        As of `BinnedColumns.of`.
    """
    check_categories(categories, n_columns)
    masses = masses_of(weights)
    # Masses that are all the same are no array.
    given = ((), [masses]) if masses.size else ((masses,), [])
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    cuts = []
    for column in range(n_columns):
        if column in categories:
            cuts.append(cuts_between_codes(max(roster.ask("greatest_code", column))))
        else:
            cuts.append(cut_values(_MergedValues(roster, column, bits, *given), max_bins)[2])
    return tuple(cuts)


@dataclass(frozen=True)
class _MergedValues:
    """The values of a column in several places; see `Values`."""

    roster: Roster
    column: int
    dtype: np.dtype[Any]
    for_all: tuple[Ints, ...]
    by_row: list[Ints]

    @property
    def missing(self) -> np.uint64:
        return np.uint64(np.iinfo(self.dtype).max)

    def distinct(self) -> tuple[Keys, Ints] | None:
        found = self.roster.ask("distinct", self.column, *self.for_all, rows=self.by_row)
        if any(one is None for one in found):
            return None
        keys, masses = _merged(found)
        return (keys, masses) if len(keys) <= MOST_DISTINCT else None

    def bounds(self) -> tuple[int, int]:
        least, greatest = zip(*self.roster.ask("look", "bounds"), strict=True)
        return min(least), max(greatest)

    def stretches(self, least: int, shift: int) -> Ints:
        sums: Ints = self.roster.sums("look", "stretches", least, shift)
        return sums

    def parts(self, *args: Any) -> Ints:
        sums: Ints = self.roster.sums("look", "parts", *args)
        return sums

    def extremes(self, places: NDArray[np.intp]) -> tuple[Keys, Keys]:
        lowest, highest = zip(*self.roster.ask("look", "extremes", places), strict=True)
        return np.min(lowest, axis=0), np.max(highest, axis=0)

    def all_distinct(self) -> tuple[Keys, Ints]:
        return _merged(self.roster.ask("look", "all_distinct"))


def _merged(found: Sequence[tuple[Keys, Ints]]) -> tuple[Keys, Ints]:
    """Distinct keys of all, ascending, and their masses."""
    keys, numbers = np.unique(np.concatenate([keys for keys, _ in found]), return_inverse=True)
    masses = np.zeros(keys.size, dtype=np.int64)
    np.add.at(masses, numbers, np.concatenate([own for _, own in found]))
    return keys, masses
