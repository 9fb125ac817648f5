"""Level by level growth of one tree over columns that were binned once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import PLACES, pack
from costboost.ensembles.trees import Branches
from costboost.kernels.tree import count_node, find_split, mark_rows, order_categories, part_rows, sum_node
from costboost.learners.columns import BinnedColumns

__all__ = ["Cut", "GrownTree", "Limits", "Mark", "NodeRows", "RowsOfNodes", "WeighedRows", "grow"]

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


@dataclass(frozen=True)
class Cut:
    """The rows of a node are parted: by their bins of a column, into two nodes that follow one another.

    Nodes are numbered as they are in `Branches`. `above` tells of each bin whether it lies above.
    """

    node: int
    column: int
    above: NDArray[np.bool_]
    below: int


@dataclass(frozen=True)
class Mark:
    """The rows of a node end in leaves: which, tells their bin of a column."""

    node: int
    column: int
    leaves: NDArray[np.uint8]


class RowsOfNodes(Protocol):
    """Training rows, each in a node of the tree that grows, in one place or in many."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def root(self) -> Ints:
        """Put all rows into node 0; return the integer weight of each class in each bin of each column."""
        ...

    def part(self, cuts: Sequence[Cut]) -> list[tuple[Ints, Ints]]:
        """Part the rows of nodes; return the sums below and above each cut."""
        ...

    def leaves(self, marks: Sequence[Mark]) -> NDArray[np.uint8]:
        """(n,): the number of each row's leaf."""
        ...


class NodeRows:
    """Rows of nodes, here.

    Parameters
    ----------
    columns : BinnedColumns
    weighed : WeighedRows
    limits : Limits
        Rows are counted in a last column of sums if their number matters.
    """

    def __init__(self, columns: BinnedColumns, weighed: WeighedRows, limits: Limits) -> None:
        self.columns, self.weighed, self.counted = columns, weighed, limits.min_rows > 1
        self.rows: dict[int, NDArray[np.uint32]] = {}
        self.sums: dict[int, Ints] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.weighed.weights.size

    def root(self) -> Ints:
        """Put all rows into node 0; return the integer weight of each class in each bin of each column."""
        rows, sums = np.arange(self.n_rows, dtype=np.uint32), self.weighed.sums
        sums = self._sums_of(rows) if sums is None else self._counted(rows, sums)
        self.rows, self.sums = {0: rows}, {0: sums}
        return sums

    def part(self, cuts: Sequence[Cut]) -> list[tuple[Ints, Ints]]:
        """Part the rows of nodes; return the sums below and above each cut."""
        return [self._part(cut) for cut in cuts]

    def leaves(self, marks: Sequence[Mark]) -> NDArray[np.uint8]:
        """(n,): the number of each row's leaf."""
        leaves = np.empty(self.n_rows, dtype=np.uint8)
        for mark in marks:
            mark_rows(self.columns.codes[mark.column], mark.leaves, self.rows[mark.node], leaves)
        return leaves

    def _part(self, cut: Cut) -> tuple[Ints, Ints]:
        rows, whole = self.rows.pop(cut.node), self.sums.pop(cut.node)
        count, below_first = part_rows(self.columns.codes[cut.column], cut.above, rows)
        more, fewer = rows[:count], rows[count:]
        # The child with fewer rows is added up; the other one is the rest.
        sums_of_fewer = self._sums_of(fewer)
        both = [(more, whole - sums_of_fewer), (fewer, sums_of_fewer)]
        (below, sums_below), (above, sums_above) = both if below_first else both[::-1]
        self.rows |= {cut.below: below, cut.below + 1: above}
        self.sums |= {cut.below: sums_below, cut.below + 1: sums_above}
        return sums_below, sums_above

    def _sums_of(self, rows: NDArray[np.uint32]) -> Ints:
        columns, weighed = self.columns, self.weighed
        sums = np.empty((int(columns.starts[-1]), weighed.n_classes), dtype=np.int64)
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


@dataclass
class _Node:
    """A node that may still be split: its class weights, and its sums while they are its own.

    Sums are None where it is too deep to be split, and once they are those of its children.
    """

    number: int
    masses: Ints
    sums: Ints | None = None
    split: _Split | None = None
    has_rows: bool = False


class _Growth:
    """The growth of one tree: what all of its nodes read."""

    def __init__(self, columns: BinnedColumns, rows: RowsOfNodes, limits: Limits) -> None:
        self.columns, self.rows, self.limits = columns, rows, limits

    def root(self) -> _Node:
        sums = self.rows.root()
        self.n_classes = sums.shape[1] - (self.limits.min_rows > 1)
        masses = sums[: self.columns.starts[1], : self.n_classes].sum(axis=0)
        self.whole = int(masses.sum())
        self.slack = float(max(int(1e-12 * self.whole), self.rows.n_rows))
        return _Node(0, masses, sums, has_rows=True)

    def split(self, level: list[_Node], n_nodes: int, *, deepest: bool) -> list[_Node]:
        """Split the nodes of a level where that pays; return the next level."""
        children: list[_Node] = []
        cuts: list[Cut] = []
        for node in level:
            if node.sums is None or np.count_nonzero(node.masses) < 2:
                continue
            node.split = split = self._found(node.sums)
            if split is not None:
                masses = self._bins(node.sums, split.column)[~split.above].sum(axis=0)
                below = n_nodes + len(children)
                children += [_Node(below, masses), _Node(below + 1, node.masses - masses)]
                cuts.append(Cut(node.number, split.column, split.above, below))
                node.sums = None  # the largest part of the memory, no longer needed
        if not deepest:
            self._hand_rows_down(level, children, cuts)
        return children

    def _hand_rows_down(self, level: list[_Node], children: list[_Node], cuts: list[Cut]) -> None:
        for node in level:
            node.has_rows = node.has_rows and node.split is None
        parted = [sums for both in self.rows.part(cuts) for sums in both] if cuts else []
        for child, sums in zip(children, parted, strict=True):
            child.sums, child.has_rows = sums, True

    def marks(self, nodes: list[_Node]) -> list[Mark]:
        """Say where the rows of each node end that has some: leaves are numbered in the order of nodes."""
        numbers = np.cumsum([node.split is None for node in nodes]) - 1
        children = iter(range(1, len(nodes)))  # of the nodes that are split, in their order
        marks = []
        for node in nodes:
            column, by_bin = 0, np.full(_MOST_CODES, numbers[node.number])
            if node.split is not None:
                column, below, above = node.split.column, next(children), next(children)
                by_bin = np.where(node.split.above, numbers[above], numbers[below])
            if node.has_rows:
                marks.append(Mark(node.number, column, by_bin.astype(np.uint8)))
        return marks

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


def grow(columns: BinnedColumns, rows: RowsOfNodes, limits: Limits) -> GrownTree:
    """Grow a tree; columns, whose bins of rows are not looked at, have at most 255 bins."""
    growth = _Growth(columns, rows, limits)
    nodes = level = [growth.root()]
    for depth in range(1, limits.max_depth + 1):
        level = growth.split(level, len(nodes), deepest=depth == limits.max_depth)
        nodes = nodes + level
    masses = np.array([node.masses for node in nodes])
    return GrownTree(_branches(columns, nodes), masses, rows.leaves(growth.marks(nodes)))


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
