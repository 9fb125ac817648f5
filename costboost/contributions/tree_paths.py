"""Exact Shapley values of tree ensembles, where a coalition of columns decides its own cuts.

At the cuts of all other columns both sides are followed, weighted by the share of training rows that went
there: the path-dependent game of Lundberg, Erion, Lee (2018), Consistent individualized feature attribution
for tree ensembles, with the columns of the table as players. The leaf at the end of a path is worth
``v · Π_{s in S} z_s · Π_{s not in S} r_s`` to a coalition S, with z_s = 1 iff the row passes all cuts of
column s on the path and r_s the share of training rows that do. Its Shapley value is the integral of the
gradient of this product's multilinear extension along the diagonal (Owen 1972, Management Science 18:64-79),

    φ_s = v (z_s - r_s) ∫_0^1 Π_{j ≠ s} (r_j + t (z_j - r_j)) dt,

a polynomial in t, which Gauss-Legendre nodes integrate exactly.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costboost.contributions.columns import SourceColumns
from costboost.ensembles.trees import Trees

__all__ = ["TreeContributions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Cells (row, leaf, column of its path) computed at a time.
_BLOCK = 2**19


@dataclass(frozen=True, eq=False)
class TreeContributions:
    """Shapley values of the source columns in a stored tree ensemble.

    Parameters
    ----------
    trees : Trees
    sources : SourceColumns
    share : ndarray of shape (N,), float64
        Share of the training weight that passed each node, from `background`.
    """

    trees: Trees
    sources: SourceColumns
    share: Floats
    method = "tree_shapley"

    @property
    def baseline(self) -> Floats:
        """(K',): mean score of the training rows."""
        leaves = self._paths.leaves
        parts = np.bincount(
            self.trees.output[leaves],
            weights=self.trees.value[leaves] * self.share[leaves],
            minlength=self.trees.n_outputs,
        )
        baseline: Floats = self.trees.constant + parts
        return baseline

    def contributions(self, X: Floats) -> Floats:
        """(n, S, K') for encoded rows (n, d)."""
        paths, outputs = self._paths, self.trees.n_outputs
        out = np.zeros((X.shape[0], self.sources.count * outputs))
        block = max(1, _BLOCK // max(paths.player.size, 1))
        for start in range(0, X.shape[0], block):
            rows = X[start : start + block]
            shares = paths.values_of(self._passed(rows))
            # One addition after the other for each row, in the order of the leaves.
            place = np.arange(len(rows))[:, None] * out.shape[1] + self._targets
            sums = np.bincount(place.ravel(), weights=shares.ravel(), minlength=out[: len(rows)].size)
            out[start : start + block] = sums.reshape(len(rows), -1)
        return out.reshape(X.shape[0], self.sources.count, outputs)

    def _passed(self, X: Floats) -> NDArray[np.bool_]:
        """(n, N + 1): whether each row goes above at each node; nothing is asked at the last one."""
        return np.column_stack([self.trees.above(X), np.ones(len(X), dtype=np.bool_)])

    @cached_property
    def _paths(self) -> "_Paths":
        return _Paths.of(self.trees, self.sources, self.share)

    @cached_property
    def _targets(self) -> Ints:
        """(L · M,): cell of (source, output) that each player of each leaf adds to."""
        paths = self._paths
        output = self.trees.output[paths.leaves].astype(np.intp)
        return (paths.player * self.trees.n_outputs + output[:, None]).ravel()

    @staticmethod
    def background(trees: Trees, X: Floats, weight: Floats) -> Floats:
        """(N,): share of the weight of the training rows X that passed each node."""
        mass = np.zeros(len(trees.feature))
        for leaves in trees.leaves(X):
            mass += np.bincount(leaves, weights=weight, minlength=len(mass))
        # Children come after their parents.
        for node in np.flatnonzero(trees.feature >= 0)[::-1].tolist():
            child = trees.child[node]
            mass[node] = mass[child] + mass[child + 1]
        share: Floats = mass / weight.sum()
        return share


@dataclass(frozen=True, eq=False)
class _Paths:
    """The paths to all leaves as arrays: L leaves, at most H cuts each, of at most M columns.

    Attributes
    ----------
    leaves : (L,) node of each leaf
    node, above : (L, H) the cuts of a path and the side it takes; filled up with one that every row passes
    slot : (L, H) which player of the leaf owns a cut
    player, reach : (L, M) source of each player, and its r; filled up with players that everyone passes
    value : (L,) what the leaf adds
    """

    leaves: Ints
    node: Ints
    above: NDArray[np.bool_]
    slot: Ints
    player: Ints
    reach: Floats
    value: Floats

    @classmethod
    def of(cls, trees: Trees, sources: SourceColumns, share: Floats) -> "_Paths":
        routes = _routes(trees)
        leaves = np.array(list(routes), dtype=np.intp)
        height = max((len(route) for route in routes.values()), default=0) or 1
        node = np.full((len(leaves), height), len(trees.feature), dtype=np.intp)
        above, slot = np.ones(node.shape, dtype=np.bool_), np.zeros(node.shape, dtype=np.intp)
        player, reach = np.zeros(node.shape, dtype=np.intp), np.ones(node.shape)
        for number, route in enumerate(routes.values()):
            owners: dict[int, int] = {}
            for level, (parent, side) in enumerate(route):
                source = int(sources.of[trees.feature[parent]])
                own = owners.setdefault(source, len(owners))
                node[number, level], above[number, level], slot[number, level] = parent, side, own
                player[number, own] = source
                reach[number, own] *= _share_of_side(trees, share, parent, side)
        width = int(slot.max(initial=0)) + 1
        value = trees.value[leaves]
        return cls(leaves, node, above, slot, player[:, :width], reach[:, :width], value)

    def values_of(self, passed: NDArray[np.bool_]) -> Floats:
        """(n, L · M): Shapley value of each player of each leaf for rows that passed nodes so."""
        keeps = np.ones((len(passed), *self.player.shape), dtype=np.bool_)
        numbers = np.arange(len(self.leaves))
        for level in range(self.node.shape[1]):
            keeps[:, numbers, self.slot[:, level]] &= passed[:, self.node[:, level]] == self.above[:, level]
        rise = keeps - self.reach
        total = np.zeros(rise.shape)
        for point, weight in zip(*self._quadrature, strict=True):
            total += weight * _products_of_others(self.reach + point * rise)
        worth: Floats = (self.value[:, None] * rise * total).reshape(len(passed), -1)
        return worth

    @cached_property
    def _quadrature(self) -> tuple[Floats, Floats]:
        """Nodes and weights on [0, 1] that are exact for polynomials of the degree M - 1."""
        points, weights = np.polynomial.legendre.leggauss((self.player.shape[1] + 1) // 2)
        return (points + 1.0) / 2.0, weights / 2.0


def _routes(trees: Trees) -> dict[int, tuple[tuple[int, bool], ...]]:
    """For each leaf, in the order of the nodes, the inner nodes above it and the side taken at each."""
    routes: dict[int, tuple[tuple[int, bool], ...]] = dict.fromkeys(trees.roots.tolist(), ())
    for node in np.flatnonzero(trees.feature >= 0).tolist():
        route, child = routes.pop(node), int(trees.child[node])
        routes[child] = (*route, (node, False))
        routes[child + 1] = (*route, (node, True))
    return dict(sorted(routes.items()))


def _share_of_side(trees: Trees, share: Floats, parent: int, above: bool) -> float:
    """Share of a node's training rows that took a side; half where none passed the node."""
    mass = float(share[parent])
    return float(share[trees.child[parent] + above]) / mass if mass > 0 else 0.5


def _products_of_others(factors: Floats) -> Floats:
    """For each entry of the last axis the product of all others."""
    products = np.ones(factors.shape)
    for j in range(factors.shape[2]):
        for other in range(factors.shape[2]):
            if other != j:
                products[:, :, j] *= factors[:, :, other]
    return products
