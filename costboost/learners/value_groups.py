"""The values of a column that are told apart, without sorting its rows.

Few distinct values are each a group of their own. Many are grouped in two passes: the first adds up the mass
in equal stretches of the range, the second cuts each stretch into the finer parts the more of the mass it
holds. Groups depend on the values and their masses alone, neither on the order of rows nor on whether a row
is there twice or weighs double.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.kernels.bins import (
    bound_groups,
    bounds_of_keys,
    group_by_stretch,
    group_distinct,
    number_rows,
    order_values,
    sum_stretches,
)

__all__ = [
    "MOST_DISTINCT",
    "ColumnValues",
    "Keys",
    "ValueGroups",
    "Values",
    "floats",
    "group",
    "keys_of_columns",
    "number_distinct",
]

Ints = NDArray[np.int64]
Keys = NDArray[Any]  # uint32 or uint64
Octets = NDArray[np.uint8]

#: Distinct values up to which each is a group, and the slots they are looked up in.
MOST_DISTINCT, _SLOTS = 1024, 4096
#: Stretches of a range, and parts they are cut into altogether, about, as powers of two.
_STRETCHES, _PARTS = 12, 14
#: Columns read at a time: more would take more memory, fewer waste what comes along in a cache line.
_BLOCK = 3


class Values(Protocol):
    """The values of a column, in one place or in many: each pass over them returns what can be added up."""

    @property
    def missing(self) -> np.uint64:
        """Key of a missing value."""
        ...

    def distinct(self) -> tuple[Keys, Ints] | None:
        """Distinct keys, ascending, and their masses; None if there are many."""
        ...

    def bounds(self) -> tuple[int, int]:
        """Least and greatest key."""
        ...

    def stretches(self, least: int, shift: int) -> Ints:
        """Mass in equal stretches of keys."""
        ...

    def parts(self, least: int, shift: int, starts: NDArray[np.uint32], shifts: Octets, size: int) -> Ints:
        """Mass in the parts that stretches are cut into."""
        ...

    def extremes(self, places: NDArray[np.intp]) -> tuple[Keys, Keys]:
        """Least and greatest key of some of those parts; the other way round of an empty one."""
        ...

    def all_distinct(self) -> tuple[Keys, Ints]:
        """Distinct keys, ascending, and their masses, however many."""
        ...


class ColumnValues:
    """The values of a column, here. After a pass its rows are numbered.

    Parameters
    ----------
    keys : ndarray of shape (n,)
    masses : ndarray of shape (n,), int64, or of shape (0,) if all rows weigh the same

    Attributes
    ----------
    rows : ndarray of shape (n,), uint32
        The number of each row, `absent` for a row whose value is missing or that has no mass.
    names : ndarray, intp
        The numbers of what the last pass returned.
    absent : int
        Greater than all numbers.
    """

    rows: NDArray[np.uint32]
    names: NDArray[np.intp]
    absent: int

    def __init__(self, keys: Keys, masses: Ints) -> None:
        self.keys, self.masses = keys, masses

    @property
    def missing(self) -> np.uint64:
        """Key of a missing value."""
        return _missing(self.keys)

    def distinct(self) -> tuple[Keys, Ints] | None:
        """Distinct keys, ascending, and their masses; None if there are many."""
        keys = self.keys
        distinct, sums = np.empty(MOST_DISTINCT, dtype=keys.dtype), np.empty(MOST_DISTINCT, dtype=np.int64)
        slots, rows = np.full(_SLOTS, -1, dtype=np.int32), np.empty(keys.size, dtype=np.uint32)
        count = group_distinct(keys, self.masses, self.missing, slots, distinct, sums, rows)
        if count < 0:
            return None
        order = np.argsort(distinct[:count])
        self.rows, self.names, self.absent = rows, order, MOST_DISTINCT
        return distinct[order], sums[order]

    def bounds(self) -> tuple[int, int]:
        """Least and greatest key."""
        least, greatest = bounds_of_keys(self.keys, self.masses, self.missing)
        return int(least), int(greatest)

    def stretches(self, least: int, shift: int) -> Ints:
        """Mass in equal stretches of keys."""
        sums = np.zeros(2**_STRETCHES, dtype=np.int64)
        sum_stretches(self.keys, self.masses, self.missing, np.uint64(least), np.uint64(shift), sums)
        return sums

    def parts(self, least: int, shift: int, starts: NDArray[np.uint32], shifts: Octets, size: int) -> Ints:
        """Mass in the parts that stretches are cut into."""
        sums, rows = np.zeros(size, dtype=np.int64), np.empty(self.keys.size, dtype=np.uint32)
        place = (np.uint64(least), np.uint64(shift))
        group_by_stretch(self.keys, self.masses, self.missing, *place, starts, shifts, sums, rows)
        self.rows, self.names, self.absent = rows, np.arange(size), size
        return sums

    def extremes(self, places: NDArray[np.intp]) -> tuple[Keys, Keys]:
        """Least and greatest key of some of those parts; the other way round of an empty one."""
        watched = np.zeros(self.absent + 1, dtype=np.bool_)
        watched[places] = True
        lowest = np.full(watched.size, self.missing, dtype=self.keys.dtype)
        highest = np.zeros(watched.size, dtype=self.keys.dtype)
        bound_groups(self.keys, self.rows, watched, lowest, highest)
        return lowest[places], highest[places]

    def all_distinct(self) -> tuple[Keys, Ints]:
        """Distinct keys, ascending, and their masses, however many."""
        counted = self.keys != self.missing
        if self.masses.size:
            counted &= self.masses > 0
        values, numbers = np.unique(self.keys[counted], return_inverse=True)
        sums, rows = np.zeros(values.size, np.int64), np.full(self.keys.size, values.size, dtype=np.uint32)
        np.add.at(sums, numbers, self.masses[counted] if self.masses.size else 1)
        rows[counted] = numbers
        self.rows, self.names, self.absent = rows, np.arange(values.size), values.size
        return values, sums

    def number(self, which: NDArray[np.intp], ends: NDArray[np.bool_], out: Octets) -> None:
        """Write the bin of each row, that after the last one for absent rows.

        Parameters
        ----------
        which : ndarray of shape (g,)
            The places of groups in what the last pass returned.
        ends : ndarray of shape (g,)
            Whether a bin ends after the group.
        out : ndarray of shape (n,)
        """
        bins = np.empty(self.absent + 1, dtype=np.uint8)
        bins[self.names[which]], bins[-1] = np.cumsum(ends) - ends, np.count_nonzero(ends) + 1
        number_rows(self.rows, bins, out)


@dataclass(frozen=True)
class ValueGroups:
    """Groups of neighbouring values, ascending.

    Parameters
    ----------
    column : Values
        After the pass that made the groups.
    masses : ndarray of shape (g,), int64
    places : ndarray of shape (g,), intp
        Where they are in what that pass returned.
    keys : ndarray of shape (g,), or None
        Their values, if each holds one.
    """

    column: Values
    masses: Ints
    places: NDArray[np.intp]
    keys: Keys | None

    def neighbours(self, ends: NDArray[np.bool_]) -> tuple[Keys, Keys]:
        """Greatest key before each end of a bin and least key after it; no bin ends after the last group."""
        last = np.flatnonzero(ends)
        if self.keys is not None:
            return self.keys[last], self.keys[last + 1]
        lowest, highest = self.column.extremes(np.concatenate([self.places[last], self.places[last + 1]]))
        return highest[: last.size], lowest[last.size :]

    def any_mixed(self, which: NDArray[np.bool_]) -> bool:
        """Whether one of these groups holds several values."""
        if not which.any():
            return False
        lowest, highest = self.column.extremes(self.places[which])
        return bool((lowest < highest).any())


def group(column: Values, parts: int) -> ValueGroups:
    """Group the values of a column.

    Parameters
    ----------
    column : Values
    parts : int
        A group of more than this part of the mass holds one value only.
    """
    few = column.distinct()
    if few is not None:
        return _one_each(column, *few)
    groups = _by_stretch(column)
    heavy = groups.masses * float(parts) > groups.masses.sum()
    return _one_each(column, *column.all_distinct()) if groups.any_mixed(heavy) else groups


def floats(keys: Keys) -> NDArray[Any]:
    """Values of keys."""
    sign = np.array(_missing(keys) ^ (_missing(keys) >> np.uint64(1)), dtype=keys.dtype)
    return np.where(keys >= sign, keys ^ sign, ~keys).view(f"f{keys.itemsize}")


def keys_of_columns(X: NDArray[Any]) -> Iterator[Keys]:
    """Read one column after the other; each is overwritten by a later one.

    Parameters
    ----------
    X : ndarray of shape (n, d), float32 or float64

    Yields
    ------
    ndarray of shape (n,), uint32 or uint64
        In the order of the values, the greatest one for a missing value.
    """
    n, d = X.shape
    if X.flags.f_contiguous:
        flat, row_step, column_step = X.T.reshape(-1), 1, n
    else:
        flat, row_step, column_step = np.ascontiguousarray(X).reshape(-1), d, 1
    bits = flat.view(f"u{X.itemsize}")
    infinity = np.array([np.inf], dtype=X.dtype).view(bits.dtype)[0]
    buffer = np.empty((min(_BLOCK, d), n), dtype=bits.dtype)
    for first in range(0, d, _BLOCK):
        block = buffer[: min(_BLOCK, d - first)]
        rest = bits[first * column_step :]
        order_values(rest, row_step, column_step, np.uint64(infinity), _missing(bits), block)
        yield from block


def number_distinct(values: NDArray[np.float64], most: int) -> tuple[NDArray[np.uint8], int] | None:
    """Number distinct values, at most 255, ascending.

    Returns
    -------
    numbers : ndarray of shape (n,), uint8
    count : int
        Or None in place of both if there are more than `most`.
    """
    keys = np.ascontiguousarray(values).view(np.uint64)
    distinct, sums = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.int64)
    slots, rows = np.full(_SLOTS, -1, dtype=np.int32), np.empty(keys.size, dtype=np.uint32)
    even = np.empty(0, dtype=np.int64)
    count = group_distinct(keys, even, _missing(keys), slots, distinct, sums, rows)
    if count < 0:
        return None
    ranks = np.argsort(np.argsort(distinct[:count].view(np.float64))).astype(np.uint8)
    numbers = np.empty(keys.size, dtype=np.uint8)
    number_rows(rows, ranks, numbers)
    return numbers, count


def _missing(keys: Keys) -> np.uint64:
    return np.uint64(2 ** (8 * keys.itemsize) - 1)


def _one_each(column: Values, keys: Keys, masses: Ints) -> ValueGroups:
    return ValueGroups(column, masses, np.arange(masses.size), keys)


def _by_stretch(column: Values) -> ValueGroups:
    least, greatest = column.bounds()
    shift = max(0, (greatest - least).bit_length() - _STRETCHES)
    stretches = column.stretches(least, shift)
    parts = _bits_of_parts(stretches, shift)
    sizes = np.where(stretches > 0, 1 << parts, 0)
    ends = np.cumsum(sizes)
    starts, shifts = (ends - sizes).astype(np.uint32), (shift - parts).astype(np.uint8)
    sums = column.parts(least, shift, starts, shifts, int(ends[-1]))
    places = np.flatnonzero(sums > 0)
    return ValueGroups(column, sums[places], places, None)


def _bits_of_parts(stretches: Ints, most: int) -> NDArray[np.intp]:
    """By stretch the binary logarithm, rounded up, of its share of all parts."""
    mantissa, exponent = np.frexp(stretches / stretches.sum() * 2.0**_PARTS)
    bits: NDArray[np.intp] = exponent - (mantissa == 0.5)
    return np.minimum(np.maximum(bits, 0), most)
