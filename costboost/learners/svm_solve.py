"""Solvers of the weighted SVM over explicit rows and over a kernel matrix."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costboost.kernels import svm as kernels
from costboost.kernels import svm_dual, svm_steps, svm_vertex

__all__ = ["Precision", "Solution", "Task", "descend_gram", "descend_rows", "solve_gram", "solve_rows"]

Floats = NDArray[np.float64]

_BLOCKS = (8, 16, 32)  # passes over the rows between looks at the duality gap, the last one repeated
_PATIENCE = 100  # further passes that coordinate ascent may seem to need before the walk is tried
_FINE = 1e-6  # for a gap below this the walk is tried anyway
_LEAST_GAP = 1e-16  # less is rounding
_WALK = 40  # steps of a walk for each column
_MOST_COLUMNS = 256  # up to here the walk is worth its triangular systems
_MOST_PAIRS = 2000  # up to so many rows many columns are replaced by inner products
_NEWTON_NEAR = 1e-2  # a duality gap at which the free rows of a kernel machine are nearly known


@dataclass(frozen=True)
class Task:
    """One weighted problem: ½‖w‖² − λ1 Σ v_i m_i + λ2 Σ v_i max(0, 1 − m_i), m_i = y_i f(x_i).

    Parameters
    ----------
    sign : ndarray of shape (n,)
        y_i, +1 or -1.
    importance : ndarray of shape (n,), >= 0
        v_i = n D_i μ_i.
    lambda1, lambda2 : float, >= 0
    """

    sign: Floats
    importance: Floats
    lambda1: float
    lambda2: float

    @property
    def lower(self) -> Floats:
        """Lower bounds of the dual variables, λ1 v."""
        return self.lambda1 * self.importance

    @property
    def upper(self) -> Floats:
        """Upper bounds of the dual variables, (λ1 + λ2) v."""
        return self.lower + self.lambda2 * self.importance

    def objective(self, scores: Floats, norm: float) -> float:
        """F of eq. (6), given the training scores and ‖w‖²."""
        loss: float = svm_dual.primal_loss(self.sign * scores, self.lower, self.upper)
        return loss + norm / 2

    def step(self, norms: Floats) -> float:
        """The step of ``eta="auto"``: 1 / ((λ1 + λ2) mean(v_i ‖x_i‖²)), or 0 where no row pulls."""
        pull = (self.lambda1 + self.lambda2) * float(np.mean(self.importance * norms))
        return 1.0 / pull if pull > 0 else 0.0


@dataclass(frozen=True)
class Precision:
    """Relative duality gap to reach, and how many passes over the rows it may take."""

    tol: float
    passes: int


@dataclass(frozen=True)
class Solution:
    """A minimum found.

    Parameters
    ----------
    weights : ndarray
        Of the columns, or of the training rows' kernels.
    dual : ndarray of shape (n,)
        Where the next, similar task may start.
    gap : float
        (F(w) − dual) / max(|F(w)|, |dual|): F(w) is within this share of the minimum.
    passes : int
        Over the rows.
    """

    weights: Floats
    dual: Floats
    gap: float
    passes: int


def _gap(primal: float, dual: float) -> float:
    scale = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / scale if scale > 0 else 0.0


def _passes_left(before: float, gap: float, passes: int, tol: float) -> float:
    """Passes until the gap is reached, if it keeps falling as in the last ones."""
    if gap <= tol:
        return 0.0
    fall = math.log(before / gap) if before < math.inf else 0.0
    return passes * math.log(gap / tol) / fall if fall > 0 else math.inf


class _RowsAscent:
    """Coordinate ascent over explicit rows, with the best weights and the best bound met so far."""

    def __init__(self, rows: Floats, task: Task, start: Floats) -> None:
        self.rows, self.task = rows, task
        self.lower, self.upper = task.lower, task.upper
        self.norms = _norms(rows)
        self.dual = np.clip(start, self.lower, self.upper)
        self.weights = np.zeros(rows.shape[1])
        svm_dual.combine_rows(rows, task.sign, self.dual, self.weights)
        self.order = np.arange(len(rows))
        self.state = np.uint64(88172645463325252)
        self.best, self.least, self.most = self.weights, np.inf, -np.inf
        self.blocks = self.passes = 0

    @property
    def gap(self) -> float:
        return _gap(self.least, self.most) if self.least < np.inf else np.inf

    def ascend(self, tol: float) -> float:
        """Make some passes; return how many more the gap seems to need."""
        before, passes = self.gap, _BLOCKS[min(self.blocks, len(_BLOCKS) - 1)]
        self.state = np.uint64(
            svm_dual.ascend_rows(
                self.rows,
                self.task.sign,
                self.lower,
                self.upper,
                self.norms,
                self.dual,
                self.weights,
                self.order,
                passes,
                self.state,
            )
        )
        self.blocks, self.passes = self.blocks + 1, self.passes + passes
        self._bound(self.dual, self.weights)
        self._offer(self.weights)
        return _passes_left(before, self.gap, passes, max(tol, _LEAST_GAP))

    def walk(self) -> None:
        """Go to the exact minimum along creases; keep the weights reached even if it is not certain."""
        weights = self.best.copy()
        dual = self.dual.copy()
        steps = _WALK * (min(self.rows.shape) + 10)
        task = self.task
        if svm_vertex.descend_to_vertex(self.rows, task.sign, self.lower, self.upper, dual, weights, steps):
            self.dual = dual
            svm_dual.combine_rows(self.rows, task.sign, dual, self.weights)
            self._bound(dual, self.weights)
        self._offer(weights)

    def _bound(self, dual: Floats, weights: Floats) -> None:
        self.most = max(self.most, svm_dual.dual_value(dual, self.lower, kernels.dot(weights, weights)))

    def _offer(self, weights: Floats) -> None:
        scores = np.empty(len(self.rows))
        kernels.score_rows(self.rows, weights, 0.0, scores)
        value = self.task.objective(scores, kernels.dot(weights, weights))
        if value < self.least:
            self.best, self.least = weights.copy(), value


def _norms(rows: Floats) -> Floats:
    norms = np.empty(len(rows))
    kernels.squared_norms(rows, norms)
    return norms


def solve_rows(rows: Floats, task: Task, start: Floats, precision: Precision) -> Solution:
    """Minimise eq. (6) over weights of columns.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    task : Task
    start : ndarray of shape (n,)
        Dual point to start from; clipped into the boxes of the task.
    precision : Precision

    Returns
    -------
    Solution
        With weights of shape (d,).
    """
    n, d = rows.shape
    if n <= _MOST_PAIRS and d > min(n, _MOST_COLUMNS):
        return _solve_by_pairs(rows, task, start, precision)
    ascent = _RowsAscent(rows, task, start)
    may_walk, walk_at = d <= _MOST_COLUMNS, sum(_BLOCKS[:2])
    enough = _LEAST_GAP if may_walk and precision.tol < _FINE else precision.tol
    while ascent.passes < precision.passes and ascent.gap > enough:
        left = ascent.ascend(precision.tol)
        if may_walk and ascent.passes >= walk_at and (precision.tol < _FINE or left > _PATIENCE):
            ascent.walk()
            walk_at, enough = 4 * ascent.passes, precision.tol
    return Solution(ascent.best, ascent.dual, ascent.gap, ascent.passes)


def _solve_by_pairs(rows: Floats, task: Task, start: Floats, precision: Precision) -> Solution:
    gram = np.empty((len(rows), len(rows)))
    kernels.fill_products(rows, gram)
    solution = solve_gram(gram, 0.0, task, start, precision)
    weights = np.zeros(rows.shape[1])
    svm_dual.combine_rows(rows, task.sign, solution.dual, weights)
    return replace(solution, weights=weights)


def solve_gram(gram: Floats, shift: float, task: Task, start: Floats, precision: Precision) -> Solution:
    """Minimise eq. (7) over coefficients of the training rows' kernels.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel of the training rows.
    shift : float
        Added to the kernel: 1 for an intercept.
    task : Task
    start : ndarray of shape (n,)
        Dual point to start from; clipped into the boxes of the task.
    precision : Precision

    Returns
    -------
    Solution
        With weights of shape (n,): b_i y_i.
    """
    n, lower, upper = len(gram), task.lower, task.upper
    dual = np.clip(start, lower, upper)
    score, gap, taken = np.empty(n), np.inf, 0
    steps = max(n // 4, 10)
    while taken < precision.passes * n:
        kernels.score_gram(gram, dual * task.sign, shift * float(kernels.dot(dual, task.sign)), score)
        gap = _gram_gap(task, dual, score)
        if gap <= precision.tol:
            break
        taken += steps
        if gap <= _NEWTON_NEAR:
            free = np.flatnonzero((dual > lower) & (dual < upper))
            svm_dual.finish_gram(gram, shift, task.sign, lower, upper, dual, free, score)
        svm_dual.ascend_gram(gram, shift, task.sign, lower, upper, dual, score, steps)
    return Solution(dual * task.sign, dual, gap, taken // n + 1)


def _gram_gap(task: Task, dual: Floats, score: Floats) -> float:
    norm = float(kernels.dot(dual * task.sign, score))
    return _gap(task.objective(score, norm), float(svm_dual.dual_value(dual, task.lower, norm)))


def descend_rows(
    rows: Floats, task: Task, eta: float | None, indices: NDArray[np.int64], *, average: bool, reduced: bool
) -> Floats:
    """Stochastic steps on eq. (6) from w = 0.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    task : Task
    eta : float or None
        Step of the first epoch, at most n/2; epoch s (from 0) uses eta / (1 + s). None: `Task.step`.
    indices : ndarray of shape (epochs, steps), int64
        The row of each step.
    average : bool
        Each epoch ends at the mean of its iterates, else at the last one.
    reduced : bool
        With reduced variance (SVRG), else plain (SGD).

    Returns
    -------
    ndarray of shape (d,)
    """
    weights = np.zeros(rows.shape[1])
    first = min(task.step(_norms(rows)) if eta is None else eta, len(rows) / 2)
    svm_steps.step_rows(
        rows,
        task.sign,
        task.importance,
        task.lambda1,
        task.lambda2,
        first,
        indices,
        average,
        reduced,
        weights,
    )
    return weights


def descend_gram(
    gram: Floats,
    shift: float,
    task: Task,
    eta: float | None,
    indices: NDArray[np.int64],
    *,
    average: bool,
    reduced: bool,
) -> Floats:
    """Stochastic steps on eq. (7) from a = 0, in the metric of the kernel's space.

    Parameters are those of :func:`solve_gram` and :func:`descend_rows`.

    Returns
    -------
    ndarray of shape (n,)
    """
    coef = np.zeros(len(gram))
    first = min(task.step(np.diagonal(gram) + shift) if eta is None else eta, len(gram) / 2)
    svm_steps.step_gram(
        gram,
        shift,
        task.sign,
        task.importance,
        task.lambda1,
        task.lambda2,
        first,
        indices,
        average,
        reduced,
        coef,
    )
    return coef
