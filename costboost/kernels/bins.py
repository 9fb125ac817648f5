"""From values to bins: which values of a column are told apart, where its bins end, the bin of each row.

Values are read as unsigned integers in the same order, their keys; the greatest key means a missing value.
Rows of mass 0 take no part. ``masses`` may be empty, then each row has mass 1.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

Keys = NDArray[Any]  # uint32 or uint64
Ints = NDArray[np.int64]
Groups = NDArray[np.uint32]

#: Rows copied at a time: their part of a few columns stays in the cache.
_TILE = 512


@kernel
def order_values(
    bits: Keys, row_step: int, column_step: int, infinity: np.uint64, missing: np.uint64, keys: Keys
) -> None:
    """Write the keys of neighbouring columns; `bits` are those of the floats, `infinity` those of infinity.

    Both zeros have one key. ``missing`` is the greatest key.
    """
    # Without branches, for signs of values cannot be foretold.
    sign = missing ^ (missing >> np.uint64(1))
    last_bit = np.uint64(8 * keys.itemsize - 1)
    n_columns, n = keys.shape
    for first in range(0, n, _TILE):
        last = min(first + _TILE, n)
        for j in range(n_columns):
            column = keys[j]
            at = first * row_step + j * column_step
            for i in range(first, last):
                value = np.uint64(bits[at])
                at += row_step
                value = np.uint64(0) if value == sign else value
                key = value ^ (sign | (missing * (value >> last_bit)))
                column[i] = missing if value & (missing ^ sign) > infinity else key


@kernel
def group_distinct(
    keys: Keys,
    masses: Ints,
    missing: np.uint64,
    slots: NDArray[np.int32],
    distinct: Keys,
    sums: Ints,
    groups: Groups,
) -> int:
    """Give each distinct key a group and add up its mass; -1 if there are more than `distinct` holds.

    Groups are numbered as they are met; rows that take no part belong to the one after the last there may be.

    Parameters
    ----------
    slots : ndarray of a power of two
        More than `distinct` holds; -1 throughout.
    """
    last_slot = np.uint64(slots.size - 1)
    count = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        mass = masses[i] if masses.size > 0 else 1
        if key == missing or mass == 0:
            groups[i] = distinct.size
            continue
        mixed = key * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed >> np.uint64(32)) & last_slot
        while slots[slot] >= 0 and distinct[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & last_slot
        group = int(slots[slot])
        if group < 0:
            if count == distinct.size:
                return -1
            group = count
            slots[slot], distinct[group], sums[group] = group, key, 0
            count += 1
        sums[group] += mass
        groups[i] = group
    return count


@kernel
def bounds_of_keys(keys: Keys, masses: Ints, missing: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Least and greatest key of the rows that take part."""
    least, greatest = missing, np.uint64(0)
    for i in range(keys.size):
        key = np.uint64(keys[i])
        if key != missing and (masses.size == 0 or masses[i] > 0):
            least, greatest = min(least, key), max(greatest, key)
    return least, greatest


@kernel
def sum_stretches(
    keys: Keys, masses: Ints, missing: np.uint64, least: np.uint64, shift: np.uint64, sums: Ints
) -> None:
    """Add up the mass in equal stretches of keys."""
    for i in range(keys.size):
        key = np.uint64(keys[i])
        mass = masses[i] if masses.size > 0 else 1
        if key != missing and mass > 0:
            sums[(key - least) >> shift] += mass


@kernel
def group_by_stretch(
    keys: Keys,
    masses: Ints,
    missing: np.uint64,
    least: np.uint64,
    shift: np.uint64,
    starts: NDArray[np.uint32],
    shifts: NDArray[np.uint8],
    sums: Ints,
    groups: Groups,
) -> None:
    """Cut each stretch of keys anew; each part is a group. Rows that take no part belong to the one after.

    Parameters
    ----------
    starts, shifts : ndarrays, by stretch
        Its first group, and how far the keys in it are shifted.
    """
    within = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(keys.size):
        key = np.uint64(keys[i])
        mass = masses[i] if masses.size > 0 else 1
        if key == missing or mass == 0:
            groups[i] = sums.size
            continue
        place = key - least
        stretch = place >> shift
        group = np.uint64(starts[stretch]) + ((place & within) >> np.uint64(shifts[stretch]))
        groups[i] = group
        sums[group] += mass


@kernel
def end_bins(masses: Ints, max_bins: int, ends: NDArray[np.bool_]) -> None:
    """Mark the distinct values after which a bin ends, so that bins have about equal mass.

    A value as heavy as a whole bin gets one of its own; what it takes away is shared by the others.
    """
    rest = 0.0
    for mass in masses:
        rest += mass
    heavy = rest / max_bins
    bins_left, current = max_bins, 0.0
    for v in range(masses.size - 1):
        current += masses[v]
        full = current * bins_left >= rest
        before_heavy = masses[v + 1] >= heavy and current * bins_left * 2 >= rest
        if (full or before_heavy) and bins_left > 1:
            ends[v] = True
            rest -= current
            bins_left -= 1
            current = 0.0


@kernel
def number_rows(groups: Groups, numbers: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Write the bin of each row's group."""
    for i in range(groups.size):
        out[i] = numbers[groups[i]]


@kernel
def bound_groups(keys: Keys, groups: Groups, watched: NDArray[np.bool_], lowest: Keys, highest: Keys) -> None:
    """Lower and raise the bounds of watched groups to their keys."""
    for i in range(groups.size):
        group = groups[i]
        if watched[group]:
            lowest[group] = min(lowest[group], keys[i])
            highest[group] = max(highest[group], keys[i])


@kernel
def number_by_cuts(column: Any, cuts: Any, missing: int, out: NDArray[np.uint8]) -> None:
    """Count the cuts, 255 and filled up with infinity, below each value; NaN gets the number `missing`."""
    for i in range(column.size):
        own, below = column[i], np.uint64(0)
        for half in (128, 64, 32, 16, 8, 4, 2, 1):  # without a branch, for where a value lies is no habit
            below += np.uint64(half) * np.uint64(own > cuts[below + np.uint64(half - 1)])
        out[i] = missing if np.isnan(own) else below
