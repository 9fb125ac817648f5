"""The values of a column that are told apart, without sorting its rows.

Few distinct values are each a group of their own. Many are grouped in two passes: the first adds up the mass
in equal stretches of the range, the second cuts each stretch into the finer parts the more of the mass it
holds. Groups depend on the values and their masses alone, neither on the order of rows nor on whether a row
is there twice or weighs double.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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

__all__ = ["Keys", "ValueGroups", "floats", "group", "keys_of_columns", "number_distinct"]

Ints = NDArray[np.int64]
Keys = NDArray[Any]  # uint32 or uint64

#: Distinct values up to which each is a group, and the slots they are looked up in.
_DISTINCT, _SLOTS = 1024, 4096
#: Stretches of a range, and parts they are cut into altogether, about, as powers of two.
_STRETCHES, _PARTS = 12, 14
#: Columns read at a time: more would take more memory, fewer waste what comes along in a cache line.
_BLOCK = 3


@dataclass(frozen=True)
class ValueGroups:
    """Groups of neighbouring values, ascending.

    Parameters
    ----------
    masses : ndarray of shape (g,), int64
    numbers : ndarray of shape (g,), intp
        What `rows` calls them.
    rows : ndarray of shape (n,), uint32
        The group of each row, `absent` for a row whose value is missing or that has no mass.
    absent : int
        Greater than all numbers.
    """

    masses: Ints
    numbers: NDArray[np.intp]
    rows: NDArray[np.uint32]
    absent: int

    def number(self, ends: NDArray[np.bool_], out: NDArray[np.uint8]) -> None:
        """Write the bin of each row, that after the last one for absent rows.

        Parameters
        ----------
        ends : ndarray of shape (g,)
            Whether a bin ends after the group.
        out : ndarray of shape (n,)
        """
        numbers = np.empty(self.absent + 1, dtype=np.uint8)
        numbers[self.numbers], numbers[-1] = np.cumsum(ends) - ends, np.count_nonzero(ends) + 1
        number_rows(self.rows, numbers, out)

    def neighbours(self, keys: Keys, ends: NDArray[np.bool_]) -> tuple[Keys, Keys]:
        """Greatest key before each end of a bin and least key after it; no bin ends after the last group."""
        last = np.flatnonzero(ends)
        before, after = self.numbers[last], self.numbers[last + 1]
        lowest, highest = self._bounds(keys, np.concatenate([before, after]))
        return highest[before], lowest[after]

    def any_mixed(self, keys: Keys, which: NDArray[np.bool_]) -> bool:
        """Whether one of these groups holds several values."""
        if not which.any():
            return False
        lowest, highest = self._bounds(keys, self.numbers[which])
        return bool((lowest < highest).any())

    def _bounds(self, keys: Keys, which: NDArray[np.intp]) -> tuple[Keys, Keys]:
        watched = np.zeros(self.absent + 1, dtype=np.bool_)
        watched[which] = True
        lowest = np.full(watched.size, _missing(keys), dtype=keys.dtype)
        highest = np.zeros(watched.size, dtype=keys.dtype)
        bound_groups(keys, self.rows, watched, lowest, highest)
        return lowest, highest


def group(keys: Keys, masses: Ints, parts: int) -> ValueGroups:
    """Group the values of a column.

    Parameters
    ----------
    keys : ndarray of shape (n,)
    masses : ndarray of shape (n,), int64, or of shape (0,) if all rows weigh the same
    parts : int
        A group of more than this part of the mass holds one value only.
    """
    groups = _distinct(keys, masses)
    if groups is None:
        groups = _by_stretch(keys, masses)
        heavy = groups.masses * float(parts) > groups.masses.sum()
        if groups.any_mixed(keys, heavy):
            groups = _sorted(keys, masses)
    return groups


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


def _distinct(keys: Keys, masses: Ints) -> ValueGroups | None:
    distinct, sums = np.empty(_DISTINCT, dtype=keys.dtype), np.empty(_DISTINCT, dtype=np.int64)
    slots, rows = np.full(_SLOTS, -1, dtype=np.int32), np.empty(keys.size, dtype=np.uint32)
    count = group_distinct(keys, masses, _missing(keys), slots, distinct, sums, rows)
    if count < 0:
        return None
    order = np.argsort(distinct[:count])
    return ValueGroups(sums[order], order, rows, _DISTINCT)


def _by_stretch(keys: Keys, masses: Ints) -> ValueGroups:
    missing = _missing(keys)
    least, greatest = bounds_of_keys(keys, masses, missing)
    shift = max(0, (int(greatest) - int(least)).bit_length() - _STRETCHES)
    place = (np.uint64(least), np.uint64(shift))
    stretches = np.zeros(2**_STRETCHES, dtype=np.int64)
    sum_stretches(keys, masses, missing, *place, stretches)
    parts = _bits_of_parts(stretches, shift)
    sizes = np.where(stretches > 0, 1 << parts, 0)
    ends = np.cumsum(sizes)
    starts, shifts = (ends - sizes).astype(np.uint32), (shift - parts).astype(np.uint8)
    sums, rows = np.zeros(ends[-1], dtype=np.int64), np.empty(keys.size, dtype=np.uint32)
    group_by_stretch(keys, masses, missing, *place, starts, shifts, sums, rows)
    numbers = np.flatnonzero(sums > 0)
    return ValueGroups(sums[numbers], numbers, rows, sums.size)


def _bits_of_parts(stretches: Ints, most: int) -> NDArray[np.intp]:
    """By stretch the binary logarithm, rounded up, of its share of all parts."""
    mantissa, exponent = np.frexp(stretches / stretches.sum() * 2.0**_PARTS)
    bits: NDArray[np.intp] = exponent - (mantissa == 0.5)
    return np.minimum(np.maximum(bits, 0), most)


def _sorted(keys: Keys, masses: Ints) -> ValueGroups:
    counted = keys != _missing(keys)
    if masses.size:
        counted &= masses > 0
    values, numbers = np.unique(keys[counted], return_inverse=True)
    sums, rows = np.zeros(values.size, dtype=np.int64), np.full(keys.size, values.size, dtype=np.uint32)
    np.add.at(sums, numbers, masses[counted] if masses.size else 1)
    rows[counted] = numbers
    return ValueGroups(sums, np.arange(values.size), rows, values.size)
