"""The additive score of kernel machines: vectors that all rounds share, and coefficients per round."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.ensembles.checks import LARGEST, check_finite, check_lengths
from costboost.ensembles.planes import products
from costboost.ensembles.sides import FAR, ScaledSides

__all__ = ["Expansions"]

Floats = NDArray[np.float64]

#: So many exponentials at a time are computed without the compiler.
_FEW = 512
_MAX_DEGREE = 10


@dataclass(frozen=True, eq=False)
class Expansions(ScaledSides):
    """An additive score: each round adds one of two values, by the sign of a sum of kernels.

    ``f_t(x) = Σ_j coef_tj k(vector_j, z) + intercept_t`` with ``z = (x · unit - center) / spread``; "rbf" is
    ``exp(-gamma ‖z - v‖²)``, "poly" is ``(gamma z·v + coef0)^degree``. The sums run in the order of j and
    of t, whatever the batch.

    Parameters
    ----------
    unit, center, spread : ndarray of shape (d,), float64
        How columns are scaled; `spread` is positive. A missing value becomes 0.
    vectors : ndarray of shape (m · d,), float64
        Scaled rows, one after another, each at most 1e30.
    coef : ndarray of shape (T · m,), float64
        Coefficients of the rounds, one after another.
    intercept : ndarray of shape (T,), float64
    below, above, reach, output, constant
        As in `Sides`.
    kernel : {"rbf", "poly"}
    gamma : float > 0
    degree : int from 1 to 10
    coef0 : float

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, or a value is not finite or beyond its bounds.
    """

    unit: Floats
    center: Floats
    spread: Floats
    vectors: Floats
    coef: Floats
    intercept: Floats
    below: Floats
    above: Floats
    reach: Floats
    output: NDArray[np.int32]
    constant: Floats
    kernel: str
    gamma: float
    degree: int
    coef0: float

    def __post_init__(self) -> None:
        self._check_columns()
        rounds, d = self.sides.below.size, self.n_features
        check_lengths(rounds, intercept=self.intercept)
        count = self.vectors.size // d if d else 0
        check_lengths(count * d, vectors=self.vectors)
        check_lengths(rounds * count, coef=self.coef)
        check_finite(coef=self.coef, intercept=self.intercept)
        check_finite(FAR, vectors=self.vectors)
        self._check_kernel()

    def _check_kernel(self) -> None:
        if self.kernel not in ("rbf", "poly") or not 1 <= self.degree <= _MAX_DEGREE:
            raise ValueError("the kernel is not one of ours")
        if not (0.0 < self.gamma <= LARGEST and abs(self.coef0) <= LARGEST):
            raise ValueError("the parameters of the kernel are out of range")

    @property
    def _rows_of_vectors(self) -> Floats:
        return self.vectors.reshape(-1, self.n_features)

    def _width(self) -> int:
        return max(len(self._rows_of_vectors), self.below.size)

    def _functions(self, rows: Floats) -> Floats:
        vectors = self._rows_of_vectors
        kernels = self._rbf(rows, vectors) if self.kernel == "rbf" else self._poly(rows, vectors)
        return self._sums(kernels, self.coef.reshape(self.below.size, len(vectors)))

    def _sums(self, kernels: Floats, coef: Floats) -> Floats:
        """(n, T): f of each round, added vector by vector."""
        totals = np.zeros((len(kernels), len(coef)))
        for value, factor in zip(kernels.T, coef.T, strict=True):
            totals += value[:, None] * factor
        return totals + self.intercept

    def _rbf(self, rows: Floats, vectors: Floats) -> Floats:
        distance = np.zeros((len(rows), len(vectors)))
        for own, other in zip(rows.T, vectors.T, strict=True):
            difference = own[:, None] - other
            distance += difference * difference
        with np.errstate(over="ignore"):
            exponent = -self.gamma * distance
        if len(rows) > 1:
            return libm.exp(exponent)
        parts = [libm.exp(exponent[:, j : j + _FEW]) for j in range(0, exponent.shape[1], _FEW)]
        return np.hstack(parts) if parts else exponent

    def _poly(self, rows: Floats, vectors: Floats) -> Floats:
        base = np.clip(self.gamma * products(rows, vectors) + self.coef0, -FAR, FAR)
        value = np.ones_like(base)
        for _ in range(self.degree):
            value = np.clip(value * base, -LARGEST, LARGEST)
        return value
