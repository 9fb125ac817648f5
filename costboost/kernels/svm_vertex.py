"""Exact minimum of the linear weighted SVM: descent along its creases, as the simplex method does.

With many rows and few columns the minimum of eq. (6) (Lu, Zhang & Zhai 2023) lies where as many rows as there
are columns have margin exactly 1. Coordinate ascent comes near and then crawls; here each step minimises the
objective exactly along a line that keeps the margins of the working rows at 1, so the end is reached in
finitely many steps, to the last digits.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import math

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.svm import add_row, dot
from costboost.kernels.svm_cholesky import cholesky_row, solve_lower, solve_upper

__all__ = ["descend_to_vertex"]

_OUTSIDE, _INSIDE, _WORKING = 0, 1, 2  # margin above 1 (dual at its lower bound), below 1 (upper), exactly 1


@kernel
def _append(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    working: NDArray[np.int64],
    size: int,
    factor: NDArray[np.float64],
    i: int,
) -> bool:
    """Take a row into the working set, if it is independent of those there."""
    products = np.empty(size)
    for a in range(size):
        products[a] = sign[i] * sign[working[a]] * dot(rows[i], rows[working[a]])
    working[size] = i
    return bool(cholesky_row(factor, size, products, dot(rows[i], rows[i]), 1e-13))


@kernel
def _remove(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    working: NDArray[np.int64],
    size: int,
    factor: NDArray[np.float64],
    position: int,
) -> bool:
    """Drop a row of the working set and renew the factor behind it."""
    kept = True
    for a in range(position, size - 1):
        kept = _append(rows, sign, working, a, factor, working[a + 1]) and kept
    return kept


@kernel
def _aim(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    working: NDArray[np.int64],
    size: int,
    factor: NDArray[np.float64],
    pull: NDArray[np.float64],
    multiplier: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Minimum of ½‖w‖² − pull·w with the working rows' margins at 1, and its multipliers."""
    right = np.empty(size)
    for a in range(size):
        right[a] = 1.0 - sign[working[a]] * dot(rows[working[a]], pull)
    solve_lower(factor, size, right, multiplier)
    solve_upper(factor, size, multiplier)
    out[:] = pull
    for a in range(size):
        add_row(out, multiplier[a] * sign[working[a]], rows[working[a]])


@kernel
def _steepest(
    working: NDArray[np.int64],
    size: int,
    factor: NDArray[np.float64],
    multiplier: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> int:
    """Position of the working row whose release descends most steeply; -1 if none descends.

    Its multiplier lies out of its box by some excess; the slope along the edge that it frees is the excess
    times the part of the row that is orthogonal to the others.
    """
    steepest, found = 0.0, -1
    unit, solved = np.zeros(size), np.empty(size)
    for a in range(size):
        i = working[a]
        excess = max(multiplier[a] - upper[i], lower[i] - multiplier[a])
        if excess <= 1e-11 * (upper[i] - lower[i]):
            continue
        unit[a] = 1.0
        solve_lower(factor, size, unit, solved)
        unit[a] = 0.0
        slope = excess / math.sqrt(dot(solved, solved))
        if slope > steepest:
            steepest, found = slope, a
    return found


@kernel
def _crossings(
    margin: NDArray[np.float64],
    change: NDArray[np.float64],
    side: NDArray[np.int8],
    width: NDArray[np.float64],
    where: NDArray[np.int64],
    when: NDArray[np.float64],
) -> int:
    """Rows that reach margin 1 on the way, and the share of the way at which they do."""
    count = 0
    for i in range(margin.size):
        arriving = change[i] > 0.0 if side[i] == _INSIDE else change[i] < 0.0
        if side[i] == _WORKING or not arriving or width[i] <= 0.0:
            continue
        share = max((1.0 - margin[i]) / change[i], 0.0)
        if share < 1.0:
            where[count], when[count] = i, share
            count += 1
    return count


@kernel
def _switch(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    width: NDArray[np.float64],
    side: NDArray[np.int8],
    pull: NDArray[np.float64],
    i: int,
) -> None:
    """Move a row to the other side of margin 1."""
    if side[i] == _INSIDE:
        side[i] = _OUTSIDE
        add_row(pull, -width[i] * sign[i], rows[i])
    else:
        side[i] = _INSIDE
        add_row(pull, width[i] * sign[i], rows[i])


@kernel
def _start(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    weights: NDArray[np.float64],
    margin: NDArray[np.float64],
    side: NDArray[np.int8],
    pull: NDArray[np.float64],
) -> None:
    """Margins, sides and pull of the starting point."""
    pull[:] = 0.0
    for i in range(rows.shape[0]):
        margin[i] = sign[i] * dot(rows[i], weights)
        side[i] = _INSIDE if margin[i] < 1.0 else _OUTSIDE
        add_row(pull, (upper[i] if side[i] == _INSIDE else lower[i]) * sign[i], rows[i])


@kernel
def _walk(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    width: NDArray[np.float64],
    side: NDArray[np.int8],
    pull: NDArray[np.float64],
    change: NDArray[np.float64],
    length: float,
    where: NDArray[np.int64],
    when: NDArray[np.float64],
) -> tuple[float, int]:
    """Minimise along the line: the share of the way to go, and the row at whose crease it ends (or -1).

    The slope starts at −length (length = squared step) and grows by that much along the whole way; each
    crossed row adds its width times the change of its margin.
    """
    slope = -length
    for k in np.argsort(when):
        i = where[k]
        if slope + when[k] * length >= 0.0:
            break
        slope += width[i] * abs(change[i])
        if slope + when[k] * length >= 0.0:
            return when[k], i
        _switch(rows, sign, width, side, pull, i)
    return min(-slope / length, 1.0), -1


@kernel
def _write_dual(
    side: NDArray[np.int8],
    working: NDArray[np.int64],
    size: int,
    multiplier: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
) -> None:
    """Dual point of the vertex: bounds by side, multipliers of the working rows."""
    for i in range(side.size):
        dual[i] = upper[i] if side[i] == _INSIDE else lower[i]
    for a in range(size):
        i = working[a]
        dual[i] = min(max(multiplier[a], lower[i]), upper[i])


@kernel
def descend_to_vertex(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
    weights: NDArray[np.float64],
    steps: int,
) -> bool:
    """Move the weights to the exact minimum.

    Returns False, with the weights never worse than they came, if the steps run out or the walk stands still
    at a degenerate corner; ``dual`` is written only at the minimum.
    """
    n, d = rows.shape
    width = upper - lower
    margin, change, side = np.empty(n), np.empty(n), np.empty(n, np.int8)
    where, when = np.empty(n, np.int64), np.empty(n)
    pull, aim = np.empty(d), np.empty(d)
    working, factor, multiplier = np.empty(d + 1, np.int64), np.zeros((d + 1, d + 1)), np.empty(d + 1)
    size = 0
    still = 0
    _start(rows, sign, lower, upper, weights, margin, side, pull)
    for _ in range(steps):
        _aim(rows, sign, working, size, factor, pull, multiplier, aim)
        length = 0.0
        for j in range(d):
            length += (aim[j] - weights[j]) * (aim[j] - weights[j])
        if length <= 1e-24 * dot(weights, weights):
            position = _steepest(working, size, factor, multiplier, lower, upper)
            if position < 0:
                weights[:] = aim
                _write_dual(side, working, size, multiplier, lower, upper, dual)
                return True
            i = working[position]
            side[i] = _INSIDE if multiplier[position] > upper[i] else _OUTSIDE
            add_row(pull, (upper[i] if side[i] == _INSIDE else lower[i]) * sign[i], rows[i])
            if not _remove(rows, sign, working, size, factor, position):
                return False
            size -= 1
            continue
        for j in range(d):
            aim[j] -= weights[j]
        for i in range(n):
            change[i] = sign[i] * dot(rows[i], aim)
        count = _crossings(margin, change, side, width, where, when)
        share, i = _walk(rows, sign, width, side, pull, change, length, where[:count], when[:count])
        add_row(weights, share, aim)
        add_row(margin, share, change)
        still = still + 1 if share <= 1e-12 else 0
        if still > 4 * d + 20:
            return False
        if i >= 0:
            add_row(pull, -(upper[i] if side[i] == _INSIDE else lower[i]) * sign[i], rows[i])
            side[i] = _WORKING
            if size > d or not _append(rows, sign, working, size, factor, i):
                return False
            size += 1
    return False
