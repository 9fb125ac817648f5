"""Level by level growth of one tree over columns that were binned once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import PLACES, pack
from costboost.ensembles.trees import Branches
from costboost.kernels.tree import count_node, find_split, mark_rows, order_categories, part_rows, sum_node
from costboost.learners.columns import BinnedColumns

__all__ = ["GrownTree", "Limits", "WeighedRows", "grow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Numbers that a bin may have.
_MOST_CODES = 256


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
class WeighedRows:
    """Training rows, and what they weigh.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64, >= 0, not all 0
    scale : float
        A weight w counts as the integer rint(w · scale); their sum is at most 2^61.
    classes : ndarray of shape (n,), uint16
        Class of each row, in [0, n_classes).
    n_classes : int
    sums : ndarray of shape (bins, n_classes), int64, optional
        Integer weight of each class in each bin of each column, if it is known already.
    """

    weights: Floats
    scale: float
    classes: NDArray[np.uint16]
    n_classes: int
    sums: Ints | None = None


@dataclass(frozen=True)
class GrownTree:
    """A tree of at most 256 leaves, the integer weight of each class in each node, and the leaf of each row.

    Parameters
    ----------
    branches : Branches
        Of one tree.
    masses : ndarray of shape (N, K), int64
    leaves : ndarray of shape (n,), uint8
        Number among the leaves, in the order of the nodes.
    """

    branches: Branches
    masses: Ints
    leaves: NDArray[np.uint8]

    def by_leaf(self, values: NDArray[Any]) -> NDArray[Any]:
        """Those of values by node, (N, ...), that are of leaves."""
        return values[self.branches.feature < 0]


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
    """A node that may still be split: its class weights, and its rows and sums while they are its own.

    Rows and sums are None where it is too deep to be split, and once they are those of its children.
    """

    masses: Ints
    rows: NDArray[np.uint32] | None = None
    sums: Ints | None = None
    split: _Split | None = None


class _Growth:
    """The growth of one tree: what all of its nodes read."""

    def __init__(self, columns: BinnedColumns, weighed: WeighedRows, limits: Limits) -> None:
        self.columns, self.weighed, self.limits = columns, weighed, limits
        self.n_classes = weighed.n_classes
        self.counted = limits.min_rows > 1

    def root(self) -> _Node:
        rows, sums = np.arange(self.weighed.weights.size, dtype=np.uint32), self.weighed.sums
        sums = self.sums_of(rows) if sums is None else self._counted(rows, sums)
        masses = sums[: self.columns.starts[1], : self.n_classes].sum(axis=0)
        self.whole = int(masses.sum())
        self.slack = float(max(int(1e-12 * self.whole), rows.size))
        return _Node(masses, rows, sums)

    def sums_of(self, rows: NDArray[np.uint32]) -> Ints:
        columns, weighed = self.columns, self.weighed
        sums = np.empty((int(columns.starts[-1]), self.n_classes), dtype=np.int64)
        sum_node(columns.codes, columns.starts, rows, weighed.weights, weighed.scale, weighed.classes, sums)
        return self._counted(rows, sums)

    def _counted(self, rows: NDArray[np.uint32], sums: Ints) -> Ints:
        """Add a column of numbers of rows, if they matter."""
        if not self.counted:
            return np.ascontiguousarray(sums)
        sums = np.column_stack([sums, np.zeros(len(sums), dtype=np.int64)])
        weights, scale = self.weighed.weights, self.weighed.scale
        count_node(self.columns.codes, self.columns.starts, rows, weights, scale, sums)
        return sums

    def split(self, node: _Node, depth: int) -> list[_Node]:
        """Split a node where that pays; return its children, none if it stays a leaf."""
        if node.rows is None or node.sums is None or np.count_nonzero(node.masses) < 2:
            return []
        node.split = split = self._found(node.sums)
        if split is None:
            return []
        masses = self._bins(node.sums, split.column)[~split.above].sum(axis=0)
        below, above = _Node(masses), _Node(node.masses - masses)
        if depth < self.limits.max_depth:
            count = part_rows(self.columns.codes[split.column], split.above, node.rows)
            below.rows, above.rows, node.rows = node.rows[:count], node.rows[count:], None
            below.sums, above.sums = self._sums_of_children(node.sums, below.rows, above.rows)
        node.sums = None  # the largest part of the memory, no longer needed
        return [below, above]

    def leaves(self, nodes: list[_Node]) -> NDArray[np.uint8]:
        """(n,): the number of each row's leaf among all."""
        leaves, codes = np.empty(self.weighed.weights.size, dtype=np.uint8), self.columns.codes
        numbers = np.cumsum([node.split is None for node in nodes]) - 1
        children = iter(range(1, len(nodes)))  # of the nodes that are split, in their order
        for node, number in zip(nodes, numbers, strict=True):
            column, by_bin = 0, np.full(_MOST_CODES, number)
            if node.split is not None:
                column, below, above = node.split.column, next(children), next(children)
                by_bin = np.where(node.split.above, numbers[above], numbers[below])
            if node.rows is not None:
                mark_rows(codes[column], by_bin.astype(np.uint8), node.rows, leaves)
        return leaves

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


def grow(columns: BinnedColumns, weighed: WeighedRows, limits: Limits) -> GrownTree:
    """Grow a tree under these weights; columns have at most 255 bins."""
    growth = _Growth(columns, weighed, limits)
    nodes = level = [growth.root()]
    for depth in range(1, limits.max_depth + 1):
        level = [child for node in level for child in growth.split(node, depth)]
        nodes = nodes + level
    masses = np.array([node.masses for node in nodes])
    return GrownTree(_branches(columns, nodes), masses, growth.leaves(nodes))


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
