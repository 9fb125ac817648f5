"""Scores of many rows by an ensemble of trees."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = ["add_leaves"]

#: Rows that go down a tree side by side: the steps of one do not wait for those of another.
_TILE = 128


@kernel
def add_leaves(
    rows: NDArray[np.float64],
    roots: NDArray[np.int64],
    depth: NDArray[np.int64],
    feature: NDArray[np.uint32],
    cut: NDArray[np.float64],
    missing_above: NDArray[np.bool_],
    child: NDArray[np.uint32],
    value: NDArray[np.float64],
    output: NDArray[np.uint32],
    totals: NDArray[np.float64],
) -> None:
    """Add the value of each row's leaf to one of its totals, tree by tree.

    A leaf is its own child below an infinite cut, so every row takes as many steps as its tree is deep, and
    no branch depends on the data.
    """
    nodes = np.empty(_TILE, np.uint32)
    for start in range(0, rows.shape[0], _TILE):
        size = min(_TILE, rows.shape[0] - start)
        for t in range(roots.size):
            nodes[:size] = roots[t]
            for _ in range(depth[t]):
                for i in range(size):
                    node = nodes[i]
                    own = rows[start + i, feature[node]]
                    above = (own > cut[node]) | (missing_above[node] & (own != own))  # noqa: PLR0124 - NaN
                    nodes[i] = child[node] + np.uint32(above)
            for i in range(size):
                totals[start + i, output[nodes[i]]] += value[nodes[i]]
