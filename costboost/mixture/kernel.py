"""Logistic regression in the space of an rbf kernel, spanned by a few rows (Nyström)."""

import functools
import threading
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from costboost.ensembles.expansions import Expansions
from costboost.ensembles.mixtures import REACH
from costboost.ensembles.sides import scaled
from costboost.kernels.logistic import logistic_slopes
from costboost.libm import exp

__all__ = ["Kernel"]

Floats = NDArray[np.float64]

#: Directions in which the rows that span the space hardly differ are left out.
_FLAT = 1e-8
#: How many threads a product of matrices is parted among changes its last bits, and so a model; the number is
#: that of the process, so one fit at a time has set it.
_ALONE = threading.Lock()


@dataclass(frozen=True)
class Kernel:
    """Kernel logistic regression on the numbers of a table; categories of more than two levels are left out.

    Parameters
    ----------
    vectors : int
        Rows that span the space (Williams, Seeger 2001).
    most_rows : int
        Rows that the factors are fitted on at most.
    ridge : float
        Half of it times the squared norm is added to the loss, in rows.
    """

    vectors: int = 200
    most_rows: int = 5_000
    ridge: float = 0.1

    def fit(
        self, X: Floats, label: Floats, weights: Floats, categories: Collection[int], rng: np.random.Generator
    ) -> Expansions:
        """Fit an expansion whose clipped sum is the log-odds of label 1; weights of mean 1."""
        d = X.shape[1]
        used = np.array([j not in categories or _is_binary(X[:, j]) for j in range(d)])
        unit = used.astype(np.float64)
        with np.errstate(invalid="ignore"):
            filled = np.where(np.isnan(X), 0.0, X) * unit
            known = ~np.isnan(X)
        count = np.maximum(known.sum(axis=0), 1)
        center = filled.sum(axis=0) / count
        spread = np.sqrt(np.where(known, (filled - center) ** 2, 0.0).sum(axis=0) / count)
        spread = np.where((spread > 0) & used, spread, 1.0)
        center = np.where(used, center, 0.0)
        gamma = 1.0 / max(int(used.sum()), 1)
        rows = rng.permutation(np.flatnonzero(weights > 0))
        own = np.sort(rows[: self.most_rows])
        Z = scaled(X, unit, center, spread)
        vectors = np.unique(Z[np.sort(rows[: self.vectors])], axis=0)
        apart, between = _rbf(vectors, vectors, gamma), _rbf(Z[own], vectors, gamma)
        with _ALONE, _threads().limit(limits=1, user_api="blas"):
            root = _inverse_root(apart)
            mapped = between @ root
        factors, constant = self._factors(mapped, label[own], weights[own])
        return Expansions(
            unit=unit,
            center=center,
            spread=spread,
            vectors=vectors.ravel(),
            coef=root @ factors,
            intercept=np.array([constant]),
            below=np.array([-REACH]),
            above=np.array([REACH]),
            reach=np.array([REACH]),
            output=np.zeros(1, dtype=np.int32),
            constant=np.zeros(1),
            kernel="rbf",
            gamma=gamma,
            degree=1,
            coef0=0.0,
        )

    def _factors(self, mapped: Floats, label: Floats, weights: Floats) -> tuple[Floats, float]:
        levels, slopes = np.empty((len(label), 0), dtype=np.int32), np.empty(mapped.shape[1] + 1)
        numbers = np.ascontiguousarray(mapped)

        def loss(theta: Floats) -> tuple[float, Floats]:
            value = logistic_slopes(numbers, levels, label, weights, theta, slopes)
            free = np.append(0.0, theta[1:])
            return value + 0.5 * self.ridge * float((free * free).sum()), slopes + self.ridge * free

        found = minimize(loss, np.zeros(slopes.size), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
        return found[1:], float(found[0])


@functools.cache
def _threads() -> ThreadpoolController:
    """Look once which libraries have threads: it takes longer than to set their number."""
    return ThreadpoolController()


def _is_binary(codes: Floats) -> bool:
    return bool(np.nanmax(codes, initial=0.0) <= 1.0)


def _rbf(rows: Floats, vectors: Floats, gamma: float) -> Floats:
    distance = np.zeros((len(rows), len(vectors)))
    for own, other in zip(rows.T, vectors.T, strict=True):
        difference = own[:, None] - other
        distance += difference * difference
    return exp(-gamma * distance)


def _inverse_root(kernel: Floats) -> Floats:
    """(m, r): maps kernel values to coordinates whose inner products are those of the kernel."""
    values, directions = np.linalg.eigh(kernel)
    kept = values > _FLAT * values.max(initial=1.0)
    root: Floats = directions[:, kept] / np.sqrt(values[kept])
    return root
