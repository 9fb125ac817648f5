"""Sums of step functions of single columns, and the weight that lies on each of their steps.

Rows come in either float type, one after another in memory or column by column. Tiles of them are turned into
columns that stay in the nearest cache; a value is then placed by counting the cuts below it, which needs no
branch.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.tiles import take_tile

__all__ = ["FEW_CUTS", "GROUP", "STRIDE", "add_steps", "weigh_steps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]
#: float32 or float64, the cuts as the rows.
Values = NDArray[Any]

#: Rows of a tile.
_TILE = 512
#: Columns of a tile are this much further apart, so that they do not share the places of a cache.
_GAP = 16
#: So many cuts are counted one by one; of more, first the last of each group, then within one group.
FEW_CUTS = 32
#: Cuts of a column are filled up with infinity to a multiple of the one or, above `FEW_CUTS`, of the other.
STRIDE, GROUP = 4, 16


@kernel
def _find_places(column: Values, cuts: Values, missing: np.int32, place: Places) -> None:
    """Number of cuts below each value; another number for a missing one."""
    for i in range(column.size):
        place[i] = 0 if column[i] == column[i] else missing
    if cuts.size <= FEW_CUTS:
        for c in range(0, cuts.size, STRIDE):
            first, second, third, fourth = cuts[c], cuts[c + 1], cuts[c + 2], cuts[c + 3]
            for i in range(column.size):
                own = column[i]
                low = np.int32(own > first) + np.int32(own > second)
                place[i] += low + np.int32(own > third) + np.int32(own > fourth)
    else:
        for c in range(GROUP - 1, cuts.size - 1, GROUP):
            last = cuts[c]
            for i in range(column.size):
                place[i] += np.int32(GROUP) * np.int32(column[i] > last)
        for i in range(column.size):
            start: int = min(place[i], cuts.size - GROUP)
            own, within = column[i], np.int32(0)
            for c in range(GROUP):
                within += np.int32(own > cuts[start + c])
            place[i] += within


@kernel
def add_steps(
    rows: Values,
    by_column: bool,
    feature: Ints,
    first_cut: Ints,
    cuts: Values,
    first_step: Ints,
    values: Floats,
    group: Ints,
    start: Floats,
    totals: Floats,
) -> None:
    """Add up step functions, one after another, in groups.

    `rows` is (n, d), or (d, n) if it lies in memory column by column. Function t reads column feature[t], has
    the cuts from first_cut[t] to first_cut[t + 1], filled up as above, and the steps from first_step[t] on,
    the last of them for a missing value. What row i gains for score k is added to totals[i, group[t] + k],
    which begins as start[group[t] + k].
    """
    width, outputs = start.size, values.shape[0]
    n, d = (rows.shape[1], rows.shape[0]) if by_column else rows.shape
    columns = np.empty((d, _TILE + _GAP), rows.dtype)
    place, sums = np.empty(_TILE, np.int32), np.empty((width, _TILE))
    for begin in range(0, n, _TILE):
        size = min(_TILE, n - begin)
        take_tile(rows, by_column, begin, size, columns)
        for w in range(width):
            sums[w] = start[w]
        for t in range(feature.size):
            own = cuts[first_cut[t] : first_cut[t + 1]]
            step, end = first_step[t], first_step[t + 1]
            _find_places(columns[feature[t], :size], own, np.int32(end - step - 1), place[:size])
            for k in range(outputs):
                steps, total = values[k, step:end], sums[group[t] + k]
                for i in range(size):
                    total[i] += steps[place[i]]
        for w in range(width):
            for i in range(size):
                totals[begin + i, w] = sums[w, i]


@kernel
def weigh_steps(
    rows: Values,
    by_column: bool,
    feature: Ints,
    first_cut: Ints,
    cuts: Values,
    first_step: Ints,
    weight: Floats,
    mass: Floats,
) -> None:
    """Add the weight of each row to the step of each function on which it lies, in the order of the rows."""
    n, d = (rows.shape[1], rows.shape[0]) if by_column else rows.shape
    columns, place = np.empty((d, _TILE + _GAP), rows.dtype), np.empty(_TILE, np.int32)
    for begin in range(0, n, _TILE):
        size = min(_TILE, n - begin)
        take_tile(rows, by_column, begin, size, columns)
        for t in range(feature.size):
            own = cuts[first_cut[t] : first_cut[t + 1]]
            step, end = first_step[t], first_step[t + 1]
            _find_places(columns[feature[t], :size], own, np.int32(end - step - 1), place[:size])
            for i in range(size):
                mass[step + place[i]] += weight[begin + i]
