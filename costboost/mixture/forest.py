"""Forests: the mean of many trees that were grown by chance."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.trees import Trees
from costboost.kernels.grove import grow_by_chance
from costboost.mixture.table import Grown, Table

__all__ = ["Forest"]

Floats = NDArray[np.float64]

_MAX_DEPTH = 30


@dataclass(frozen=True)
class Forest:
    """Extremely randomized trees (Geurts, Ernst, Wehenkel 2006).

    Parameters
    ----------
    share : float in (0, 1]
        Share of the trees asked for: they are deep, and answering is most of their cost.
    min_rows : int
        Rows that each side of a cut keeps.
    most_rows : int
        Rows that a tree draws at most.
    ridge : float
        Rows of the mean label that are added to each leaf.
    """

    share: float = 0.5
    min_rows: int = 3
    most_rows: int = 10_000
    ridge: float = 0.5

    def fit(
        self, table: Table, label: Floats, weights: Floats, count: int, rng: np.random.Generator
    ) -> Trees:
        """Fit trees whose sum is the probability of label 1."""
        d = len(table.n_bins)
        known = np.flatnonzero(weights > 0)
        scaled = weights * (known.size / weights.sum())
        prior = float((label * weights).sum() / weights.sum())
        tried = max(1, round(math.sqrt(d)))
        g, h = scaled * label, scaled
        drawn = min(known.size, self.most_rows)
        # A tree has at most one leaf per `min_rows` rows.
        nodes = Grown.room(2 * max(1, drawn // self.min_rows) + 1)
        grown, count = [], max(1, round(self.share * count))
        for _ in range(count):
            rows = known
            if drawn < known.size:
                rows = np.sort(rng.choice(known, drawn, replace=False))
            seed = np.uint64(rng.integers(2**63))
            found = grow_by_chance(
                table.bins, table.n_bins, tried, rows.astype(np.int32), g, h, seed, _MAX_DEPTH,
                float(self.min_rows), self.ridge, prior, nodes.feature, nodes.cut, nodes.missing_above,
                nodes.child, nodes.value,
            )  # fmt: skip
            grown.append(nodes.first(found, 1.0 / count))
        return table.trees(grown, 0.0)
