"""Level by level growth of one tree over columns that were binned once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import PLACES, pack
from costboost.ensembles.trees import Branches
from costboost.kernels.tree import count_node, find_split, mark_rows, order_categories, part_rows, sum_node
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
    added : float
        Share of the whole weight that is added to each category before the categories are put in order.
    """

    max_depth: int
    min_rows: int
    min_share: float
    added: float = 0.0


@dataclass(frozen=True)
class GrownTree:
    """A tree, the integer weight of each class in each node, and the leaf of each training row.

    Parameters
    ----------
    branches : Branches
        Of one tree.
    masses : ndarray of shape (N, K), int64
    leaves : ndarray of shape (n,), uint16
    """

    branches: Branches
    masses: Ints
    leaves: NDArray[np.uint16]


@dataclass(frozen=True)
class _Split:
    """A cut, and which bins of its column lie above it, the one of missing values last.

    `subset` holds the places of values that go above, for a column of categories.
    """

    column: int
    cut: float
    above: NDArray[np.bool_]
    subset: NDArray[np.bool_] | None = None

    @property
    def missing_above(self) -> bool:
        return bool(self.above[-1])


@dataclass
class _Node:
    """A node that may still be split: its rows, its sums (None where it is too deep), its class weights."""

    rows: NDArray[np.uint32]
    sums: Ints | None
    masses: Ints
    split: _Split | None = None


class _Growth:
    """The growth of one tree: what all of its nodes read."""

    def __init__(
        self,
        columns: BinnedColumns,
        masses: Ints,
        classes: NDArray[np.uint16],
        n_classes: int,
        limits: Limits,
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
        node.split = split = self._found(node.sums)
        if split is None:
            return []
        count = part_rows(self.columns.codes[split.column], split.above, node.rows)
        below, above = node.rows[:count], node.rows[count:]
        sums_below, sums_above = (
            (None, None)
            if depth == self.limits.max_depth
            else self._sums_of_children(node.sums, below, above)
        )
        masses = self._bins(node.sums, split.column)[~split.above].sum(axis=0)
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

    def _bins(self, sums: Ints, column: int) -> Ints:
        """Weight of each class in each bin of a column."""
        first, last = self.columns.starts[column : column + 2]
        bins: Ints = sums[first:last, : self.n_classes]
        return bins

    def _found(self, sums: Ints) -> _Split | None:
        limits, columns = self.limits, self.columns
        least, added = limits.min_share * self.whole, limits.added * self.whole
        column, index, missing_above = find_split(
            columns.starts,
            sums,
            columns.categorical,
            self.n_classes,
            least,
            limits.min_rows,
            added,
            self.slack,
        )
        if column < 0:
            return None
        if column in columns.categories:
            bins = np.ascontiguousarray(self._bins(sums, column))
            order, _ = order_categories(bins, self.n_classes, added, self.slack)
            return _split_by_subset(column, order[index + 1 :], missing_above, bins.sum(axis=1))
        above = np.arange(len(columns.cuts[column]) + 2) > index
        above[-1] = missing_above
        return _Split(column, columns.cut(column, index), above)


def grow(
    columns: BinnedColumns, masses: Ints, classes: NDArray[np.uint16], n_classes: int, limits: Limits
) -> GrownTree:
    """Grow a tree under these weights.

    Parameters
    ----------
    columns : BinnedColumns
        Of at most 255 bins.
    masses : ndarray of shape (n,), int64, >= 0, not all 0
        Integer weights, of a sum of at most 2^61.
    classes : ndarray of shape (n,), uint16
        Class of each row, in [0, n_classes).
    n_classes : int
    limits : Limits
    """
    growth = _Growth(columns, masses, classes, n_classes, limits)
    nodes = level = [growth.root()]
    for depth in range(1, limits.max_depth + 1):
        level = [child for node in level for child in growth.split(node, depth)]
        nodes = nodes + level
    leaves = np.empty(masses.size, dtype=np.uint16)
    for number, node in enumerate(nodes):
        if node.split is None:
            mark_rows(node.rows, number, leaves)
    return GrownTree(_branches(columns, nodes), np.array([node.masses for node in nodes]), leaves)


def _branches(columns: BinnedColumns, nodes: list[_Node]) -> Branches:
    leaf = _Split(-1, 0.0, np.zeros(1, dtype=np.bool_))
    splits = [node.split or leaf for node in nodes]
    subsets = [split.subset for split in splits if split.subset is not None]
    return Branches(
        nodes=np.array([len(nodes)], dtype=np.int32),
        feature=np.array([split.column for split in splits], dtype=np.int32),
        cut=np.array([split.cut for split in splits], dtype=np.float64),
        missing_above=np.array([split.missing_above for split in splits], dtype=np.int32),
        n_features=len(columns.cuts),
        subsets=pack(np.array(subsets, dtype=np.bool_).reshape(-1, PLACES)),
    )


def _split_by_subset(column: int, chosen: Ints, missing_above: bool, masses: Ints) -> _Split:
    """Send the chosen categories above, and those that the node has no weight of to the heavier side."""
    above = np.zeros(len(masses), dtype=np.bool_)
    above[chosen] = True
    heavier_above = bool(masses[:-1][above[:-1]].sum() > masses[:-1][~above[:-1]].sum())
    above[masses == 0] = heavier_above
    above[-1] = missing_above
    subset = np.full(PLACES, heavier_above)
    subset[: len(masses) - 1] = above[:-1]
    return _Split(column, np.nan, above, subset)
