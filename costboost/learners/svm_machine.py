"""The fitted function of a weighted SVM, and the three forms in which its training rows are kept."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.kernels import svm as kernels
from costboost.kernels.svm_cholesky import factor_gram
from costboost.learners.svm_map import Kernel, Landmarks, Scaler
from costboost.learners.svm_solve import (
    Precision,
    Solution,
    Task,
    descend_gram,
    descend_rows,
    solve_gram,
    solve_rows,
)

__all__ = ["Columns", "Features", "Machine", "Pairs", "TrainingRows"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_FEW_COLUMNS = 200


@dataclass(frozen=True)
class Machine:
    """f(x): linear in scaled columns, or a sum of kernels.

    Parameters
    ----------
    scaler : Scaler or None
        None: rows are given as kernel values with the training rows.
    kernel : Kernel or None
        None: linear, or kernel values given.
    vectors : ndarray of shape (m, d) or None
        Scaled rows whose kernels are added. Machines fitted on the same rows share one array.
    coef : ndarray
        Linear: of shape (d,), or (d + 1,) with the intercept last. Kernel: of shape (m,).
    intercept : float
        Of a kernel machine.
    """

    scaler: Scaler | None
    kernel: Kernel | None
    vectors: Floats | None
    coef: Floats
    intercept: float = 0.0

    def scores(self, X: Floats) -> Floats:
        """(n,): f of each row, whatever the other rows."""
        if self.scaler is None:
            return _score_gram(X, self)
        if self.kernel is None or self.vectors is None:
            return _score_rows(self.scaler.transform(X, len(self.coef) > X.shape[1]), self)
        return self.kernel.scores(self.scaler.transform(X), self.vectors, self.coef, self.intercept)


def _score_rows(rows: Floats, machine: Machine) -> Floats:
    scores = np.empty(len(rows))
    kernels.score_rows(rows, machine.coef, machine.intercept, scores)
    return scores


def _score_gram(gram: Floats, machine: Machine) -> Floats:
    scores = np.empty(len(gram))
    kernels.score_gram(gram, machine.coef, machine.intercept, scores)
    return scores


class TrainingRows(Protocol):
    """Training rows in the form their solvers want."""

    @property
    def cells(self) -> int:
        """Numbers that a pass over the rows reads."""
        ...

    def solve(self, task: Task, start: Floats, precision: Precision) -> Solution:
        """Minimise exactly."""
        ...

    def descend(
        self, task: Task, eta: float | None, indices: Indices, *, average: bool, reduced: bool
    ) -> Floats:
        """Minimise by stochastic steps; return weights."""
        ...

    def machine(self, weights: Floats) -> Machine:
        """Make the function of these weights."""
        ...

    def scores(self, machine: Machine) -> Floats:
        """(n,): what the machine says of the training rows, equal to its `scores` to the bit."""
        ...

    def norm(self, weights: Floats, scores: Floats) -> float:
        """‖w‖² in the space in which f is linear."""
        ...


@dataclass(frozen=True)
class Columns:
    """Scaled columns of a linear machine."""

    rows: Floats
    scaler: Scaler

    @property
    def cells(self) -> int:
        """Numbers that a pass over the rows reads."""
        return self.rows.size

    def solve(self, task: Task, start: Floats, precision: Precision) -> Solution:
        """Minimise exactly."""
        return solve_rows(self.rows, task, start, precision)

    def descend(
        self, task: Task, eta: float | None, indices: Indices, *, average: bool, reduced: bool
    ) -> Floats:
        """Minimise by stochastic steps."""
        return descend_rows(self.rows, task, eta, indices, average=average, reduced=reduced)

    def machine(self, weights: Floats) -> Machine:
        """Make the function of these weights."""
        return Machine(self.scaler, None, None, weights)

    def scores(self, machine: Machine) -> Floats:
        """Score the training rows."""
        return _score_rows(self.rows, machine)

    def norm(self, weights: Floats, scores: Floats) -> float:  # noqa: ARG002
        """Squared length of the weights."""
        return float(kernels.dot(weights, weights))


@dataclass(frozen=True)
class Pairs:
    """Kernel of all pairs of training rows; `vectors` and `scaler` are None if it came from the user."""

    gram: Floats
    shift: float
    scaler: Scaler | None = None
    kernel: Kernel | None = None
    vectors: Floats | None = None

    @property
    def cells(self) -> int:
        """Numbers that a pass over the rows reads."""
        return self.gram.size

    def solve(self, task: Task, start: Floats, precision: Precision) -> Solution:
        """Minimise exactly."""
        if self._factor is not None:
            start = solve_rows(self._factor, task, start, precision).dual
        return solve_gram(self.gram, self.shift, task, start, precision)

    @cached_property
    def _factor(self) -> Floats | None:
        """Columns whose inner products are the kernel, if few suffice: the walk over them is far faster."""
        most = min(_FEW_COLUMNS, len(self.gram) // 2)
        factor = np.zeros((len(self.gram), most))
        rank = int(factor_gram(self.gram, self.shift, 1e-13, factor))
        return np.ascontiguousarray(factor[:, :rank]) if rank >= 0 else None

    def descend(
        self, task: Task, eta: float | None, indices: Indices, *, average: bool, reduced: bool
    ) -> Floats:
        """Minimise by stochastic steps."""
        return descend_gram(self.gram, self.shift, task, eta, indices, average=average, reduced=reduced)

    def machine(self, weights: Floats) -> Machine:
        """Make the function of these weights."""
        intercept = self.shift * float(kernels.dot(weights, np.ones(len(weights))))
        return Machine(self.scaler, self.kernel, self.vectors, weights, intercept)

    def scores(self, machine: Machine) -> Floats:
        """Score the training rows."""
        return _score_gram(self.gram, machine)

    def norm(self, weights: Floats, scores: Floats) -> float:
        """Squared length of the weights."""
        return float(kernels.dot(weights, scores))


@dataclass(frozen=True)
class Features:
    """Landmark features of rows too many for all pairs; linear solvers run on them.

    Their scores are computed from the kernels again: the features would give them with other last digits.
    """

    features: Floats
    rows: Floats
    landmarks: Landmarks
    scaler: Scaler

    @property
    def cells(self) -> int:
        """Numbers that a pass over the rows reads."""
        return self.features.size

    def solve(self, task: Task, start: Floats, precision: Precision) -> Solution:
        """Minimise exactly."""
        return solve_rows(self.features, task, start, precision)

    def descend(
        self, task: Task, eta: float | None, indices: Indices, *, average: bool, reduced: bool
    ) -> Floats:
        """Minimise by stochastic steps."""
        return descend_rows(self.features, task, eta, indices, average=average, reduced=reduced)

    def machine(self, weights: Floats) -> Machine:
        """Make the function of these weights."""
        m = len(self.landmarks.vectors)
        coef = self.landmarks.expansion(weights[:m])
        intercept = float(weights[m]) if len(weights) > m else 0.0
        return Machine(self.scaler, self.landmarks.kernel, self.landmarks.vectors, coef, intercept)

    def scores(self, machine: Machine) -> Floats:
        """Score the training rows."""
        return self.landmarks.kernel.scores(
            self.rows, self.landmarks.vectors, machine.coef, machine.intercept
        )

    def norm(self, weights: Floats, scores: Floats) -> float:  # noqa: ARG002
        """Squared length of the weights."""
        return float(kernels.dot(weights, weights))
