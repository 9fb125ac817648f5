"""A weighted SVM whose rows are scaled and mapped once for all rounds of a booster."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from costboost.learners.foreign import Response
from costboost.learners.svm_machine import Columns, Features, Machine, Pairs, TrainingRows
from costboost.learners.svm_map import Kernel, Landmarks, Scaler, variance_of
from costboost.learners.svm_solve import Precision, Task
from costboost.learners.weak import Hypothesis, Labels, Sample
from costboost.parameters import check_parameters

if TYPE_CHECKING:
    from costboost.learners.svm import WeightedSVM

__all__ = ["PreparedSVM"]

Floats = NDArray[np.float64]

#: Up to so many numbers in the training matrix ``tol=None`` solves to the last digits.
_SMALL = 4_000_000
_EXACT, _NEAR = 1e-10, 1e-3


class PreparedSVM:
    """A weighted SVM that has seen its rows: scaled and mapped once, then fitted under many weights.

    Each exact fit starts from the dual point of the one before, clipped into its new box.

    Parameters
    ----------
    estimator : WeightedSVM
    X : ndarray of shape (n, d), float64
    weights : ndarray of shape (n,), float64, >= 0
        The user's weights: columns are standardised under them, and classes are counted by them.
    decision : bool
        Whether the response is f divided by its largest magnitude, else its sign.

    Raises
    ------
    ValueError
        If a parameter of the estimator is out of bounds.
    """

    def __init__(
        self, estimator: "WeightedSVM", X: Floats, weights: Floats, *, decision: bool = False
    ) -> None:
        check_parameters(estimator)
        self.estimator, self.weights, self.decision = estimator, weights, decision
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        self._rows: TrainingRows | None = None
        self._dual = np.zeros(len(X))

    @property
    def response(self) -> Response:
        """How answers are read."""
        return "decision" if self.decision else "sign"

    def fit(self, sample: Sample, labels: Labels, rng: np.random.Generator) -> Hypothesis:
        """Fit under these weights and answer for every training row."""
        own = self.estimator.random_state
        generator = rng if own is None else np.random.default_rng(check_random_state(own).randint(2**31 - 1))
        fitted = clone(self.estimator)
        scores = self.train(fitted, _spread(sample, len(self._X)), labels, self.weights, generator)
        towards = 1.0 if labels.positive == 1 else -1.0
        if self.decision:
            scale = float(np.max(np.abs(scores))) or 1.0
            return Hypothesis(fitted, np.clip(towards * scores / scale, -1.0, 1.0), scale)
        return Hypothesis(fitted, np.where(scores > 0, towards, -towards))

    def train(
        self,
        fitted: "WeightedSVM",
        weights: Floats,
        labels: Labels,
        counts: Floats,
        rng: np.random.Generator,
    ) -> Floats:
        """Fit the estimator given; return its scores of the training rows.

        Parameters
        ----------
        fitted : WeightedSVM
            Receives the fitted attributes.
        weights : ndarray of shape (n,)
            n D_i.
        labels : Labels
        counts : ndarray of shape (n,)
            What n₊ and n₋ sum.
        rng : Generator
        """
        if self._rows is None:
            self._rows = _training_rows(self.estimator, self._X, self.weights, rng)
        rows, sign = self._rows, np.where(labels.codes == 1, 1.0, -1.0)
        task = self._task(sign, weights * _balance(sign, counts, self.estimator.p))
        coef, fitted.gap_, fitted.n_iter_ = self._minimise(rows, task, rng)
        fitted.machine_ = rows.machine(coef)
        scores = rows.scores(fitted.machine_)
        fitted.classes_, fitted.n_features_in_ = labels.classes, self._X.shape[1]
        fitted.objective_ = task.objective(scores, rows.norm(coef, scores))
        fitted.coef_, fitted.intercept_ = _coefficients(fitted.machine_)
        return scores

    def _task(self, sign: Floats, importance: Floats) -> Task:
        lambda2 = self.estimator.lambda2
        if lambda2 is None:
            lambda2 = 0.1 if self.estimator.kernel == "linear" else 1.0
        return Task(sign, importance, float(self.estimator.lambda1), float(lambda2))

    def _minimise(
        self, rows: TrainingRows, task: Task, rng: np.random.Generator
    ) -> tuple[Floats, float, int]:
        chosen = self.estimator
        if chosen.solver == "dual":
            tol = chosen.tol if chosen.tol is not None else (_EXACT if rows.cells <= _SMALL else _NEAR)
            solution = rows.solve(task, self._dual, Precision(tol, chosen.max_iter))
            self._dual = solution.dual
            return solution.weights, solution.gap, solution.passes
        n = len(task.sign)
        indices = rng.integers(0, n, size=(chosen.n_epochs, 2 * n))
        eta = None if chosen.eta == "auto" else float(chosen.eta)
        reduced = chosen.solver == "svrg"
        coef = rows.descend(task, eta, indices, average=chosen.average, reduced=reduced)
        return coef, float("nan"), chosen.n_epochs


def _spread(sample: Sample, n: int) -> Floats:
    """Weights of mean 1 over the rows shown, summed per training row."""
    shown: Floats = sample.weights * (len(sample.weights) / sample.weights.sum())
    if sample.rows is None:
        return shown
    spread = np.zeros(n)
    np.add.at(spread, sample.rows, shown)
    return spread


def _balance(sign: Floats, counts: Floats, p: float) -> Floats:
    """μ: (n₋/n₊)^p for positives, (n₊/n₋)^p for negatives; 1 if a class is absent."""
    positives, negatives = float(counts[sign > 0].sum()), float(counts[sign < 0].sum())
    if p == 0 or positives == 0 or negatives == 0:
        return np.ones(len(sign))
    ratio = math.pow(negatives / positives, p)
    return np.where(sign > 0, ratio, 1.0 / ratio)


def _training_rows(
    chosen: "WeightedSVM", X: Floats, weights: Floats, rng: np.random.Generator
) -> TrainingRows:
    shift = 1.0 if chosen.fit_intercept else 0.0
    if chosen.kernel == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel values of all pairs of rows form a square matrix, not {X.shape}")
        return Pairs(X, shift)
    scaler = Scaler.of(X, weights, chosen.standardize)
    if chosen.kernel == "linear":
        return Columns(scaler.transform(X, chosen.fit_intercept), scaler)
    rows = scaler.transform(X)
    kernel = Kernel(chosen.kernel, _gamma(chosen.gamma, rows, weights), chosen.degree, chosen.coef0)
    if len(rows) <= chosen.exact_rows:
        return Pairs(kernel.gram(rows), shift, scaler, kernel, rows)
    landmarks = Landmarks.of(rows[_drawn(weights, chosen.nystroem_components, rng)], kernel)
    return Features(landmarks.features(rows, chosen.fit_intercept), rows, landmarks, scaler)


def _drawn(weights: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    rows = np.flatnonzero(weights > 0)
    return np.asarray(rng.permutation(rows)[:count])


def _gamma(gamma: str | float, rows: Floats, weights: Floats) -> float:
    """Turn gamma into a number; "scale" takes the variance of all scaled values together."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = int(rows.shape[1])
    if gamma == "auto":
        return 1.0 / d
    variance = variance_of(rows, weights)
    return 1.0 / (d * variance) if variance > 0 else 1.0


def _coefficients(machine: Machine) -> tuple[Floats, float]:
    if machine.kernel is None and machine.scaler is not None:
        d = len(machine.scaler.unit)
        return machine.coef[:d], float(machine.coef[d]) if len(machine.coef) > d else 0.0
    return machine.coef, machine.intercept
