"""From rows to what the weighted SVM is linear in: scaled columns, kernel functions, landmarks."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.kernels import svm as kernels
from costboost.kernels.svm_cholesky import cholesky_row, fill_features, solve_upper

__all__ = ["Kernel", "Landmarks", "Scaler", "variance_of"]

Floats = NDArray[np.float64]

#: In units of the column's largest value: less spread than this is rounding.
_NO_SPREAD = 1e-15


def _moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of each column, missing values left out."""
    mean, deviation = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    kernels.weighted_moments(values, weights / weights.max(), mean, deviation)
    return mean, deviation


def variance_of(rows: Floats, weights: Floats) -> float:
    """Weighted variance of all values of all columns together."""
    mean, deviation = _moments(rows, weights)
    return float(np.mean(deviation**2) + np.mean((mean - mean.mean()) ** 2))


@dataclass(frozen=True)
class Scaler:
    """Columns in their own units, centred and scaled.

    Parameters
    ----------
    unit, center, scale : ndarray of shape (d,)
        A value x becomes ``(x * unit - center) / scale``; `unit` is a power of two, so that the largest
        floats neither overflow nor lose a digit. A missing value becomes 0.
    """

    unit: Floats
    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats, weights: Floats, standardize: bool) -> "Scaler":
        """Measure the columns under the rows' weights; `standardize=False` leaves values as they are."""
        d = X.shape[1]
        if not standardize:
            return cls(np.ones(d), np.zeros(d), np.ones(d))
        known = ~np.isnan(X)
        _, exponent = np.frexp(np.abs(X).max(axis=0, where=known, initial=0.0))
        unit = np.ldexp(1.0, -np.clip(exponent, -1000, 1000))
        first = X[np.argmax(known & (weights > 0)[:, None], axis=0), np.arange(d)]
        origin = np.where(np.isnan(first), 0.0, first) * unit
        values = np.empty_like(X)
        kernels.columns_of(X, unit, origin, values)
        mean, deviation = _moments(values, weights)
        return cls(unit, origin + mean, np.where(deviation > _NO_SPREAD, deviation, 1.0))

    def transform(self, X: Floats, constant: bool = False) -> Floats:
        """Return the scaled rows, with a last column of ones if `constant`."""
        scaled = np.ones((len(X), X.shape[1] + constant))
        kernels.standardize(X, self.unit, self.center, self.scale, scaled)
        return scaled


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters.

    "rbf" is exp(-gamma ‖x - z‖²), "poly" (gamma x·z + coef0)^degree.
    """

    name: Literal["rbf", "poly"]
    gamma: float
    degree: int = 3
    coef0: float = 1.0

    @property
    def _arguments(self) -> tuple[int, float, int, float]:
        return (kernels.RBF if self.name == "rbf" else kernels.RBF + 1, self.gamma, self.degree, self.coef0)

    def gram(self, rows: Floats) -> Floats:
        """(n, n): kernel of all pairs of rows."""
        values = np.empty((len(rows), len(rows)))
        kernels.fill_gram(rows, *self._arguments, values)
        return values

    def between(self, row: Floats, vectors: Floats) -> Floats:
        """(m,): kernel of one row with each vector."""
        values = np.empty(len(vectors))
        kernels.fill_kernel(row, vectors, *self._arguments, values)
        return values

    def features(self, rows: Floats, vectors: Floats, factor: Floats, out: Floats) -> None:
        """Whitened features of rows: L⁻¹ k(vectors, x) for the factor L Lᵀ of the vectors' kernel."""
        fill_features(rows, vectors, factor, *self._arguments, out)

    def scores(self, rows: Floats, vectors: Floats, coef: Floats, intercept: float) -> Floats:
        """(n,): Σ_j coef_j k(vectors_j, x) + intercept."""
        scores = np.empty(len(rows))
        kernels.score_expansion(rows, vectors, coef, intercept, *self._arguments, scores)
        return scores


@dataclass(frozen=True)
class Landmarks:
    """Nyström's approximation of a kernel by its values at a few rows (Williams & Seeger 2001).

    With L Lᵀ the kernel of the landmarks, φ(x) = L⁻¹ k(landmarks, x) has the inner products of the
    approximation, and w·φ(x) = Σ_j (L⁻ᵀ w)_j k(landmark_j, x).

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
    factor : ndarray of shape (m, m), lower triangular
    kernel : Kernel
    """

    vectors: Floats
    factor: Floats
    kernel: Kernel

    @classmethod
    def of(cls, rows: Floats, kernel: Kernel) -> "Landmarks":
        """Take the rows as landmarks, in order, without those that depend on the ones before."""
        m = len(rows)
        factor = np.zeros((m, m))
        kept: list[int] = []
        for i in range(m):
            values = kernel.between(rows[i], rows[[*kept, i]])
            if cholesky_row(factor, len(kept), values[:-1], values[-1], 1e-10):
                kept.append(i)
        size = len(kept)
        return cls(np.ascontiguousarray(rows[kept]), np.ascontiguousarray(factor[:size, :size]), kernel)

    def features(self, rows: Floats, constant: bool) -> Floats:
        """(n, m) or, with a last column of ones, (n, m + 1): φ of each row."""
        features = np.ones((len(rows), len(self.vectors) + constant))
        self.kernel.features(rows, self.vectors, self.factor, features)
        return features

    def expansion(self, weights: Floats) -> Floats:
        """(m,): coefficients of the landmarks' kernels for weights of the features."""
        coef = weights.copy()
        solve_upper(self.factor, len(coef), coef)
        return coef
