"""Scores of many rows by an ensemble of trees."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.tiles import take_tile

__all__ = ["add_leaves"]

Columns = NDArray[np.float64]
Cuts = NDArray[np.float64]
Nodes = NDArray[np.uint32]
Truths = NDArray[np.bool_]

#: Rows that go down a tree side by side: the steps of one do not wait for those of another.
_TILE = 256


@kernel
def _enter(
    columns: Columns, nodes: Nodes, root: Any, feature: Nodes, cut: Cuts, missing_above: Truths, child: Nodes
) -> None:
    """Take each row two levels down from the root: the three cuts are the same for all rows."""
    low = child[root]
    high = low if low == root else low + np.uint32(1)  # a leaf is its own child
    first, second, third = columns[feature[root]], columns[feature[low]], columns[feature[high]]
    cuts = cut[root], cut[low], cut[high]
    absent = missing_above[root], missing_above[low], missing_above[high]
    children = child[low], child[high]
    for i in range(nodes.size):
        a, b, c = first[i], second[i], third[i]
        side = (a > cuts[0]) | (absent[0] & (a != a))  # noqa: PLR0124 - NaN
        below = children[0] + np.uint32((b > cuts[1]) | (absent[1] & (b != b)))  # noqa: PLR0124
        above = children[1] + np.uint32((c > cuts[2]) | (absent[2] & (c != c)))  # noqa: PLR0124
        nodes[i] = above if side else below


@kernel
def _step(
    columns: Columns, nodes: Nodes, feature: Nodes, cut: Cuts, missing_above: Truths, child: Nodes
) -> None:
    """Take each row from its node to a child; a leaf is its own."""
    for i in range(nodes.size):
        node = nodes[i]
        own = columns[feature[node], i]
        above = (own > cut[node]) | (missing_above[node] & (own != own))  # noqa: PLR0124 - NaN
        nodes[i] = child[node] + np.uint32(above)


@kernel
def _step_by_subset(
    columns: Columns,
    nodes: Nodes,
    feature: Nodes,
    cut: Cuts,
    missing_above: Truths,
    child: Nodes,
    subset: NDArray[np.int64],
    members: Truths,
) -> None:
    """Do the same where nodes may ask for a category: a row goes above if its code is in their subset."""
    for i in range(nodes.size):
        node = nodes[i]
        own = columns[feature[node], i]
        if own != own:  # noqa: PLR0124 - NaN
            above = missing_above[node]
        elif subset[node] < 0:
            above = own > cut[node]
        else:
            last = members.shape[1] - 1
            above = members[subset[node], np.int64(own) if 0.0 <= own < last else last]
        nodes[i] = child[node] + np.uint32(above)


@kernel
def _add(totals: NDArray[np.float64], nodes: Nodes, value: NDArray[np.float64], output: Nodes) -> None:
    """Add what each row's leaf says; with one score there is no choice to wait for."""
    if totals.shape[1] == 1:
        only = totals[:, 0]
        for i in range(nodes.size):
            only[i] += value[nodes[i]]
    else:
        for i in range(nodes.size):
            totals[i, output[nodes[i]]] += value[nodes[i]]


@kernel
def add_leaves(
    rows: NDArray[Any],
    by_column: bool,
    roots: NDArray[np.int64],
    depth: NDArray[np.int64],
    feature: Nodes,
    cut: Cuts,
    missing_above: Truths,
    child: Nodes,
    subset: NDArray[np.int64],
    members: Truths,
    value: NDArray[np.float64],
    output: Nodes,
    totals: NDArray[np.float64],
) -> None:
    """Add the value of each row's leaf to one of its totals, tree by tree.

    `rows` is (n, d), or (d, n) if it lies in memory column by column. A leaf is its own child below an
    infinite cut, so every row takes as many steps as its tree is deep, and without categories no branch
    depends on the data.
    """
    n, d = (rows.shape[1], rows.shape[0]) if by_column else rows.shape
    columns, all_nodes = np.empty((d, _TILE)), np.empty(_TILE, np.uint32)
    for start in range(0, n, _TILE):
        size = min(_TILE, n - start)
        nodes, own = all_nodes[:size], totals[start : start + size]
        take_tile(rows, by_column, start, size, columns)
        for t in range(roots.size):
            if len(members):
                nodes[:] = roots[t]
                for _ in range(depth[t]):
                    _step_by_subset(columns, nodes, feature, cut, missing_above, child, subset, members)
            else:
                _enter(columns, nodes, np.uint32(roots[t]), feature, cut, missing_above, child)
                for _ in range(2, depth[t]):
                    _step(columns, nodes, feature, cut, missing_above, child)
            _add(own, nodes, value, output)
