"""Weights of rows and their sums per bin, kept from round to round.

A row has a kind; its cell is its kind and the side of the last stump that it lies on, kind by kind. A weight
w counts as the integer rint(w · scale), times a number that each account has for each kind: +1 or -1 where
two classes are weighed against each other, 1 or 0 where each class has an account of its own. Sums are kept
in several tables that take turns: where rows in a row share a bin, an addition would otherwise wait for the
last one. Of a column with a bin that most rows share,
only the other rows are added up, tile by tile; that bin holds the rest of the whole.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = [
    "TILE",
    "add_changes",
    "find_frequent",
    "join_tables",
    "list_elsewhere",
    "multiply_weights",
    "relate_factors",
    "sum_sides",
]

Octets = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Rows whose changes stay in the cache while column after column takes them up.
TILE = 8192


@kernel
def sum_sides(
    column: Octets,
    sides: Octets,
    n_sides: int,
    kinds: Octets,
    weights: Floats,
    scale: float,
    masses: Ints,
    counts: Ints,
) -> None:
    """Add up integer weights, and count rows, by kind and side; `sides` tells the side of each bin."""
    tables, rows = np.zeros((4, masses.size), np.int64), np.zeros((4, masses.size), np.int64)
    for i in range(column.size):
        cell = n_sides * kinds[i] + sides[column[i]]
        turn = i & 3
        tables[turn, cell] += np.int64(np.rint(weights[i] * scale))
        rows[turn, cell] += 1
    for k in range(masses.size):
        masses[k] = tables[0, k] + tables[1, k] + tables[2, k] + tables[3, k]
        counts[k] = rows[0, k] + rows[1, k] + rows[2, k] + rows[3, k]


@kernel
def relate_factors(
    exponents: Floats, shares: Floats, masses: Ints, counts: Ints, largest: float, factors: Floats
) -> Any:
    """Write ``share · exp(exponent)`` of each cell in units of that of the most rows.

    What weighs nothing is not raised by a factor that is large only beside the others.

    Returns
    -------
    greatest, projected, touched
        Greatest factor, mass after it, and number of rows whose factor is not 1.
    """
    lead = -1
    for k in range(masses.size):
        if masses[k] > 0 and shares[k] > 0.0 and (lead < 0 or counts[k] > counts[lead]):
            lead = k
    greatest, projected, touched = 0.0, 0.0, np.int64(0)
    for k in range(masses.size):
        heavy = masses[k] > 0 and shares[k] > 0.0
        raised = math.exp(min(exponents[k] - exponents[lead], largest))
        share = min(shares[k] / shares[lead], math.exp(largest))
        factors[k] = min(raised * share, math.exp(largest) if heavy else 1.0)
        greatest = max(greatest, factors[k])
        projected += masses[k] * factors[k]
        touched += counts[k] if factors[k] != 1.0 else 0
    return greatest, projected, touched


@kernel
def multiply_weights(
    column: Octets, sides: Octets, n_sides: int, kinds: Octets, factors: Floats, weights: Floats
) -> None:
    """Multiply each weight by the factor of its cell."""
    for i in range(column.size):
        weights[i] *= factors[n_sides * np.uint64(kinds[i]) + np.uint64(sides[column[i]])]


@kernel
def _change_tile(
    column: Octets,
    sides: Octets,
    n_sides: int,
    kinds: Octets,
    factors: Floats,
    scale: float,
    anew: bool,
    weights: Floats,
    gains: Ints,
) -> Any:
    """Reweigh the rows of a tile: what the integer weight of each gains, or is if `anew`, and the total."""
    mass = np.int64(0)
    for i in range(column.size):
        before = weights[i]
        after = before * factors[n_sides * np.uint64(kinds[i]) + np.uint64(sides[column[i]])]
        weights[i] = after
        gain = np.int64(np.rint(after * scale))
        if not anew:
            gain -= np.int64(np.rint(before * scale))
        mass += gain
        gains[i] = gain
    return mass


@kernel
def _count_gains(
    first: int, kinds: Octets, counts: Ints, gains: Ints, change: Ints, rows: Ints, changes: Ints
) -> Any:
    """Take the gains of a tile as rows of each kind count: each row's, those that change, and the total."""
    n_changed, whole = 0, np.int64(0)
    for i in range(kinds.size):
        gain = gains[i] * counts[kinds[i]]
        change[i] = gain
        whole += gain
        rows[n_changed], changes[n_changed] = first + i, gain
        n_changed += gain != 0
    return n_changed, whole


@kernel
def _add_all(codes: Octets, change: Ints, tables: Ints, account: int, begin: int, end: int) -> None:
    """Add to the bin of each row, table by table in turn; the bins are those from `begin` on."""
    last = len(tables) - 1
    one, two = tables[0, account, begin:end], tables[1 & last, account, begin:end]
    three, four = tables[2 & last, account, begin:end], tables[3 & last, account, begin:end]
    whole = codes.size - codes.size % 4
    for i in range(0, whole, 4):
        one[codes[i]] += change[i]
        two[codes[i + 1]] += change[i + 1]
        three[codes[i + 2]] += change[i + 2]
        four[codes[i + 3]] += change[i + 3]
    for i in range(whole, codes.size):
        one[codes[i]] += change[i]


@kernel
def _add_some(
    codes: Octets, rows: Ints, changes: Ints, tables: Ints, account: int, begin: int, end: int
) -> None:
    """Add to the bins of these rows."""
    last = len(tables) - 1
    one, two = tables[0, account, begin:end], tables[1 & last, account, begin:end]
    three, four = tables[2 & last, account, begin:end], tables[3 & last, account, begin:end]
    whole = rows.size - rows.size % 4
    for i in range(0, whole, 4):
        one[codes[rows[i]]] += changes[i]
        two[codes[rows[i + 1]]] += changes[i + 1]
        three[codes[rows[i + 2]]] += changes[i + 2]
        four[codes[rows[i + 3]]] += changes[i + 3]
    for i in range(whole, rows.size):
        one[codes[rows[i]]] += changes[i]


@kernel
def _add_elsewhere(
    bins: Octets,
    rows: NDArray[np.uint16],
    change: Ints,
    tables: Ints,
    account: int,
    begin: int,
    end: int,
) -> None:
    """Add to the bins of the rows outside the most frequent one."""
    last = len(tables) - 1
    one, two = tables[0, account, begin:end], tables[1 & last, account, begin:end]
    three, four = tables[2 & last, account, begin:end], tables[3 & last, account, begin:end]
    whole = rows.size - rows.size % 4
    for i in range(0, whole, 4):
        one[bins[i]] += change[rows[i]]
        two[bins[i + 1]] += change[rows[i + 1]]
        three[bins[i + 2]] += change[rows[i + 2]]
        four[bins[i + 3]] += change[rows[i + 3]]
    for i in range(whole, rows.size):
        one[bins[i]] += change[rows[i]]


@kernel
def add_changes(
    codes: Octets,
    starts: Ints,
    elsewhere_starts: Ints,
    elsewhere_rows: NDArray[np.uint16],
    elsewhere_bins: Octets,
    column: Octets,
    sides: Octets,
    n_sides: int,
    kinds: Octets,
    counts: Ints,
    factors: Floats,
    scale: float,
    anew: bool,
    weights: Floats,
    tables: Ints,
    wholes: Ints,
) -> int:
    """Multiply each weight by the factor of its cell and add what that changes to the tables.

    Parameters
    ----------
    elsewhere_starts : ndarray of shape (d, tiles + 1)
        Where the rows of a tile begin that are not in the column's most frequent bin; -1 for other columns.
    elsewhere_rows, elsewhere_bins : ndarrays
        Place in their tile, and bin, of these rows.
    counts : ndarray of shape (accounts, k)
        By what a kind's weight is multiplied in each account.
    anew : bool
        Add all weights to empty tables, not only changes. Both give the same sums.
    tables : ndarray of shape (1, 2 or 4, accounts, bins)
    wholes : ndarray of shape (accounts,)
        Sum over all rows.

    Returns
    -------
    int
        What the integer weight of all rows has changed by.
    """
    gains, change, changes, rows = np.empty((4, TILE), np.int64)
    mass = np.int64(0)
    if anew:
        tables[:], wholes[:] = 0, 0
    for tile in range(elsewhere_starts.shape[1] - 1):
        first = tile * TILE
        last = min(first + TILE, column.size)
        own = kinds[first:last]
        mass += _change_tile(
            column[first:last], sides, n_sides, own, factors, scale, anew, weights[first:last], gains
        )
        for a in range(counts.shape[0]):
            count, whole = _count_gains(first, own, counts[a], gains, change, rows, changes)
            wholes[a] += whole
            for j in range(codes.shape[0]):
                begin, end = starts[j], starts[j + 1]
                start, stop = elsewhere_starts[j, tile], elsewhere_starts[j, tile + 1]
                if start >= 0:
                    others, places = elsewhere_bins[start:stop], elsewhere_rows[start:stop]
                    _add_elsewhere(others, places, change, tables, a, begin, end)
                elif 2 * count > last - first:
                    _add_all(codes[j, first:last], change, tables, a, begin, end)
                else:
                    _add_some(codes[j], rows[:count], changes, tables, a, begin, end)
    return mass  # type: ignore[return-value]


@kernel
def join_tables(tables: Ints, starts: Ints, frequent: Ints, wholes: Ints, sums: Ints) -> None:
    """Add the tables up; the bin left out of a column (-1: none) holds the rest of the whole."""
    for a in range(wholes.size):
        for k in range(sums.shape[0]):
            joined = np.int64(0)
            for t in range(tables.shape[0]):
                joined += tables[t, a, k]
            sums[k, a] = joined
        for j in range(frequent.size):
            if frequent[j] >= 0:
                rest = wholes[a]
                for k in range(starts[j], starts[j + 1]):
                    rest -= sums[k, a]
                sums[starts[j] + frequent[j], a] += rest


@kernel
def find_frequent(column: Octets, counts: Ints) -> Any:
    """Find the most frequent bin and its number of rows."""
    tables = np.zeros((4, counts.size), np.int64)
    for i in range(column.size):
        tables[i & 3, column[i]] += 1
    best = 0
    for k in range(counts.size):
        counts[k] = tables[0, k] + tables[1, k] + tables[2, k] + tables[3, k]
        best = k if counts[k] > counts[best] else best
    return best, counts[best]


@kernel
def list_elsewhere(column: Octets, frequent: int, starts: Ints, rows: Any, bins: Octets) -> None:
    """List the rows outside a bin, tile by tile, from ``starts[0]`` on."""
    at = starts[0]
    for i in range(column.size):
        if i % TILE == 0:
            starts[i // TILE] = at
        if column[i] != frequent:
            rows[at], bins[at] = i % TILE, column[i]
            at += 1
    starts[-1] = at
