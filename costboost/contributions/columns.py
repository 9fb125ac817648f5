"""What all ways of sharing a score out among columns have in common."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contributions", "SourceColumns"]


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
