"""Level by level growth of one tree over columns that were binned once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.trees import Branches
from costboost.kernels.fixed_point import quantize
from costboost.kernels.tree import count_node, find_split, part_rows, sum_node
from costboost.learners.columns import BinnedColumns

__all__ = ["GrownTree", "Limits", "grow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow.

    Parameters
    ----------
    max_depth : int
    min_rows : int
        Rows of positive weight that each side of a cut keeps.
    min_share : float
        Share of the whole weight that each side of a cut keeps.
    """

    max_depth: int
    min_rows: int
    min_share: float


@dataclass(frozen=True)
class GrownTree:
    """A tree, the integer weight of each class in each node, and the leaf of each training row.

    Parameters
    ----------
    branches : Branches
        Of one tree.
    masses : ndarray of shape (N, K), int64
    leaves : ndarray of shape (n,), int64
    """

    branches: Branches
    masses: Ints
    leaves: Ints


@dataclass
class _Node:
    """A node that may still be split: its rows, its sums (None where it is too deep), its class weights."""

    rows: NDArray[np.uint32]
    sums: Ints | None
    masses: Ints
    split: tuple[int, int, bool] = (-1, -1, False)


class _Growth:
    """The growth of one tree: what all of its nodes read."""

    def __init__(
        self, columns: BinnedColumns, masses: Ints, classes: NDArray[np.intp], n_classes: int, limits: Limits
    ) -> None:
        self.columns, self.masses, self.classes, self.limits = columns, masses, classes, limits
        self.n_classes = n_classes
        self.counted = limits.min_rows > 1
        self.whole = int(masses.sum())
        self.slack = float(max(int(1e-12 * self.whole), masses.size))

    def root(self) -> _Node:
        rows = np.arange(self.masses.size, dtype=np.uint32)
        sums = self.sums_of(rows)
        first = sums[: self.columns.starts[1], : self.n_classes]
        return _Node(rows, sums, first.sum(axis=0))

    def sums_of(self, rows: NDArray[np.uint32]) -> Ints:
        columns = self.columns
        sums = np.zeros((int(columns.starts[-1]), self.n_classes + self.counted), dtype=np.int64)
        sum_node(columns.codes, columns.starts, rows, self.masses, self.classes, sums)
        if self.counted:
            count_node(columns.codes, columns.starts, rows, self.masses, sums)
        return sums

    def split(self, node: _Node, depth: int) -> list[_Node]:
        """Split a node where that pays; return its children, none if it stays a leaf."""
        if node.sums is None or np.count_nonzero(node.masses) < 2:
            return []
        least = self.limits.min_share * self.whole
        node.split = find_split(
            self.columns.starts, node.sums, self.n_classes, least, self.limits.min_rows, self.slack
        )
        column, index, missing_above = node.split
        if column < 0:
            return []
        missing = len(self.columns.cuts[column]) + 1
        count = part_rows(self.columns.codes[column], index, missing, missing_above, node.rows)
        below, above = node.rows[:count], node.rows[count:]
        sums_below, sums_above = (
            (None, None)
            if depth == self.limits.max_depth
            else self._sums_of_children(node.sums, below, above)
        )
        masses = self._masses_below(node)
        node.sums = None  # the largest part of the memory, no longer needed
        return [_Node(below, sums_below, masses), _Node(above, sums_above, node.masses - masses)]

    def _sums_of_children(
        self, whole: Ints, below: NDArray[np.uint32], above: NDArray[np.uint32]
    ) -> tuple[Ints, Ints]:
        """Add up the child with fewer rows; the other one is the rest."""
        if below.size <= above.size:
            sums = self.sums_of(below)
            return sums, whole - sums
        sums = self.sums_of(above)
        return whole - sums, sums

    def _masses_below(self, node: _Node) -> Ints:
        assert node.sums is not None
        column, index, missing_above = node.split
        first, last = self.columns.starts[column : column + 2]
        bins = node.sums[first:last, : self.n_classes]
        masses: Ints = bins[: index + 1].sum(axis=0)
        return masses if missing_above else masses + bins[-1]


def grow(
    columns: BinnedColumns, weights: Floats, classes: NDArray[np.intp], n_classes: int, limits: Limits
) -> GrownTree:
    """Grow a tree under these weights.

    Parameters
    ----------
    columns : BinnedColumns
        Of at most 255 bins.
    weights : ndarray of shape (n,), float64, >= 0, not all 0
    classes : ndarray of shape (n,), intp
        Class of each row, in [0, n_classes).
    n_classes : int
    limits : Limits
    """
    growth = _Growth(columns, quantize(weights), classes, n_classes, limits)
    nodes = level = [growth.root()]
    for depth in range(1, limits.max_depth + 1):
        level = [child for node in level for child in growth.split(node, depth)]
        nodes = nodes + level
    leaves = np.empty(weights.size, dtype=np.int64)
    for number, node in enumerate(nodes):
        if node.split[0] < 0:
            leaves[node.rows] = number
    return GrownTree(_branches(columns, nodes), np.array([node.masses for node in nodes]), leaves)


def _branches(columns: BinnedColumns, nodes: list[_Node]) -> Branches:
    splits: list[Any] = [node.split for node in nodes]
    cuts = [columns.cut(column, index) if column >= 0 else 0.0 for column, index, _ in splits]
    return Branches(
        nodes=np.array([len(nodes)], dtype=np.int32),
        feature=np.array([column for column, _, _ in splits], dtype=np.int32),
        cut=np.array(cuts, dtype=np.float64),
        missing_above=np.array([above for _, _, above in splits], dtype=np.int32),
        n_features=len(columns.cuts),
    )
