"""Scores of many rows by an ensemble of trees."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = ["add_leaves"]

Rows = NDArray[np.float64]
Nodes = NDArray[np.uint32]

#: Rows that go down a tree side by side: the steps of one do not wait for those of another.
_TILE = 128


@kernel
def _step(
    rows: Rows,
    nodes: Nodes,
    feature: Nodes,
    cut: NDArray[np.float64],
    missing_above: NDArray[np.bool_],
    child: Nodes,
) -> None:
    """Take each row from its node to a child; a leaf is its own."""
    for i in range(nodes.size):
        node = nodes[i]
        own = rows[i, feature[node]]
        above = (own > cut[node]) | (missing_above[node] & (own != own))  # noqa: PLR0124 - NaN
        nodes[i] = child[node] + np.uint32(above)


@kernel
def _step_by_subset(
    rows: Rows,
    nodes: Nodes,
    feature: Nodes,
    cut: NDArray[np.float64],
    missing_above: NDArray[np.bool_],
    child: Nodes,
    subset: NDArray[np.int64],
    members: NDArray[np.bool_],
) -> None:
    """Do the same where nodes may ask for a category: a row goes above if its code is in their subset."""
    for i in range(nodes.size):
        node = nodes[i]
        own = rows[i, feature[node]]
        if own != own:  # noqa: PLR0124 - NaN
            above = missing_above[node]
        elif subset[node] < 0:
            above = own > cut[node]
        else:
            last = members.shape[1] - 1
            above = members[subset[node], np.int64(own) if 0.0 <= own < last else last]
        nodes[i] = child[node] + np.uint32(above)


@kernel
def add_leaves(
    rows: Rows,
    roots: NDArray[np.int64],
    depth: NDArray[np.int64],
    feature: Nodes,
    cut: NDArray[np.float64],
    missing_above: NDArray[np.bool_],
    child: Nodes,
    subset: NDArray[np.int64],
    members: NDArray[np.bool_],
    value: NDArray[np.float64],
    output: Nodes,
    totals: NDArray[np.float64],
) -> None:
    """Add the value of each row's leaf to one of its totals, tree by tree.

    A leaf is its own child below an infinite cut, so every row takes as many steps as its tree is deep, and
    without categories no branch depends on the data.
    """
    nodes = np.empty(_TILE, np.uint32)
    for start in range(0, rows.shape[0], _TILE):
        size = min(_TILE, rows.shape[0] - start)
        tile = rows[start : start + size]
        for t in range(roots.size):
            nodes[:size] = roots[t]
            for _ in range(depth[t]):
                if len(members):
                    _step_by_subset(tile, nodes[:size], feature, cut, missing_above, child, subset, members)
                else:
                    _step(tile, nodes[:size], feature, cut, missing_above, child)
            for i in range(size):
                totals[start + i, output[nodes[i]]] += value[nodes[i]]
