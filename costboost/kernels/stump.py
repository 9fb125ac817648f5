"""Search of the best stump: sums of integer weights per bin, then one look at every cut.

Bins of a column are numbered upwards from 0; the bin after the last one holds its missing values.
``starts[j]`` is where column j begins in the flat table of sums, ``n_cuts[j]`` its number of cuts (one less
than its bins).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

Codes = NDArray[Any]  # (d, n), the smallest unsigned integers that hold the bins
Ints = NDArray[np.int64]
Classes = NDArray[np.uint16]


@kernel
def sum_signed(codes: Codes, starts: Ints, signed: Ints, sums: Ints) -> None:
    """Add each row's signed weight (weight times +1 or -1) to its bin, column by column.

    Four tables take turns: where most rows share a bin, an addition would otherwise wait for the last one.
    """
    for j in range(codes.shape[0]):
        column, bins = codes[j], sums[starts[j] : starts[j + 1]]
        tables = np.zeros((4, bins.size), np.int64)
        first, second, third, fourth = tables[0], tables[1], tables[2], tables[3]
        whole = column.size - column.size % 4
        for i in range(0, whole, 4):
            first[column[i]] += signed[i]
            second[column[i + 1]] += signed[i + 1]
            third[column[i + 2]] += signed[i + 2]
            fourth[column[i + 3]] += signed[i + 3]
        for i in range(whole, column.size):
            first[column[i]] += signed[i]
        for k in range(bins.size):
            bins[k] = first[k] + second[k] + third[k] + fourth[k]


@kernel
def _bounds_of_column(bins: Ints) -> tuple[Any, Any, Any]:
    """Extremes of (sum above - sum below) over the cuts of a column, -inf among them, and the missing sum."""
    missing = bins[-1]
    difference = np.int64(0)
    for k in range(bins.size - 1):
        difference += bins[k]
    least = greatest = difference
    for k in range(bins.size - 2):
        difference -= 2 * bins[k]
        least, greatest = min(least, difference), max(greatest, difference)
    return least, greatest, missing


@kernel
def find_signed_cut(starts: Ints, sums: Ints, slack: int) -> tuple[int, int, int, int]:
    """Find the stump of least weighted error.

    The error of (column, cut, sign) is (total - edge) / 2 with edge = sign · (above - below) + |missing|. Of
    those within `slack` of the best edge: the first column, then the lowest cut, then sign +1.

    Returns
    -------
    column, cut, sign, missing
        cut is -1 for the cut at -inf; `missing` is the signed weight of the column's missing rows.
    """
    n_columns = starts.size - 1
    best = np.int64(-(2**62))
    for j in range(n_columns):
        least, greatest, missing = _bounds_of_column(sums[starts[j] : starts[j + 1]])
        best = max(best, max(greatest, -least) + abs(missing))
    wanted = best - slack
    for j in range(n_columns):
        bins = sums[starts[j] : starts[j + 1]]
        least, greatest, missing = _bounds_of_column(bins)
        if max(greatest, -least) + abs(missing) < wanted:
            continue
        difference = np.int64(0)
        for k in range(bins.size - 1):
            difference += bins[k]
        for k in range(-1, bins.size - 2):
            if k >= 0:
                difference -= 2 * bins[k]
            if difference + abs(missing) >= wanted:
                return j, k, 1, missing
            if abs(missing) - difference >= wanted:
                return j, k, -1, missing
    return 0, -1, 1, 0  # unreachable: the best edge itself is wanted


@kernel
def lean_of_sides(column: NDArray[Any], index: int, missing: int, weights: Ints) -> int:
    """Weight above a cut less the weight below it, missing rows left out."""
    lean = np.int64(0)
    for i in range(column.size):
        code = np.int64(column[i])
        if code != missing:
            lean += weights[i] if code > index else -weights[i]
    return lean  # type: ignore[return-value]


@kernel
def sum_by_class(codes: Codes, starts: Ints, weights: Ints, classes: Classes, sums: Ints) -> None:
    """Add each row's weight to the cell (bin, class) of each column; `sums` has shape (bins, K)."""
    sums[:] = 0
    for j in range(codes.shape[0]):
        column, bins = codes[j], sums[starts[j] : starts[j + 1]]
        for i in range(column.size):
            bins[column[i], classes[i]] += weights[i]


@kernel
def _rank_cuts(bins: Ints, right: Ints) -> None:
    """For each cut of a column, -inf first, the weight that the best class of each side gets right."""
    below, above = np.zeros(bins.shape[1], np.int64), np.zeros(bins.shape[1], np.int64)
    for k in range(bins.shape[0] - 1):
        above += bins[k]
    missing = bins[-1].max()
    right[0] = above.max() + missing
    for k in range(bins.shape[0] - 2):
        below += bins[k]
        above -= bins[k]
        right[k + 1] = below.max() + above.max() + missing


@kernel
def find_class_cut(starts: Ints, sums: Ints, slack: int) -> tuple[int, int]:
    """Find the column and cut (-1: at -inf) where naming the heaviest class of each side errs least.

    Of those within `slack` of the best: the first column, then the lowest cut.
    """
    right = np.zeros(sums.shape[0], np.int64)
    best = np.int64(0)
    for j in range(starts.size - 1):
        first, last = starts[j], starts[j + 1] - 1
        _rank_cuts(sums[first : last + 1], right[first:last])
        best = max(best, right[first:last].max())
    for j in range(starts.size - 1):
        for position in range(starts[j], starts[j + 1] - 1):
            if right[position] >= best - slack:
                return j, position - starts[j] - 1
    return 0, -1  # unreachable: the best itself is wanted
