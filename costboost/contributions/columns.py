"""What all ways of sharing a score out among columns have in common."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contributions", "SourceColumns", "mean_of_bins"]


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """Which matrix columns belong to which column of the table.

    Attributes
    ----------
    of : ndarray of shape (d,), intp
        For each matrix column the position of its source.
    count : int
        Number of sources S.
    """

    of: NDArray[np.intp]
    count: int

    def columns(self, source: int) -> NDArray[np.intp]:
        """Matrix columns of one source, in order."""
        return np.flatnonzero(self.of == source)


class Contributions(Protocol):
    """A way to share the scores of rows out among the source columns.

    ``baseline[k] + Σ_s contributions[i, s, k]`` is score k of row i, up to rounding.
    """

    @property
    def method(self) -> str:
        """Name of the method, as an answer shows it."""
        ...

    @property
    def baseline(self) -> NDArray[np.float64]:
        """(K',): what the contributions start from."""
        ...

    def contributions(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, S, K') for encoded rows (n, d); a row alone gets what it gets in a batch, to the bit."""
        ...


def mean_of_bins(
    bins: NDArray[np.intp], values: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(K',): weighted mean of values[bin] over rows.

    By the weight of each bin: an integer weight counts exactly as that many rows do.

    Parameters
    ----------
    bins : ndarray of shape (n,), intp
    values : ndarray of shape (B, K'), float64
    weight : ndarray of shape (n,), float64, >= 0, not all 0
    """
    share = np.bincount(bins, weights=weight, minlength=len(values)) / weight.sum()
    mean: NDArray[np.float64] = (share[:, None] * values).sum(axis=0)
    return mean
