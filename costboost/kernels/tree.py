"""Growth of a tree: sums of integer weights per bin and class, one look at every cut, rows moved apart.

Bins of a column are numbered upwards from 0; the bin after the last one holds its missing values.
``starts[j]`` is where column j begins in the flat table of sums. A table has one column per class and, if
rows are counted, a last one for their number.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = ["count_node", "find_split", "mark_rows", "order_categories", "part_rows", "sum_node"]

Codes = NDArray[np.uint8]  # (d, n)
Octets = NDArray[np.uint8]
Weights = NDArray[np.float64]
Classes = NDArray[np.uint16]
Ints = NDArray[np.int64]
Rows = NDArray[np.uint32]  # unsigned: a signed index costs a look whether it counts from the end

#: Shares of a class are told apart in steps of 2^-40: far above their rounding, far below what weighs.
_STEPS = 2.0**40
_NO_WEIGHT = 2**62
#: Rows whose weights and classes stay in the cache while column after column takes them up.
_TILE = 8192
#: Rows from which several tables pay.
_ROWS_FOR_TABLES = 20_000


@kernel
def _add_rows(
    codes: Octets,
    rows: Rows,
    masses: Ints,
    classes: Ints,
    n_classes: int,
    tables: Any,
    begin: int,
    end: int,
) -> None:
    """Add to the cell (bin, class) of each listed row; masses and classes are in the order of the list."""
    last = len(tables) - 1
    one, two = tables[0, begin:end], tables[1 & last, begin:end]
    three, four = tables[2 & last, begin:end], tables[3 & last, begin:end]
    whole = rows.size - rows.size % 4
    for i in range(0, whole, 4):
        one[n_classes * codes[rows[i]] + classes[i]] += masses[i]
        two[n_classes * codes[rows[i + 1]] + classes[i + 1]] += masses[i + 1]
        three[n_classes * codes[rows[i + 2]] + classes[i + 2]] += masses[i + 2]
        four[n_classes * codes[rows[i + 3]] + classes[i + 3]] += masses[i + 3]
    for i in range(whole, rows.size):
        one[n_classes * codes[rows[i]] + classes[i]] += masses[i]


@kernel
def sum_node(
    codes: Codes,
    starts: Ints,
    rows: Rows,
    weights: Weights,
    scale: float,
    classes: Classes,
    sums: Ints,
) -> None:
    """Add the integer rint(w · scale) of each of these rows to its cell (bin, class) of each column.

    Rows are taken tile by tile, so that what is read of them again for each column stays in the cache. Of
    many rows four tables take turns: where most rows share a bin, an addition would otherwise wait for the
    last one.
    """
    n_classes = sums.shape[1]
    tables = np.zeros((4 if rows.size >= _ROWS_FOR_TABLES else 1, sums.size), np.int64)
    own_masses, own_classes = np.empty(_TILE, np.int64), np.empty(_TILE, np.int64)
    for first in range(0, rows.size, _TILE):
        last = min(first + _TILE, rows.size)
        own = rows[first:last]
        for i in range(own.size):
            row = own[i]
            own_masses[i], own_classes[i] = np.int64(np.rint(weights[row] * scale)), classes[row]
        for j in range(codes.shape[0]):
            begin, end = n_classes * starts[j], n_classes * starts[j + 1]
            _add_rows(codes[j], own, own_masses, own_classes, n_classes, tables, begin, end)
    for k in range(sums.shape[0]):
        for c in range(n_classes):
            cell = np.int64(0)
            for t in range(tables.shape[0]):
                cell += tables[t, n_classes * k + c]
            sums[k, c] = cell


@kernel
def count_node(codes: Codes, starts: Ints, rows: Rows, weights: Weights, scale: float, sums: Ints) -> None:
    """Count these rows, those without weight left out, per bin of each column in the last column of sums."""
    last = sums.shape[1] - 1
    for j in range(codes.shape[0]):
        column, bins = codes[j], sums[starts[j] : starts[j + 1]]
        for row in rows:
            bins[column[row], last] += np.rint(weights[row] * scale) > 0.0


@kernel
def _purity(masses: Ints, n_classes: int) -> float:
    """Σ m_k² / Σ m_k of the classes of a node; 0 if it is empty."""
    mass, squares = 0.0, 0.0
    for c in range(n_classes):
        own = np.float64(masses[c])
        mass += own
        squares += own * own
    return squares / mass if mass > 0.0 else 0.0


@kernel
def _judge_cuts(
    bins: Ints, n_classes: int, least_mass: float, least_rows: int, upwards: bool, purities: Any
) -> None:
    """Purity that each cut of a column, -inf first, leaves; -1 where a side is too small.

    Missing values go above the cut if `upwards`, else below it. Class by class, so that the loops over cuts
    can be done several cuts at a time.
    """
    n_cuts = purities.size
    missing = bins[n_cuts]
    mass_below, squares_below, mass_above, squares_above = np.zeros((4, n_cuts))
    for c in range(n_classes):
        below, above = (0, missing[c]) if upwards else (missing[c], 0)
        for k in range(n_cuts):
            above += bins[k, c]
        for k in range(n_cuts):
            own_below, own_above = np.float64(below), np.float64(above)
            mass_below[k] += own_below
            squares_below[k] += own_below * own_below
            mass_above[k] += own_above
            squares_above[k] += own_above * own_above
            below += bins[k, c]
            above -= bins[k, c]
    for k in range(n_cuts):
        smaller = min(mass_below[k], mass_above[k])
        purity = squares_below[k] / mass_below[k] + squares_above[k] / mass_above[k]
        purities[k] = -1.0 if smaller <= 0.0 or smaller < least_mass else purity
    if bins.shape[1] > n_classes:
        _refuse_few_rows(bins[:, n_classes], least_rows, upwards, purities)


@kernel
def _refuse_few_rows(rows: Any, least_rows: int, upwards: bool, purities: Any) -> None:
    """Refuse the cuts of a column that leave a side too few rows; `rows` are counted by bin."""
    n_cuts = purities.size
    below, above = (0, rows[n_cuts]) if upwards else (rows[n_cuts], 0)
    for k in range(n_cuts):
        above += rows[k]
    for k in range(n_cuts):
        if min(below, above) < least_rows:
            purities[k] = -1.0
        below += rows[k]
        above -= rows[k]


@kernel
def _judge_column(
    bins: Ints, n_classes: int, least_mass: float, least_rows: int, missing_below: Any, missing_above: Any
) -> None:
    """Judge each cut of a column, -inf first, with its missing values on either side."""
    absent = True
    for c in range(bins.shape[1]):
        absent = absent and bins[-1, c] == 0
    for upwards in (True, False):
        purities = missing_above if upwards else missing_below
        if upwards or not absent:
            _judge_cuts(bins, n_classes, least_mass, least_rows, upwards, purities)
    if absent:
        for k in range(missing_above.size):  # numba compiles this ten times sooner than a copy of an array
            missing_below[k] = missing_above[k]


@kernel
def _lean(bins: Ints, index: int, n_classes: int) -> Any:
    """Weight above a cut less the weight below it, missing rows left out."""
    lean = np.int64(0)
    for k in range(bins.shape[0] - 1):
        for c in range(n_classes):
            lean += bins[k, c] if k > index else -bins[k, c]
    return lean


@kernel
def _order(values: Ints) -> Ints:
    """Places of values in ascending order, equal ones in the order they have.

    At most 255 of them: inserting each is quick, and compiled ten times sooner than a sort of the library.
    """
    order = np.empty(values.size, np.int64)
    for k in range(values.size):
        at = k
        while at > 0 and values[order[at - 1]] > values[k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    return order


@kernel
def order_categories(bins: Ints, n_classes: int, added: float, slack: float) -> tuple[Ints, Ints]:
    """Order the categories of a column by the share of one class, the weight `added` spread as in the node.

    The class is the second of two, else the first within `slack` of the heaviest one of the node. Categories
    of equal share follow in the order of their codes, those without weight come last.

    Returns
    -------
    order : ndarray of shape (b,), int64
        The categories' bins.
    shares : ndarray of shape (b,), int64
        Share of each bin in steps of 2^-40.
    """
    node = np.zeros(n_classes, np.int64)
    for k in range(bins.shape[0]):
        for c in range(n_classes):
            node[c] += bins[k, c]
    heaviest, total = node[0], np.int64(0)
    for c in range(n_classes):
        heaviest = max(heaviest, node[c])
        total += node[c]
    chosen = 1
    if n_classes > 2:
        chosen = 0
        while node[chosen] < heaviest - slack:
            chosen += 1
    whole = added * (node[chosen] / total)
    shares = np.empty(bins.shape[0] - 1, np.int64)
    for k in range(shares.size):
        shares[k] = _NO_WEIGHT
        mass = np.int64(0)
        for c in range(n_classes):
            mass += bins[k, c]
        if mass > 0:
            shares[k] = np.int64(np.rint(_STEPS * ((bins[k, chosen] + whole) / (mass + added))))
    return _order(shares), shares


@kernel
def _in_order(bins: Ints, order: Ints) -> Ints:
    """Rows of a table in this order, its last one at the end."""
    ordered = np.empty(bins.shape, np.int64)
    last = bins.shape[0] - 1
    for k in range(bins.shape[0]):
        source = last if k == last else order[k]
        for c in range(bins.shape[1]):
            ordered[k, c] = bins[source, c]
    return ordered


@kernel
def _keep_equals_together(shares: Ints, order: Ints, missing_below: Any, missing_above: Any) -> None:
    """Forbid the cuts between categories of equal share."""
    for k in range(1, shares.size):
        if shares[order[k]] == shares[order[k - 1]]:
            missing_below[k], missing_above[k] = -1.0, -1.0


@kernel
def find_split(
    starts: Ints,
    sums: Ints,
    categorical: NDArray[np.bool_],
    n_classes: int,
    least_mass: float,
    least_rows: int,
    added: float,
    slack: float,
) -> tuple[int, int, bool]:
    """Find the cut of a node that lowers the Gini impurity Σ m - Σ m_k²/m of its sides the most.

    A column of categories is cut in the order of `order_categories`, never between two of equal share: so
    what their codes are makes no difference. Of the cuts within `slack` of the best: the first column, then
    the lowest cut. Missing values go to the side that lowers it more; where both are within `slack`, to the
    heavier side.

    Returns
    -------
    column, cut, missing_above
        cut is -1 for the cut at -inf; column is -1 if no cut gains more than `slack`.
    """
    empty = np.empty(0, np.int64)
    missing_below, missing_above = np.empty(sums.shape[0]), np.empty(sums.shape[0])
    node = np.zeros(sums.shape[1], np.int64)
    for k in range(starts[0], starts[1]):
        for c in range(sums.shape[1]):
            node[c] += sums[k, c]
    best = -1.0
    for j in range(starts.size - 1):
        first, last = starts[j], starts[j + 1] - 1
        bins = sums[first : last + 1]
        below, above = missing_below[first:last], missing_above[first:last]
        order, shares = empty, empty
        if categorical[j]:
            order, shares = order_categories(bins, n_classes, added, slack)
            bins = _in_order(bins, order)
        _judge_column(bins, n_classes, least_mass, least_rows, below, above)
        _keep_equals_together(shares, order, below, above)
        for k in range(first, last):
            best = max(best, missing_below[k])
            best = max(best, missing_above[k])
    if best - _purity(node, n_classes) <= slack:
        return -1, -1, False
    for j in range(starts.size - 1):
        for k in range(starts[j], starts[j + 1] - 1):
            to_below, to_above = missing_below[k] >= best - slack, missing_above[k] >= best - slack
            if to_below or to_above:
                index = k - starts[j] - 1
                bins = sums[starts[j] : starts[j + 1]]
                if categorical[j]:
                    bins = _in_order(bins, order_categories(bins, n_classes, added, slack)[0])
                return j, index, to_above and (_lean(bins, index, n_classes) > 0 or not to_below)
    return -1, -1, False  # unreachable: the best itself is wanted


@kernel
def part_rows(column: Octets, bins_above: NDArray[np.bool_], rows: Rows) -> tuple[int, bool]:
    """Move the rows of the smaller side of a cut behind those of the other, each in their order.

    Returns
    -------
    count, below_first
        How many rows come first, and whether they are those below the cut.
    """
    n_above = 0
    for row in rows:
        n_above += bins_above[column[row]]
    below_first = 2 * n_above <= rows.size
    n_later = n_above if below_first else rows.size - n_above
    later = np.empty(n_later + 1, np.uint32)  # one place more, for a row that is written and not counted
    first, last = 0, 0
    for i in range(rows.size):
        # Without a branch, for the side of a row cannot be foretold.
        row = rows[i]
        waits: int = np.int64(bins_above[column[row]] == below_first)  # type: ignore[assignment]
        rows[first], later[last] = row, row
        first += 1 - waits
        last += waits
    for i in range(last):
        rows[first + i] = later[i]
    return first, below_first


@kernel
def mark_rows(column: Octets, numbers: Octets, rows: Rows, leaves: Octets) -> None:
    """Note the leaf of rows, by their bins of a column."""
    for row in rows:
        leaves[row] = numbers[column[row]]
