"""CS-AdaBoost: the error is averaged over the classes, and the update weighs each cell by its cost."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import (
    Cost,
    CostSensitiveBooster,
    LearningRate,
    Patience,
    Rounds,
    ValidationFraction,
)
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, NO_BETTER, Round, Rule, StopReason, half_log_odds
from costboost.kernels.fixed_point import total
from costboost.learners.weak import Sample
from costboost.parameters import Range

__all__ = ["CSAdaBoostClassifier"]

Subset: TypeAlias = Literal["all", "balanced", "bootstrap"] | float
Chances: TypeAlias = Literal["balanced", "literal"]


@dataclass
class CSAdaBoostRule(Rule):
    """The formulas of CS-AdaBoost.

    ``ε_p``, ``ε_n``: weighted error within each class; ``ε = (ε_p + ε_n)/2``; ``α = ν · ½ ln((1-ε)/ε)``;
    ``β_i`` = precision · cost of the positive's cell, or negative predictive value · cost of the negative's
    cell; ``D ∝ D · exp(-α β y h)``.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        The user's weights.
    right, wrong : ndarray of shape (n,), >= 0
        Cost of each row's two cells, as they enter the exponent.
    """

    y: Floats
    initial: Floats
    right: Floats
    wrong: Floats
    learning_rate: float = 1.0
    error: Chances = "balanced"
    confusion: Literal["count", "weighted"] = "count"
    subset: Subset = "all"
    fit_weights: Literal["balanced", "raw"] = "balanced"

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        eps_p, eps_n = (self._class_error(weights, agreement, sign) for sign in (1.0, -1.0))
        eps = (eps_p + eps_n) / 2.0
        if eps >= 0.5 - EPSILON:
            return NO_BETTER
        alpha = self.learning_rate * half_log_odds(eps)
        precision, npv = self._predictive_values(weights, response)
        beta = np.where(self.y > 0, precision, npv) * np.where(agreement > 0, self.right, self.wrong)
        values = {"eps_p": eps_p, "eps_n": eps_n, "precision": precision, "npv": npv, "beta": beta}
        stop: StopReason | None = "perfect" if eps <= EPSILON else None
        return Round(alpha, eps, exponent=-alpha * beta * agreement, stop=stop, values=values)

    def _class_error(self, weights: Floats, agreement: Floats, sign: float) -> float:
        own = self.y == sign
        wrong = total(weights[own & (agreement < 0)])
        return wrong if self.error == "literal" else _share(wrong, total(weights[own]))

    def _predictive_values(self, weights: Floats, response: NDArray[Any]) -> tuple[float, float]:
        counted = weights if self.confusion == "weighted" else self.initial
        hit = self.y * response > 0
        precision, npv = (
            _share(total(counted[hit & side]), total(counted[side])) for side in (response > 0, response < 0)
        )
        return precision, npv

    def sample(self, weights: Floats, rng: np.random.Generator) -> Sample:
        if self.subset == "all":
            return Sample(self._shown(weights, self.y))
        if self.subset == "bootstrap":
            chances = self._shown(weights, self.y)
            rows = rng.choice(len(chances), size=len(chances), p=chances / chances.sum())
            return Sample(np.ones(len(rows)), rows)
        rows = np.sort(
            np.concatenate([rng.choice(own, size, replace=False) for own, size in self._class_sizes()])
        )
        if not weights[rows].any():  # nothing to learn from
            return Sample(self._shown(weights, self.y))
        return Sample(self._shown(weights[rows], self.y[rows]), rows)

    def _shown(self, weights: Floats, y: Floats) -> Floats:
        return _equalized(weights, y) if self.fit_weights == "balanced" else weights

    def _class_sizes(self) -> list[tuple[NDArray[np.intp], int]]:
        """Rows of each class, and how many of them a subset holds."""
        classes = [np.flatnonzero(self.y == sign) for sign in (1.0, -1.0)]
        if self.subset == "balanced":
            least = min(len(own) for own in classes)
            return [(own, least) for own in classes]
        return [(own, max(1, round(float(self.subset) * len(own)))) for own in classes]

    def restart(self) -> Floats | None:
        # A learner that minimises the plain error of uniform weights often names the larger class throughout.
        return _equalized(self.initial, self.y) if self.fit_weights == "raw" else None


def _equalized(weights: Floats, y: Floats) -> Floats:
    """Give both classes half of the weight."""
    positives, negatives = total(weights[y > 0]), total(weights[y < 0])
    if positives == 0.0 or negatives == 0.0:
        return weights
    return weights / (2.0 * np.where(y > 0, positives, negatives))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


class CSAdaBoostClassifier(CostSensitiveBooster):
    """CS-AdaBoost: class-averaged error, and an update weighed by cell costs and predictive values.

    The vote contains no cost, and costs never reach the first weights: in expected cost it trails CGAda and a
    calibrated AdaBoost; use its scores through a calibrator and a decision by expected cost. Rows of a
    class are not made heavier in a round without a true positive (precision 0), a known weakness of the
    rule. More than two classes: each against the rest.

    Parameters
    ----------
    normalize_costs : bool, default True
        Divide the cells by the largest, so that β lies in [0, 1]. False puts the costs as they are into the
        exponent: a cost of 50 then changes a weight by up to e^50 in one round.
    error : {"balanced", "literal"}, default "balanced"
        "literal" does not divide the two class errors by the class weights; then ε never exceeds ½ and nearly
        everything is predicted positive. For comparison with the printed text only.
    confusion : {"count", "weighted"}, default "count"
        Whether precision and negative predictive value count the user's weights or those of boosting.
    subset : {"all", "balanced", "bootstrap"} or float in (0, 1], default "all"
        Rows the weak learner is shown: all; the smaller class and as many of the larger; as many as there
        are, drawn by weight and fitted unweighted; a stratified share.
    fit_weights : {"balanced", "raw"}, default "balanced"
        "raw", as printed, trains the weak learner on D but judges it by the class-averaged error, and soon
        stops. "balanced" shows it weights whose plain error is the class-averaged one.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. Where cells are negative, each row's pair
    of cells is shifted to be at least 0.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> CSAdaBoostClassifier(n_estimators=3, cost_fn=4.0).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 1, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        learning_rate: LearningRate = 1.0,
        cost_fn: Cost = 1.0,
        cost_fp: Cost = 1.0,
        cost_tp: Cost = 0.0,
        cost_tn: Cost = 0.0,
        cost_matrix: CostsOfMistakes = None,
        normalize_costs: bool = True,
        error: Chances = "balanced",
        confusion: Literal["count", "weighted"] = "count",
        subset: Literal["all", "balanced", "bootstrap"]
        | Annotated[float, Range(exclusive_minimum=0, maximum=1)] = "all",
        fit_weights: Literal["balanced", "raw"] = "balanced",
        pos_label: Any = None,
        random_state: Any = None,
        early_stopping: Patience = None,
        validation_fraction: ValidationFraction = 0.1,
        warm_start: bool = False,
        record: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            cost_fn=cost_fn,
            cost_fp=cost_fp,
            cost_tp=cost_tp,
            cost_tn=cost_tn,
            cost_matrix=cost_matrix,
            pos_label=pos_label,
            random_state=random_state,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            warm_start=warm_start,
            record=record,
        )
        self.normalize_costs = normalize_costs
        self.error = error
        self.confusion = confusion
        self.subset = subset
        self.fit_weights = fit_weights

    def _rule(self, problem: Problem) -> Rule:
        right, wrong = _own_cells(problem, self.normalize_costs)
        return CSAdaBoostRule(
            problem.sign,
            problem.weights,
            right,
            wrong,
            self.learning_rate,
            self.error,
            self.confusion,
            self.subset,
            self.fit_weights,
        )


def _own_cells(problem: Problem, normalize: bool) -> tuple[Floats, Floats]:
    """Costs of each row's right and wrong decision: not negative, and at most 1 if they are normalised."""
    pairs = [problem.cells[:, [2, 0]], problem.cells[:, [3, 1]]]  # (right, wrong) of positives, of negatives
    pairs = [pair - np.minimum(pair.min(axis=1, keepdims=True), 0.0) for pair in pairs]
    counted = problem.weights > 0 if len(problem.cells) > 1 else slice(None)  # one line of cells for all rows
    largest = max(float(pair[counted].max()) for pair in pairs) if normalize else 1.0
    positive = problem.sign > 0
    right, wrong = (np.where(positive, pairs[0][:, k], pairs[1][:, k]) / largest for k in (0, 1))
    return right, wrong
