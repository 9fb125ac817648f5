"""Votes of hypotheses that are functions f(x) with a sign: two real values each, or a clipped share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.checks import check_finite, check_indices, check_lengths

__all__ = ["FAR", "ScaledSides", "Sides", "scaled"]

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


class ScaledSides(ABC):
    """What machines on scaled columns share: the columns, the votes, and the walk over rows in blocks.

    A subclass is a dataclass with these fields, and tells what its functions are.
    """

    unit: Floats
    center: Floats
    spread: Floats
    below: Floats
    above: Floats
    reach: Floats
    output: NDArray[np.int32]
    constant: Floats

    #: Numbers held at a time: a block has as many rows as this holds functions.
    _BLOCK = 2**17

    @cached_property
    def sides(self) -> Sides:
        """The votes of the rounds."""
        return Sides(self.below, self.above, self.reach, self.output, self.constant)

    @property
    def n_features(self) -> int:
        """Columns a row must have."""
        return self.unit.size

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        return self.sides.n_outputs

    @property
    def scale(self) -> float:
        """Sum of the votes, what scores are divided by to be margins."""
        return self.sides.scale

    def score(self, X: Floats) -> Floats:
        """Scores of shape (n, K') of rows of shape (n, d); NaN is a missing value.

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        out = np.empty((X.shape[0], self.n_outputs))
        block = max(1, self._BLOCK // max(self._width(), 1))
        for start in range(0, X.shape[0], block):
            rows = scaled(X[start : start + block], self.unit, self.center, self.spread)
            out[start : start + block] = self.sides.add(self._functions(rows))
        return out

    def _check_columns(self) -> None:
        check_lengths(self.n_features, unit=self.unit, center=self.center, spread=self.spread)
        check_finite(unit=self.unit, center=self.center, spread=self.spread)
        if not (self.spread > 0).all():
            raise ValueError("spread must be positive")

    @abstractmethod
    def _width(self) -> int:
        """Return how many numbers a row takes while it is scored."""

    @abstractmethod
    def _functions(self, rows: Floats) -> Floats:
        """(n, T): f of each round for scaled rows."""


def scaled(X: Floats, unit: Floats, center: Floats, spread: Floats) -> Floats:
    """Columns of X in their units, centred and scaled; what is missing lies in the centre."""
    with np.errstate(all="ignore"):  # what overflows is clipped
        values = (X * unit - center) / spread
    values = np.clip(values, -FAR, FAR)
    return np.where(np.isnan(values), 0.0, values)
