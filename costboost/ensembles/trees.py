"""Trees as flat arrays, and the additive score of an ensemble of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost import kernels
from costboost.ensembles.checks import check_finite, check_indices, check_lengths
from costboost.ensembles.subsets import WORDS, place, places, unpack

__all__ = ["Branches", "Trees"]

#: Deeper trees are refused; ours have at most 8 levels.
_MAX_DEPTH = 32

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Branches:
    """The nodes of one or more trees, each tree from its root level by level.

    No pointer is stored: the j-th inner node of a tree (from 0) has the tree's nodes 1 + 2j and 2 + 2j as
    children, below and above its cut. So every node is reached, once, and no cycle can be written.
    A node whose cut is NaN asks for a category instead: the codes of its subset go above.

    Parameters
    ----------
    nodes : ndarray of shape (T,), int32
        Number of nodes of each tree.
    feature : ndarray of shape (N,), int32
        Column of each node's cut, in [0, n_features); -1 for a leaf.
    cut : ndarray of shape (N,), float64
        A row goes above iff its value is greater; -inf sends every present value above; NaN: iff its code is
        in the subset of the node. 0 for a leaf.
    missing_above : ndarray of shape (N,), int32
        1 if a missing value goes above, else 0.
    n_features : int
        Columns a row must have.
    subsets : ndarray of shape (8 · S,), int32, optional
        The subsets of the S nodes whose cut is NaN, in their order, as `ensembles.subsets` packs them.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, a cut is infinite, a tree is deeper than 32 levels, or the
        nodes are no trees.
    """

    nodes: Ints
    feature: Ints
    cut: Floats
    missing_above: Ints
    n_features: int
    subsets: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int32), kw_only=True)

    def __post_init__(self) -> None:
        check_lengths(len(self.nodes), nodes=self.nodes)
        length = int(self.nodes.sum(dtype=np.int64))
        check_lengths(length, feature=self.feature, cut=self.cut, missing_above=self.missing_above)
        check_indices(1, length + 1, nodes=self.nodes)
        check_indices(-1, self.n_features, feature=self.feature)
        check_indices(0, 2, missing_above=self.missing_above)
        by_subset = np.isnan(self.cut)
        if not (by_subset | (self.cut < np.inf)).all():
            raise ValueError("the cuts must be below infinity")
        if (by_subset & (self.feature < 0)).any():
            raise ValueError("a leaf has no subset")
        check_lengths(WORDS * int(by_subset.sum()), subsets=self.subsets)
        self._check_children()

    @property
    def n_trees(self) -> int:
        """Number of trees T."""
        return len(self.nodes)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """(T,): first node of each tree."""
        return np.cumsum(self.nodes, dtype=np.int64) - self.nodes

    @cached_property
    def child(self) -> NDArray[np.int64]:
        """(N,): the child below of each inner node, followed by the one above; the node itself for a leaf."""
        inner = self.feature >= 0
        before: NDArray[np.int64] = np.cumsum(inner) - inner
        first = np.repeat(self.roots, self.nodes)
        rank: NDArray[np.int64] = before - before[first]
        return np.where(inner, first + 1 + 2 * rank, np.arange(len(inner)))

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """(T,): levels below the root of each tree; counted up to one more than is allowed."""
        depth = np.zeros(self.n_trees, dtype=np.int64)
        tree, reached = np.arange(self.n_trees), self.roots
        for level in range(1, _MAX_DEPTH + 2):
            inner = self.feature[reached] >= 0
            tree, reached = tree[inner], self.child[reached[inner]]
            if not reached.size:
                break
            depth[tree] = level
            tree, reached = np.concatenate([tree, tree]), np.concatenate([reached, reached + 1])
        return depth

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """(S, 256): the places of values that go above, of each node whose cut is NaN."""
        return unpack(self.subsets)

    def above(self, X: Floats) -> NDArray[np.bool_]:
        """(n, N): whether each row of X, of shape (n, n_features), would go above at each node."""
        values = X[:, np.maximum(self.feature, 0)]
        above: NDArray[np.bool_] = values > self.cut
        for node, members in zip(np.flatnonzero(np.isnan(self.cut)).tolist(), self.members, strict=True):
            above[:, node] = members[places(values[:, node])]
        return np.where(np.isnan(values), self.missing_above > 0, above)

    def leaves(self, X: Floats) -> Iterator[NDArray[np.int64]]:
        """For each tree the node in which each row of X, of shape (n, n_features), ends."""
        columns = np.ascontiguousarray(X.T)
        for root in self.roots.tolist():
            yield np.broadcast_to(np.asarray(self._leaf(root, columns)), (X.shape[0],))

    def leaves_of_row(self, row: Sequence[float]) -> Iterator[int]:
        """For each tree the node in which a row of Python floats ends."""
        nodes = self._rows
        for node in self.roots.tolist():
            feature, cut, missing_above, child, members = nodes[node]
            while feature >= 0:
                value = row[feature]
                if members is None:
                    # A missing value is neither greater nor not.
                    node = child + (not value <= cut if missing_above else value > cut)  # noqa: PLW2901
                else:
                    node = child + (members[place(value)] if value == value else missing_above)  # noqa: PLW2901, PLR0124
                feature, cut, missing_above, child, members = nodes[node]
            yield node

    def _leaf(self, node: int, columns: Floats) -> int | NDArray[np.int64]:
        feature, cut, missing_above, child, members = self._rows[node]
        if feature < 0:
            return node
        values = columns[feature]
        if members is None:
            above = ~(values <= cut) if missing_above else values > cut
        else:
            inside = np.frombuffer(members, dtype=np.bool_)[places(values)]
            above = np.where(np.isnan(values), missing_above, inside)
        return np.where(above, self._leaf(child + 1, columns), self._leaf(child, columns))

    @cached_property
    def _rows(self) -> list[tuple[int, float, bool, int, bytes | None]]:
        columns = (self.feature, self.cut, self.missing_above.astype(bool), self.child)
        subset = iter(self.members)
        members = [next(subset).tobytes() if by_subset else None for by_subset in np.isnan(self.cut).tolist()]
        return list(zip(*(column.tolist() for column in columns), members, strict=True))

    def _check_children(self) -> None:
        inner = self.feature >= 0
        ends = np.cumsum(self.nodes, dtype=np.int64)
        counted = np.concatenate(([0], np.cumsum(inner)))
        if (1 + 2 * (counted[ends] - counted[ends - self.nodes]) != self.nodes).any():
            raise ValueError("the nodes are no trees")
        if (self.child[inner] <= np.flatnonzero(inner)).any():
            raise ValueError("the nodes are no trees")
        if self.n_trees and int(self.depth.max()) > _MAX_DEPTH:
            raise ValueError(f"the trees must have at most {_MAX_DEPTH} levels")


@dataclass(frozen=True, eq=False)
class Trees(Branches):
    """An additive score: each tree adds the value of the leaf in which a row ends to one of the scores.

    ``F_k(x) = constant[k] + Σ_t value[leaf_t(x)]`` over the trees t with ``output[leaf_t(x)] = k``, in their
    order, whatever the batch.

    Parameters
    ----------
    nodes, feature, cut, missing_above, n_features, subsets
        As in `Branches`.
    value : ndarray of shape (N,), float64
        What a leaf adds; 0 for other nodes.
    output : ndarray of shape (N,), int32
        Index of the score a leaf adds to, in [0, n_outputs); 0 for other nodes.
    constant : ndarray of shape (K',), float64
        Start of each sum; K' is 1 for two classes and K for more.

    Raises
    ------
    ValueError
        As `Branches`, or if a value is not finite or beyond 1e100.

    Examples
    --------
    >>> ints, floats = (lambda *v: np.array(v, np.int32)), (lambda *v: np.array(v, np.float64))
    >>> trees = Trees(ints(3), ints(0, -1, -1), floats(0.5, 0, 0), ints(1, 0, 0), 1,
    ...               floats(0, -1, 2), ints(0, 0, 0), floats(0))
    >>> trees.score(np.array([[0.0], [1.0], [np.nan]]))[:, 0]
    array([-1.,  2.,  2.])
    """

    value: Floats
    output: Ints
    constant: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lengths(len(self.feature), value=self.value, output=self.output)
        check_lengths(self.constant.size, constant=self.constant)
        check_indices(0, self.n_outputs, output=self.output)
        check_finite(value=self.value, constant=self.constant)

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        return int(self.constant.shape[0])

    @property
    def scale(self) -> float:
        """Sum of the largest votes of the trees, what scores are divided by to be margins."""
        largest = np.zeros((self.n_trees, self.n_outputs))
        tree = np.repeat(np.arange(self.n_trees), self.nodes)
        np.maximum.at(largest, (tree, self.output), np.abs(self.value))
        return float(largest.sum(axis=0).max())

    def score(self, X: Floats) -> Floats:
        """Scores of rows.

        Parameters
        ----------
        X : ndarray of shape (n, n_features), float64 or float32
            NaN is a missing value.

        Returns
        -------
        ndarray of shape (n, K'), float64

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        if X.shape[0] == 1:
            return np.array([self.score_row(X[0].tolist())])
        totals = np.tile(self.constant, (X.shape[0], 1))
        if kernels.pay_for(X.shape[0]):
            self._add_compiled(X, totals)
        else:
            rows = np.arange(X.shape[0])
            for leaf in self.leaves(X):
                totals[rows, self.output[leaf]] += self.value[leaf]
        return totals

    def score_row(self, row: Sequence[float]) -> list[float]:
        """Scores of one row of Python floats; equal to the bit to `score`."""
        totals: list[float] = self.constant.tolist()
        for leaf in self.leaves_of_row(row):
            value, output = self._votes[leaf]
            totals[output] += value
        return totals

    def _add_compiled(self, X: Floats, totals: Floats) -> None:
        from costboost.kernels.forest import add_leaves  # noqa: PLC0415 - loads the compiler
        from costboost.kernels.tiles import as_laid_out  # noqa: PLC0415

        arrays: tuple[Any, ...] = (*as_laid_out(X), *self._steps, totals)
        add_leaves(*arrays)

    @cached_property
    def _steps(self) -> Any:
        """The trees as the compiled walk takes them."""
        leaf = self.feature < 0
        feature, cut = np.where(leaf, 0, self.feature), np.where(leaf, np.inf, self.cut)
        unsigned = (feature.astype(np.uint32), cut, self.missing_above == 1, self.child.astype(np.uint32))
        by_subset = np.isnan(self.cut)
        subset = np.where(by_subset, np.cumsum(by_subset) - 1, -1)
        votes = (self.value, self.output.astype(np.uint32))
        return (self.roots, self.depth, *unsigned, subset, self.members, *votes)

    @cached_property
    def _votes(self) -> list[tuple[float, int]]:
        return list(zip(self.value.tolist(), self.output.tolist(), strict=True))
