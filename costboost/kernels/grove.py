"""Growth of one tree that predicts a number: by the largest gain first, or by chance.

Both take columns as bins (`kernels.bins`), a pull g and a stiffness h per row: a leaf answers with
``Σg / (Σh + ridge)``, and a cut gains ``Σ_sides (Σg)² / (Σh + ridge)`` less that of the whole. With g and h
of the logistic loss this is a Newton step (Friedman 2001; Chen, Guestrin 2016), with g the labels and h = 1
the mean label, and the gain then is the decrease of Gini impurity.

Nodes are written from the root in the order of their birth, with the number of the child below; the child
above follows it. A row goes above iff its bin is greater than the node's, a missing value (the last bin of
its column) iff `missing_above`.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bins = NDArray[np.uint8]
Rows = NDArray[np.int32]


@kernel
def _add_up(bins: Bins, columns: Ints, rows: Rows, g: Floats, h: Floats, sums: Floats) -> None:
    """Σg, Σh and the count of rows per bin of the columns, into `sums` of shape (columns, 256, 3)."""
    sums[:] = 0.0
    for c in range(columns.size):
        codes, own = bins[columns[c]], sums[c]
        for i in range(rows.size):
            row = rows[i]
            cell = own[codes[row]]
            cell[0] += g[row]
            cell[1] += h[row]
            cell[2] += 1.0


@kernel
def _best_cut(
    sums: Floats,
    columns: Ints,
    n_bins: Ints,
    whole: Floats,
    min_rows: float,
    min_stiffness: float,
    ridge: float,
) -> tuple[float, int, int, int]:
    """Gain, place in `columns`, bin and side of missing values of the best cut; gain 0 if there is none."""
    best, best_column, best_bin, best_side = 0.0, -1, -1, 0
    base = whole[0] * whole[0] / (whole[1] + ridge)
    for c in range(columns.size):
        own = sums[c]
        last = n_bins[columns[c]]
        missing_g, missing_h, missing_n = own[last, 0], own[last, 1], own[last, 2]
        for side in range(2):  # missing values below, then above
            if side == 1 and missing_n == 0.0:
                break
            left_g, left_h, left_n = 0.0, 0.0, 0.0
            if side == 0:
                left_g, left_h, left_n = missing_g, missing_h, missing_n
            # The cut at -1 parts missing values, below, from all others.
            for b in range(-1, last - side):
                if b >= 0:
                    if own[b, 2] == 0.0:
                        continue
                    left_g += own[b, 0]
                    left_h += own[b, 1]
                    left_n += own[b, 2]
                right_n = whole[2] - left_n
                if right_n < min_rows:
                    break
                right_h = whole[1] - left_h
                if left_n < min_rows or left_h < min_stiffness or right_h < min_stiffness:
                    continue
                right_g = whole[0] - left_g
                gain = left_g * left_g / (left_h + ridge) + right_g * right_g / (right_h + ridge) - base
                if gain > best:
                    best, best_column, best_bin, best_side = gain, c, b, side
    return best, best_column, best_bin, best_side


@kernel
def _part(codes: Bins, cut: int, missing: int, missing_above: bool, rows: Rows, spare: Rows) -> int:
    """Put the rows that go below first, all in their order; return their number."""
    below, above = 0, 0
    for i in range(rows.size):
        row = rows[i]
        code = codes[row]
        goes_above = missing_above if code == missing else code > cut
        if goes_above:
            spare[above] = row
            above += 1
        else:
            rows[below] = row
            below += 1
    rows[below:] = spare[:above]
    return below


@kernel
def grow_by_gain(
    bins: Bins,
    n_bins: Ints,
    columns: Ints,
    rows: Rows,
    g: Floats,
    h: Floats,
    max_leaves: int,
    max_depth: int,
    min_rows: float,
    min_stiffness: float,
    ridge: float,
    min_gain: float,
    feature: Rows,
    cut: Rows,
    missing_above: Rows,
    child: Rows,
    value: Floats,
    begin: Ints,
    end: Ints,
) -> int:
    """Split the leaf of the largest gain until there are enough; return the number of nodes.

    `rows` is put in the order of the leaves: those of node v are ``rows[begin[v]:end[v]]``. The arrays of
    nodes hold ``2 · max_leaves - 1``.
    """
    sums = np.empty((max_leaves, columns.size, 256, 3))
    spare = np.empty(rows.size, dtype=np.int32)
    slot = np.zeros(2 * max_leaves, dtype=np.int64)
    depth = np.zeros(2 * max_leaves, dtype=np.int64)
    whole = np.zeros((2 * max_leaves, 3))
    gain = np.zeros(2 * max_leaves)
    found = np.zeros((2 * max_leaves, 3), dtype=np.int64)
    feature[:] = -1
    begin[0], end[0] = 0, rows.size
    _add_up(bins, columns, rows, g, h, sums[0])
    for i in range(rows.size):
        whole[0, 0] += g[rows[i]]
        whole[0, 1] += h[rows[i]]
        whole[0, 2] += 1.0
    gain[0], found[0, 0], found[0, 1], found[0, 2] = _best_cut(
        sums[0], columns, n_bins, whole[0], min_rows, min_stiffness, ridge
    )
    nodes, leaves = 1, 1
    while leaves < max_leaves:
        node = 0
        for v in range(1, nodes):
            if gain[v] > gain[node]:
                node = v
        if gain[node] <= min_gain:
            break
        column = columns[found[node, 0]]
        last = n_bins[column]
        own = rows[begin[node] : end[node]]
        count = _part(bins[column], found[node, 1], last, found[node, 2] == 1, own, spare)
        feature[node], cut[node], missing_above[node] = column, found[node, 1], found[node, 2]
        below, above = nodes, nodes + 1
        child[node] = below
        gain[node] = 0.0
        middle = begin[node] + count
        begin[below], end[below], begin[above], end[above] = begin[node], middle, middle, end[node]
        depth[below] = depth[above] = depth[node] + 1
        nodes += 2
        leaves += 1
        light, heavy = (below, above) if count <= own.size - count else (above, below)
        slot[heavy], slot[light] = slot[node], leaves - 1
        for i in range(begin[light], end[light]):
            whole[light, 0] += g[rows[i]]
            whole[light, 1] += h[rows[i]]
            whole[light, 2] += 1.0
        whole[heavy] = whole[node] - whole[light]
        if leaves == max_leaves or depth[below] == max_depth:
            continue
        _add_up(bins, columns, rows[begin[light] : end[light]], g, h, sums[slot[light]])
        sums[slot[heavy]] -= sums[slot[light]]
        for v in (below, above):
            if whole[v, 2] >= 2.0 * min_rows:
                gain[v], found[v, 0], found[v, 1], found[v, 2] = _best_cut(
                    sums[slot[v]], columns, n_bins, whole[v], min_rows, min_stiffness, ridge
                )
    for v in range(nodes):
        value[v] = whole[v, 0] / (whole[v, 1] + ridge) if feature[v] < 0 else 0.0
    return nodes


@kernel
def _next(state: NDArray[np.uint64]) -> np.uint64:
    """SplitMix64 (Steele, Lea, Flood 2014): the same numbers in every thread and process."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.uint64 = z ^ (z >> np.uint64(31))
    return mixed


@kernel
def _below(state: NDArray[np.uint64], limit: int) -> int:
    """Draw a whole number from 0 to `limit - 1`."""
    return int(_next(state) >> np.uint64(11)) % limit


@kernel
def _cut_by_chance(
    codes: Bins,
    last: int,
    rows: Rows,
    g: Floats,
    h: Floats,
    whole: Floats,
    min_rows: float,
    state: NDArray[np.uint64],
) -> tuple[float, int, int]:
    """Draw a cut between the least and the largest bin; its gain, bin and side of missing values."""
    low, high = 256, -1
    for i in range(rows.size):
        code = int(codes[rows[i]])
        if code != last:
            low, high = min(low, code), max(high, code)
    if high <= low:
        return 0.0, -1, 0
    cut = low + _below(state, high - low)
    below, missing = np.zeros(3), np.zeros(3)
    for i in range(rows.size):
        row = rows[i]
        code = codes[row]
        if code == last:
            missing[0] += g[row]
            missing[1] += h[row]
            missing[2] += 1.0
        elif code <= cut:
            below[0] += g[row]
            below[1] += h[row]
            below[2] += 1.0
    base = whole[0] * whole[0] / whole[1]
    best, best_side = 0.0, 0
    for side in range(2 if missing[2] > 0 else 1):
        left = below + missing if side == 0 else below
        if left[2] < min_rows or whole[2] - left[2] < min_rows:
            continue
        right = whole - left
        gain = left[0] * left[0] / left[1] + right[0] * right[0] / right[1] - base
        if gain > best:
            best, best_side = gain, side
    return best, cut, best_side


@kernel
def _add_rows(rows: Rows, g: Floats, h: Floats, whole: Floats) -> bool:
    """Σg, Σh and the count of the rows, into `whole`; whether all of them pull alike."""
    whole[:] = 0.0
    least, most = np.inf, -np.inf
    for i in range(rows.size):
        row = rows[i]
        whole[0] += g[row]
        whole[1] += h[row]
        ratio = g[row] / h[row]
        least, most = min(least, ratio), max(most, ratio)
    whole[2] = rows.size
    return least == most


@kernel
def grow_by_chance(
    bins: Bins,
    n_bins: Ints,
    tried: int,
    rows: Rows,
    g: Floats,
    h: Floats,
    seed: np.uint64,
    max_depth: int,
    min_rows: float,
    ridge: float,
    prior: float,
    feature: Rows,
    cut: Rows,
    missing_above: Rows,
    child: Rows,
    value: Floats,
) -> int:
    """Grow an extremely randomized tree (Geurts et al. 2006): a node draws columns, and a cut of each.

    A leaf answers with the mean pull, drawn to `prior` by `ridge` rows.
    """
    d = bins.shape[0]
    state = np.empty(1, dtype=np.uint64)
    state[0] = seed
    begin, end = np.zeros(feature.size, dtype=np.int64), np.zeros(feature.size, dtype=np.int64)
    depth = np.zeros(feature.size, dtype=np.int64)
    spare = np.empty(rows.size, dtype=np.int32)
    order, whole = np.arange(d), np.zeros(3)
    feature[:] = -1
    end[0] = rows.size
    nodes, node = 1, 0
    while node < nodes:
        own = rows[begin[node] : end[node]]
        alike = _add_rows(own, g, h, whole)
        value[node] = (whole[0] + ridge * prior) / (whole[1] + ridge)
        best, column, at, missing_side = 1e-12 * whole[1], -1, -1, 0
        looked = d if alike or own.size < 2 * min_rows or depth[node] == max_depth else 0
        for k in range(looked, d):
            j = k + _below(state, d - k)
            order[k], order[j] = order[j], order[k]
            codes, last = bins[order[k]], n_bins[order[k]]
            gain, cut_at, side = _cut_by_chance(codes, last, own, g, h, whole, min_rows, state)
            if gain > best:
                best, column, at, missing_side = gain, order[k], cut_at, side
            looked += gain > 0.0
            if looked == tried:
                break
        if column >= 0:
            count = _part(bins[column], at, n_bins[column], missing_side == 1, own, spare)
            feature[node], cut[node], missing_above[node], child[node] = column, at, missing_side, nodes
            value[node] = 0.0
            middle = begin[node] + count
            begin[nodes], end[nodes], begin[nodes + 1], end[nodes + 1] = (
                begin[node],
                middle,
                middle,
                end[node],
            )
            depth[nodes] = depth[nodes + 1] = depth[node] + 1
            nodes += 2
        node += 1
    return nodes


@kernel
def add_answers(
    bins: Bins,
    n_bins: Ints,
    feature: Rows,
    cut: Rows,
    missing_above: Rows,
    child: Rows,
    value: Floats,
    rows: Rows,
    out: Floats,
) -> None:
    """Add a tree's answers for some rows, given as bins, to `out`."""
    for i in range(rows.size):
        row = rows[i]
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            code = bins[column, row]
            above = missing_above[node] == 1 if code == n_bins[column] else code > cut[node]
            node = child[node] + (1 if above else 0)
        out[row] += value[node]
