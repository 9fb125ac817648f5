"""Votes of hypotheses that are functions f(x) with a sign: two real values each, or a clipped share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.checks import check_finite, check_indices, check_lengths

__all__ = ["FAR", "Sides", "scaled"]

Floats = NDArray[np.float64]

#: Scaled values are held within this, so that their powers stay finite.
FAR = 1e30


@dataclass(frozen=True, eq=False)
class Sides:
    """What T functions add to K' scores.

    Parameters
    ----------
    below, above : ndarray of shape (T,), float64
        What is added where f(x) <= 0, and where f(x) > 0.
    reach : ndarray of shape (T,), float64, >= 0
        0, or else ``above · clip(f(x) / reach, -1, 1)`` is added instead.
    output : ndarray of shape (T,), int32
        Index of the score each function adds to, in [0, n_outputs).
    constant : ndarray of shape (K',), float64
        Start of each sum; K' is 1 for two classes and K for more.
    """

    below: Floats
    above: Floats
    reach: Floats
    output: NDArray[np.int32]
    constant: Floats

    def __post_init__(self) -> None:
        check_lengths(
            self.below.size, below=self.below, above=self.above, reach=self.reach, output=self.output
        )
        check_lengths(self.constant.size, constant=self.constant)
        check_indices(0, self.n_outputs, output=self.output)
        check_finite(below=self.below, above=self.above, reach=self.reach, constant=self.constant)
        if (self.reach < 0).any():
            raise ValueError("reach must not be negative")

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        return int(self.constant.shape[0])

    @property
    def scale(self) -> float:
        """Sum of the votes, what scores are divided by to be margins; the largest one if K > 2."""
        votes = np.maximum(np.abs(self.below), np.abs(self.above))
        return float(np.bincount(self.output, weights=votes, minlength=self.n_outputs).max())

    def add(self, values: Floats) -> Floats:
        """(n, K'): scores of n rows whose functions have the values (n, T); added in the order of t."""
        totals = np.repeat(self.constant[:, None], len(values), axis=1)
        with np.errstate(all="ignore"):  # a tiny reach overflows, and is clipped
            for t, output in enumerate(self.output.tolist()):
                totals[output] += self._vote(t, values[:, t])
        return totals.T

    def _vote(self, t: int, values: Floats) -> Floats:
        if self.reach[t] > 0.0:
            clipped: Floats = self.above[t] * np.clip(values / self.reach[t], -1.0, 1.0)
            return clipped
        sided: Floats = np.where(values > 0, self.above[t], self.below[t])
        return sided


def scaled(X: Floats, unit: Floats, center: Floats, spread: Floats) -> Floats:
    """Columns of X in their units, centred and scaled; what is missing lies in the centre."""
    with np.errstate(all="ignore"):  # what overflows is clipped
        values = (X * unit - center) / spread
    values = np.clip(values, -FAR, FAR)
    return np.where(np.isnan(values), 0.0, values)
