"""Rows that all hypotheses so far answered alike: programs over rows need only the sums of such groups."""

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._problem import Floats
from costboost.kernels.fixed_point import quantize

__all__ = ["RowGroups"]

#: Bits to which shares are rounded: what rounding of the weights left behind must not choose a vertex.
_BITS = 44


class RowGroups:
    """Rows grouped by which hypotheses are right about them.

    Groups stand in the order of their answers and their shares are sums of integers, so that neither the
    order of rows nor repeating a row instead of weighing it changes a program over them. Rows whose weight is
    not even a 2^-60th of all weights belong to none.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64, >= 0, not all 0

    Attributes
    ----------
    agreement : ndarray of shape (G, T), float64
        +1 where a hypothesis is right about the rows of a group, else -1.
    share : ndarray of shape (G,), float64
        Part of all weights that belongs to a group, to 13 digits.

    Examples
    --------
    >>> groups = RowGroups(np.array([1.0, 2.0, 1.0]))
    >>> groups.split(np.array([-1.0, 1.0, -1.0]))
    >>> groups.agreement.tolist(), groups.share.tolist(), groups.spread(np.array([0.2, 0.8])).tolist()
    ([[-1.0], [1.0]], [0.5, 0.5], [0.1, 0.8, 0.1])
    """

    def __init__(self, weights: Floats) -> None:
        masses = quantize(weights)
        self._rows = np.flatnonzero(masses)
        self._masses, self._n = masses[self._rows], len(weights)
        self._group = np.zeros(len(self._rows), dtype=np.intp)
        self.agreement: Floats = np.zeros((1, 0))
        self.share: Floats = np.ones(1)

    def split(self, agreement: NDArray[np.float64]) -> None:
        """Tell rows apart that one more hypothesis is right (> 0) and wrong about.

        Parameters
        ----------
        agreement : ndarray of shape (n,)
        """
        halves = 2 * self._group + (agreement[self._rows] > 0)
        present = np.bincount(halves, minlength=2 * len(self.agreement)) > 0
        self._group = (np.cumsum(present) - 1)[halves]
        kept = np.flatnonzero(present)
        answers = np.where(kept % 2 == 1, 1.0, -1.0)
        self.agreement = np.column_stack([self.agreement[kept // 2], answers])
        self.share = self._shares()

    def spread(self, weights: Floats) -> Floats:
        """Give each row the part of its group's weight that it has in the group.

        Parameters
        ----------
        weights : ndarray of shape (G,)

        Returns
        -------
        ndarray of shape (n,)
        """
        spread = np.zeros(self._n)
        spread[self._rows] = self._masses * (weights / self._sums())[self._group]
        return spread

    def _sums(self) -> NDArray[np.int64]:
        sums = np.zeros(len(self.agreement), dtype=np.int64)
        np.add.at(sums, self._group, self._masses)
        return sums

    def _shares(self) -> Floats:
        sums = self._sums()
        mantissa, exponent = np.frexp(sums / int(sums.sum()))
        rounded: Floats = np.ldexp(np.rint(mantissa * 2.0**_BITS), exponent - _BITS)
        return rounded
