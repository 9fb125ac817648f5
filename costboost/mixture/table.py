"""The columns all tree members share, as bins; and their trees as `Trees`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.subsets import PLACES, pack
from costboost.ensembles.trees import Trees
from costboost.learners.columns import BinnedColumns

__all__ = ["Grown", "Table"]

Floats = NDArray[np.float64]

#: Bins per column, the one of missing values not among them.
_MAX_BINS = 254
#: Rows of the mean label that are added to each category before categories are put in order.
_ADDED = 10.0


@dataclass(frozen=True, eq=False)
class Grown:
    """The nodes of one tree over bins, as the kernels write them (see `kernels.grove`)."""

    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    missing_above: NDArray[np.int32]
    child: NDArray[np.int32]
    value: Floats

    @classmethod
    def room(cls, nodes: int) -> "Grown":
        """Room for a tree; a leaf of its own."""
        cut, missing_above, child = np.zeros((3, nodes), dtype=np.int32)
        return cls(np.full(nodes, -1, dtype=np.int32), cut, missing_above, child, np.zeros(nodes))

    def first(self, count: int, scale: float) -> "Grown":
        """Copy the first nodes, which are there level by level, with scaled values."""
        return self._at(np.arange(count), scale)

    def by_level(self, count: int, scale: float) -> "Grown":
        """Copy the first nodes, level by level as `Branches` has them, with scaled values."""
        order, seen = [0], 0
        while seen < len(order):  # the j-th inner node gets the children 1 + 2j and 2 + 2j
            node = order[seen]
            if self.feature[node] >= 0:
                order += [int(self.child[node]), int(self.child[node]) + 1]
            seen += 1
        return self._at(np.array(order[:count]), scale)

    def _at(self, nodes: NDArray[np.int64], scale: float) -> "Grown":
        inner = self.feature[nodes] >= 0
        return Grown(
            feature=self.feature[nodes],
            cut=np.where(inner, self.cut[nodes], 0),
            # The kernel does not clear what an earlier tree left in the place of a leaf.
            missing_above=np.where(inner, self.missing_above[nodes], 0),
            child=np.where(inner, 2 * np.cumsum(inner) - 1, 0).astype(np.int32),
            value=scale * self.value[nodes],
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Binned columns; the bins of a column of categories are in the order of the mean label.

    Attributes
    ----------
    bins : ndarray of shape (d, n), uint8
        The number of bins of its column for a missing value.
    n_bins : ndarray of shape (d,), int64
    cuts : tuple of d ndarrays of float64
    ranks : dict of int to ndarray of int
        Bin of each code, of columns of categories.
    """

    bins: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    cuts: tuple[Floats, ...]
    ranks: dict[int, NDArray[np.int64]]

    @classmethod
    def of(cls, X: Floats, label: Floats, weights: Floats, categories: Collection[int]) -> "Table":
        """Bin the columns of X of shape (n, d); `label` of shape (n,) orders categories."""
        binned = BinnedColumns.of(X, weights, _MAX_BINS, categories)
        bins = binned.codes.copy()
        n_bins = np.array([len(cuts) + 1 for cuts in binned.cuts], dtype=np.int64)
        prior, ranks = float((label * weights).sum() / weights.sum()), {}
        for j in sorted(categories):
            heavy = np.bincount(bins[j], weights, n_bins[j] + 1)[:-1]
            means = (np.bincount(bins[j], weights * label, n_bins[j] + 1)[:-1] + _ADDED * prior) / (
                heavy + _ADDED
            )
            ranks[j] = np.argsort(np.argsort(means, kind="stable"), kind="stable")
            bins[j] = np.append(ranks[j], n_bins[j])[bins[j]]
        return cls(bins, n_bins, binned.cuts, ranks)

    def trees(self, grown: Sequence[Grown], constant: float) -> Trees:
        """Give the sum of trees as an ensemble of one score."""
        feature = np.concatenate([tree.feature for tree in grown])
        number = np.concatenate([tree.cut for tree in grown])
        # Cut -1 of a column is the one at -inf, before its others.
        flat = np.concatenate([np.append(-np.inf, cuts) for cuts in self.cuts])
        starts = np.cumsum([0, *(len(cuts) + 1 for cuts in self.cuts)])
        inner = np.flatnonzero(feature >= 0)
        cut = np.zeros(len(feature))
        cut[inner] = flat[starts[feature[inner]] + number[inner] + 1]
        by_subset = np.flatnonzero(np.isin(feature, list(self.ranks)))
        cut[by_subset] = np.nan
        asked = zip(feature[by_subset].tolist(), number[by_subset].tolist(), strict=True)
        subsets = [self._subset(self.ranks[column], index) for column, index in asked]
        return Trees(
            nodes=np.array([len(tree.feature) for tree in grown], dtype=np.int32),
            feature=feature,
            cut=cut,
            missing_above=np.concatenate([tree.missing_above for tree in grown]),
            n_features=len(self.n_bins),
            value=np.concatenate([tree.value for tree in grown]),
            output=np.zeros(len(feature), dtype=np.int32),
            constant=np.array([constant]),
            subsets=pack(np.array(subsets, dtype=np.bool_).reshape(-1, PLACES)),
        )

    @staticmethod
    def _subset(ranks: NDArray[np.int64], cut: int) -> NDArray[np.bool_]:
        """Places that go above; categories that training never saw go to the side of the middle rank."""
        subset = np.full(PLACES, (len(ranks) - 1) / 2 > cut)
        subset[: len(ranks)] = ranks > cut
        return subset
