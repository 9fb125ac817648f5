"""The account of weights that a tree learner keeps: one factor for the rows of a kind with one answer."""

import math

import numpy as np
from numpy.typing import NDArray

from costboost.kernels.fixed_point import rounded, total
from costboost.kernels.ledger import multiply_weights, relate_factors, sum_sides
from costboost.learners.ledger import LARGEST_EXPONENT

__all__ = ["TreeLedger"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]

#: A side is the answer itself, 0 or 1.
_SIDES = np.arange(2, dtype=np.uint8)
#: Binary logarithm of the greatest total of integer weights.
_MOST = 60


class TreeLedger:
    """Weights of the rows of two classes, and the integers they count as in this round.

    Parameters
    ----------
    kinds : ndarray of shape (n,), uint8
    n_kinds : int
    weights : ndarray of shape (n,), float64, >= 0, not all 0
        Kept and changed.

    Attributes
    ----------
    masses : ndarray of shape (n,), int64
        Weights as integers of a sum between 2^59 and 2^60.
    mass : int
        Their sum.
    """

    def __init__(self, kinds: Octets, n_kinds: int, weights: Floats) -> None:
        self.kinds, self.weights = kinds, weights
        self._shape = (n_kinds, len(_SIDES))
        self._answers = np.zeros(len(kinds), dtype=np.uint8)
        self._masses, self._counts = np.zeros((2, *self._shape), dtype=np.int64)
        self._round()

    def part(self, answers: Octets) -> Ints:
        """Part the rows by their answers, 0 or 1; return the weight of each kind that gets each."""
        self._answers = answers
        masses, counts = np.zeros((2, *self._shape), dtype=np.int64)
        flat = (masses.reshape(-1), counts.reshape(-1))
        sum_sides(answers, _SIDES, len(_SIDES), self.kinds, self.weights, self._scale, *flat)
        self._masses, self._counts = masses, counts
        return masses

    def sides_of_rows(self) -> Octets:
        """(n,): the answer that each row got last."""
        return self._answers

    def reweigh(self, exponents: Floats, shares: Floats) -> None:
        """Multiply weights by ``share · exp(exponent)``, up to one factor for all, by kind and answer."""
        factors = np.empty(self._shape)
        greatest, _, _ = relate_factors(
            exponents.reshape(-1),
            shares.reshape(-1),
            self._masses.reshape(-1),
            self._counts.reshape(-1),
            LARGEST_EXPONENT,
            factors.reshape(-1),
        )
        # Their sum, a power of two apart, stays where it is, lest weights vanish in time.
        factors *= math.ldexp(1.0, -self._exponent) / greatest
        multiply_weights(self._answers, _SIDES, len(_SIDES), self.kinds, factors.reshape(-1), self.weights)
        self._round()

    def _round(self) -> None:
        _, self._exponent = math.frexp(total(self.weights))
        self._scale = math.ldexp(1.0, _MOST - self._exponent)
        self.masses = rounded(self.weights, self._scale)
        self.mass = int(self.masses.sum())
