"""A weighted sum of what other ensembles say, each brought to log-odds first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.ensembles.checks import LARGEST, check_finite, check_indices, check_lengths
from costboost.ensembles.expansions import Expansions
from costboost.ensembles.lines import Lines
from costboost.ensembles.trees import Trees

__all__ = ["REACH", "Mixture"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

#: Log-odds of a member are held within this: one that is sure must not outvote all others.
REACH = 5.0
#: A probability is held this far from 0 and 1 before its log-odds are taken.
_MARGIN = 1e-6


@dataclass(frozen=True, eq=False)
class Mixture:
    """``F_k(x) = constant[k] + Σ_m weight[m] · clip(z_m(x), ±5)`` over the members m with ``output[m] = k``.

    ``z_m`` is the score of the member, or its log-odds where the score is a probability. The sum runs in the
    order of m, whatever the batch.

    Parameters
    ----------
    members : sequence of M Trees, Lines or Expansions
        Of one score each.
    probability : ndarray of shape (M,), int32
        1 where the score of the member is a probability, else 0.
    weight : ndarray of shape (M,), float64, >= 0
    output : ndarray of shape (M,), int32
        Index of the score each member adds to, in [0, n_outputs).
    constant : ndarray of shape (K',), float64
        Start of each sum; K' is 1 for two classes and K for more.
    n_features : int
        Columns a row must have.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, or a value is not finite.
    """

    members: Sequence[Trees | Lines | Expansions]
    probability: Ints
    weight: Floats
    output: Ints
    constant: Floats
    n_features: int

    def __post_init__(self) -> None:
        count = len(self.members)
        check_lengths(count, probability=self.probability, weight=self.weight, output=self.output)
        check_lengths(self.constant.size, constant=self.constant)
        check_indices(0, 2, probability=self.probability)
        check_indices(0, self.n_outputs, output=self.output)
        check_finite(LARGEST / 1e10, weight=self.weight, constant=self.constant)
        if (self.weight < 0).any():
            raise ValueError("weight must not be negative")
        if any(m.n_features != self.n_features or m.n_outputs != 1 for m in self.members):
            raise ValueError("the members must have one score and the columns of the mixture")

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        return int(self.constant.shape[0])

    @property
    def scale(self) -> float:
        """Sum of the largest votes, what scores are divided by to be margins; the largest one if K > 2."""
        return float(np.bincount(self.output, self.weight * REACH, minlength=self.n_outputs).max())

    def score(self, X: Floats) -> Floats:
        """Scores of shape (n, K') of rows of shape (n, n_features); NaN is a missing value.

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        totals = np.tile(self.constant, (X.shape[0], 1))
        for m, member in enumerate(self.members):
            said = log_odds(member.score(X)[:, 0], probability=bool(self.probability[m]))
            totals[:, self.output[m]] += self.weight[m] * said
        return totals


def log_odds(score: Floats, *, probability: bool) -> Floats:
    """What a member says, as log-odds within ±5."""
    if probability:
        score = libm.log_odds(np.clip(score, _MARGIN, 1.0 - _MARGIN))
    return np.clip(score, -REACH, REACH)
