"""Small Newton steps on the logistic loss: trees that grow by the largest gain first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.ensembles.trees import Trees
from costboost.kernels.grove import add_answers, grow_by_gain
from costboost.mixture.table import Grown, Table

__all__ = ["Boosted"]

Floats = NDArray[np.float64]

#: Stiffness that each side of a cut keeps.
_LEAST = 1e-3


@dataclass(frozen=True)
class Boosted:
    """Gradient boosting (Friedman 2001) with Newton leaves, row and column sampling per tree.

    Parameters
    ----------
    step : float
        Factor of each tree.
    leaves, depth : int
        At most so many leaves, at most so deep.
    min_rows : float
    ridge : float
        Stiffness added to each leaf.
    rows, columns : float in (0, 1]
        Share of both that each tree sees.
    """

    step: float = 0.1
    leaves: int = 24
    depth: int = 8
    min_rows: float = 5.0
    ridge: float = 1.0
    rows: float = 0.8
    columns: float = 0.8

    def fit(
        self, table: Table, label: Floats, weights: Floats, rounds: int, rng: np.random.Generator
    ) -> Trees:
        """Fit trees whose sum is the log-odds of label 1."""
        d, n = table.bins.shape
        mean = float((label * weights).sum() / weights.sum())
        constant = float(libm.log_odds(min(max(mean, 1e-6), 1 - 1e-6)))
        score, grown = np.full(n, constant), []
        known = np.flatnonzero(weights > 0).astype(np.int32)
        everything = np.arange(n, dtype=np.int32)
        for _ in range(rounds):
            p = libm.sigmoid(score)
            g, h = weights * (label - p), weights * p * (1.0 - p)
            rows = known[rng.random(known.size) < self.rows] if self.rows < 1 else known.copy()
            some = rng.permutation(d)[: max(1, round(self.columns * d))]
            tree = self._tree(table, np.sort(some), rows, g, h)
            if len(tree.feature) > 1:
                grown.append(tree)
                add_answers(
                    table.bins, table.n_bins, tree.feature, tree.cut, tree.missing_above, tree.child,
                    tree.value, everything, score,
                )  # fmt: skip
        if not grown:
            grown = [Grown.room(1)]
        return table.trees(grown, constant)

    def _tree(
        self, table: Table, columns: NDArray[np.int64], rows: NDArray[np.int32], g: Floats, h: Floats
    ) -> Grown:
        min_rows = max(1.0, min(self.min_rows, rows.size / 20))
        nodes = Grown.room(2 * self.leaves)
        begin, end = np.zeros((2, 2 * self.leaves), dtype=np.int64)
        count = grow_by_gain(
            table.bins, table.n_bins, columns, rows, g, h, self.leaves, self.depth, min_rows, _LEAST,
            self.ridge, 0.0, nodes.feature, nodes.cut, nodes.missing_above, nodes.child, nodes.value,
            begin, end,
        )  # fmt: skip
        return nodes.by_level(count, self.step)
