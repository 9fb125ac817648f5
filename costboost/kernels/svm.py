"""Inner products, kernel functions and scores of the weighted SVM, summed in one fixed order.

No sum here depends on how many rows are scored together, as a matrix product of a tuned library does: a row
alone and the same row in a batch get the same bits.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import math

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = [
    "RBF",
    "add_row",
    "columns_of",
    "dot",
    "fill_gram",
    "fill_kernel",
    "fill_products",
    "kernel_value",
    "score_expansion",
    "score_gram",
    "score_rows",
    "squared_norms",
    "standardize",
    "weighted_moments",
]

RBF = 0  # the code of exp(-gamma |x - z|^2); any other code is the polynomial

#: Standardised values are held within this, so that their powers stay finite.
_FAR = 1e30
_LARGEST_KERNEL = 1e100


@kernel
def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Inner product in eight running sums: a chain of additions would wait for each one to finish."""
    size = a.size
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = size - size % 8
    for j in range(0, whole, 8):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
        s4 += a[j + 4] * b[j + 4]
        s5 += a[j + 5] * b[j + 5]
        s6 += a[j + 6] * b[j + 6]
        s7 += a[j + 7] * b[j + 7]
    for j in range(whole, size):
        s0 += a[j] * b[j]
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))


@kernel
def add_row(target: NDArray[np.float64], factor: float, row: NDArray[np.float64]) -> None:
    """Add a multiple of a row to the target."""
    for j in range(target.size):
        target[j] += factor * row[j]


@kernel
def kernel_value(
    a: NDArray[np.float64], b: NDArray[np.float64], code: int, gamma: float, degree: int, coef0: float
) -> float:
    """Kernel of two rows; the polynomial is bounded so that far outliers stay finite."""
    if code == RBF:
        distance = 0.0
        for j in range(a.size):
            difference = a[j] - b[j]
            distance += difference * difference
        return math.exp(-gamma * distance)
    base = min(max(gamma * dot(a, b) + coef0, -_FAR), _FAR)
    value = 1.0
    for _ in range(degree):
        value = min(max(value * base, -_LARGEST_KERNEL), _LARGEST_KERNEL)
    return value


@kernel
def fill_gram(
    rows: NDArray[np.float64], code: int, gamma: float, degree: int, coef0: float, out: NDArray[np.float64]
) -> None:
    """Kernel of all pairs of rows, each computed once."""
    for i in range(rows.shape[0]):
        for j in range(i + 1):
            value = kernel_value(rows[i], rows[j], code, gamma, degree, coef0)
            out[i, j] = value
            out[j, i] = value


@kernel
def fill_products(rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Inner product of all pairs of rows, each computed once."""
    for i in range(rows.shape[0]):
        for j in range(i + 1):
            value = dot(rows[i], rows[j])
            out[i, j] = value
            out[j, i] = value


@kernel
def squared_norms(rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Squared length of each row."""
    for i in range(rows.shape[0]):
        out[i] = dot(rows[i], rows[i])


@kernel
def fill_kernel(
    row: NDArray[np.float64],
    vectors: NDArray[np.float64],
    code: int,
    gamma: float,
    degree: int,
    coef0: float,
    out: NDArray[np.float64],
) -> None:
    """Kernel of one row with each of the vectors."""
    for j in range(vectors.shape[0]):
        out[j] = kernel_value(row, vectors[j], code, gamma, degree, coef0)


@kernel
def score_rows(
    rows: NDArray[np.float64], coef: NDArray[np.float64], intercept: float, out: NDArray[np.float64]
) -> None:
    """Linear score of each row."""
    for i in range(rows.shape[0]):
        out[i] = dot(rows[i], coef) + intercept


@kernel
def score_gram(
    gram: NDArray[np.float64], coef: NDArray[np.float64], intercept: float, out: NDArray[np.float64]
) -> None:
    """Score of rows whose kernel values are given, in the order of :func:`score_expansion`."""
    for i in range(gram.shape[0]):
        total = 0.0
        for j in range(coef.size):
            if coef[j] != 0.0:
                total += coef[j] * gram[i, j]
        out[i] = total + intercept


@kernel
def score_expansion(
    rows: NDArray[np.float64],
    vectors: NDArray[np.float64],
    coef: NDArray[np.float64],
    intercept: float,
    code: int,
    gamma: float,
    degree: int,
    coef0: float,
    out: NDArray[np.float64],
) -> None:
    """Kernel score: the sum over vectors with a coefficient, in their order."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(coef.size):
            if coef[j] != 0.0:
                total += coef[j] * kernel_value(rows[i], vectors[j], code, gamma, degree, coef0)
        out[i] = total + intercept


@kernel
def columns_of(
    rows: NDArray[np.float64],
    unit: NDArray[np.float64],
    origin: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Values in units of their column, less one of them: a constant column becomes exactly 0."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = rows[i, j] * unit[j] - origin[j]


@kernel
def weighted_moments(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    mean: NDArray[np.float64],
    deviation: NDArray[np.float64],
) -> None:
    """Weighted mean and standard deviation of each column, NaN left out; 0 if it has no value."""
    total = np.zeros(mean.size)
    for i in range(values.shape[0]):
        for j in range(mean.size):
            if not math.isnan(values[i, j]):
                total[j] += weights[i]
                mean[j] += weights[i] * values[i, j]
    for j in range(mean.size):
        if total[j] > 0.0:
            mean[j] /= total[j]
    for i in range(values.shape[0]):
        for j in range(mean.size):
            if not math.isnan(values[i, j]):
                difference = values[i, j] - mean[j]
                deviation[j] += weights[i] * difference * difference
    for j in range(mean.size):
        if total[j] > 0.0:
            deviation[j] = math.sqrt(deviation[j] / total[j])


@kernel
def standardize(
    rows: NDArray[np.float64],
    unit: NDArray[np.float64],
    center: NDArray[np.float64],
    scale: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Value in units of its column, centred and scaled, 0 for NaN; ``out`` may have further columns."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            value = (rows[i, j] * unit[j] - center[j]) / scale[j]
            out[i, j] = 0.0 if math.isnan(value) else min(max(value, -_FAR), _FAR)
