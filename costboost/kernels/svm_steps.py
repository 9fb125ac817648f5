"""Stochastic steps on the weighted SVM: plain and with reduced variance (Johnson & Zhang 2013)."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.svm import add_row, dot

__all__ = ["step_gram", "step_rows"]


@kernel
def _slope(margin: float, lambda1: float, lambda2: float) -> float:
    """Slope of the loss −λ1 m + λ2 max(0, 1 − m); −λ1 at its kink."""
    return -lambda1 - lambda2 if margin < 1.0 else -lambda1


@kernel
def step_rows(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    importance: NDArray[np.float64],
    lambda1: float,
    lambda2: float,
    eta: float,
    indices: NDArray[np.int64],
    average: bool,
    reduced: bool,
    weights: NDArray[np.float64],
) -> None:
    """Epochs of steps on F(w)/n, one row each; ``indices`` is (epochs, steps).

    Without reduced variance the snapshot and the gradient at it stay 0, and the step is that of plain SGD.
    """
    n, d = rows.shape
    snapshot, gradient, mean, slopes = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(n)
    for epoch in range(indices.shape[0]):
        rate = eta / (1.0 + epoch)
        if reduced:
            snapshot[:] = weights
            gradient[:] = 0.0
            for i in range(n):
                slopes[i] = _slope(sign[i] * dot(rows[i], weights), lambda1, lambda2)
                add_row(gradient, importance[i] * slopes[i] * sign[i], rows[i])
            for j in range(d):
                gradient[j] = (gradient[j] + weights[j]) / n
        mean[:] = 0.0
        for i in indices[epoch]:
            slope = _slope(sign[i] * dot(rows[i], weights), lambda1, lambda2)
            pull = importance[i] * (slope - slopes[i]) * sign[i]
            for j in range(d):
                weights[j] -= rate * ((weights[j] - snapshot[j]) / n + pull * rows[i, j] + gradient[j])
            if average:
                add_row(mean, 1.0, weights)
        if average:
            weights[:] = mean / indices.shape[1]


@kernel
def step_gram(
    gram: NDArray[np.float64],
    shift: float,
    sign: NDArray[np.float64],
    importance: NDArray[np.float64],
    lambda1: float,
    lambda2: float,
    eta: float,
    indices: NDArray[np.int64],
    average: bool,
    reduced: bool,
    coef: NDArray[np.float64],
) -> None:
    """The steps of :func:`step_rows` in the space of the kernel, on the coefficients of f = Σ a_j k(x_j, ·).

    Within an epoch a = size·z + drift·u, where u is the snapshot's loss gradient: shrinking a and adding the
    full gradient change the two numbers, and a step costs one row of the matrix.
    """
    n = coef.size
    slopes, u, u_score, z = np.zeros(n), np.zeros(n), np.zeros(n), np.empty(n)
    mean = np.zeros(n)
    for epoch in range(indices.shape[0]):
        rate = eta / (1.0 + epoch)
        if reduced:
            total = coef.sum()
            for i in range(n):
                slopes[i] = _slope(sign[i] * (dot(gram[i], coef) + shift * total), lambda1, lambda2)
                u[i] = importance[i] * slopes[i] * sign[i]
            total = u.sum()
            for i in range(n):
                u_score[i] = dot(gram[i], u) + shift * total
        z[:] = coef
        z_total, size, drift = z.sum(), 1.0, 0.0
        mean[:] = 0.0
        for i in indices[epoch]:
            score = size * (dot(gram[i], z) + shift * z_total) + drift * u_score[i]
            slope = _slope(sign[i] * score, lambda1, lambda2)
            size *= 1.0 - rate / n
            drift = drift * (1.0 - rate / n) - rate / n
            change = -rate * importance[i] * (slope - slopes[i]) * sign[i] / size
            z[i] += change
            z_total += change
            if size < 1e-100:
                z *= size
                z_total, size = z.sum(), 1.0
            if average:
                for j in range(n):
                    mean[j] += size * z[j] + drift * u[j]
        if average:
            coef[:] = mean / indices.shape[1]
        else:
            for j in range(n):
                coef[j] = size * z[j] + drift * u[j]
