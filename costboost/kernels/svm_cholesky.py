"""Triangular systems and a Cholesky factor that grows row by row."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import math

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.svm import add_row, dot, fill_kernel

__all__ = ["cholesky_row", "factor_gram", "fill_features", "solve_lower", "solve_upper"]


@kernel
def solve_lower(
    factor: NDArray[np.float64], size: int, right: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Solve L out = right, L lower triangular."""
    for a in range(size):
        out[a] = (right[a] - dot(factor[a, :a], out[:a])) / factor[a, a]


@kernel
def solve_upper(factor: NDArray[np.float64], size: int, out: NDArray[np.float64]) -> None:
    """Solve Lᵀ x = out in place."""
    for a in range(size - 1, -1, -1):
        out[a] /= factor[a, a]
        add_row(out[:a], -out[a], factor[a, :a])


@kernel
def cholesky_row(
    factor: NDArray[np.float64], size: int, products: NDArray[np.float64], norm: float, least: float
) -> bool:
    """Append a row to a Cholesky factor; refuse one whose new part is below ``least`` of its norm."""
    solve_lower(factor, size, products, factor[size])
    rest = norm - dot(factor[size, :size], factor[size, :size])
    if rest <= least * norm:
        return False
    factor[size, size] = math.sqrt(rest)
    return True


@kernel
def fill_features(
    rows: NDArray[np.float64],
    vectors: NDArray[np.float64],
    factor: NDArray[np.float64],
    code: int,
    gamma: float,
    degree: int,
    coef0: float,
    out: NDArray[np.float64],
) -> None:
    """Solve L φ = k(vectors, x) for each row x; ``out`` may have further columns."""
    size = vectors.shape[0]
    values = np.empty(size)
    for i in range(rows.shape[0]):
        fill_kernel(rows[i], vectors, code, gamma, degree, coef0, values)
        solve_lower(factor, size, values, out[i])


@kernel
def factor_gram(gram: NDArray[np.float64], shift: float, least: float, factor: NDArray[np.float64]) -> int:
    """Pivoted Cholesky factor of gram + shift; return its rank, or -1 if the columns do not suffice.

    Rows whose rest is below ``least`` of the largest diagonal entry count as dependent.
    """
    n, most = factor.shape
    rest = np.empty(n)
    for i in range(n):
        rest[i] = gram[i, i] + shift
    largest = rest.max()
    for rank in range(most + 1):
        pivot = np.argmax(rest)
        if rest[pivot] <= least * largest:
            return rank
        if rank == most:
            return -1
        root = math.sqrt(rest[pivot])
        for i in range(n):
            known = dot(factor[i, :rank], factor[pivot, :rank])
            factor[i, rank] = (gram[pivot, i] + shift - known) / root
            rest[i] -= factor[i, rank] * factor[i, rank]
        rest[pivot] = 0.0
    return -1
