"""AdaBoost, and the two ways to give it costs that its theory supports: at the start, or at the end.

Freund, Schapire: A decision-theoretic generalization of on-line learning and an application to boosting,
J. Comput. Syst. Sci. 55 (1997). Zhu, Zou, Rosset, Hastie: Multi-class AdaBoost, Statistics and Its
Interface 2 (2009). Nikolaou, Edakunni, Kull, Flach, Brown: Cost-sensitive boosting algorithms: do we really
need them?, Machine Learning 104 (2016), where CGAda and AdaMEC are named. Written from the common literature.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import EPSILON, NO_BETTER, Round, Rule, StopReason, half_log_odds
from costboost.decisions import decide
from costboost.kernels.fixed_point import total

__all__ = ["AdaBoostClassifier", "AdaMECClassifier", "CGAdaClassifier"]

#: Keeps the threshold finite where the mistakes of a class cost nothing.
_LEAST_COST = 1e-300


@dataclass
class AdaBoostRule(Rule):
    """``α = ν · ½ ln((1-ε)/ε)``, ``D ∝ D · exp(-α y h)`` with h in {-1, +1}."""

    y: Floats
    initial: Floats
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        error = total(weights[agreement < 0])
        if error >= 0.5 - EPSILON:
            return NO_BETTER
        alpha = self.learning_rate * half_log_odds(error)
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        return Round(alpha, error, exponent=-alpha * agreement, stop=stop)

    def kinds(self) -> tuple[str, ...] | None:
        return ("y",)


@dataclass
class SammeRule(Rule):
    """``α = ν · (ln((1-ε)/ε) + ln(K-1))``, ``D ∝ D · exp(α 1[h ≠ y])`` (Zhu et al. 2009, algorithm 2)."""

    codes: NDArray[np.uint16]
    n_classes: int
    initial: Floats
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        wrong = response != self.codes
        error = total(weights[wrong])
        if error >= 1.0 - 1.0 / self.n_classes - EPSILON:
            return NO_BETTER
        alpha = self.learning_rate * (2.0 * half_log_odds(error) + math.log(self.n_classes - 1))
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        return Round(alpha, error, exponent=alpha * wrong.astype(np.float64), stop=stop)


class AdaBoostClassifier(CostSensitiveBooster):
    """AdaBoost as a baseline: costs enter neither training nor prediction.

    With more than two classes the SAMME form votes for classes. Costs only decide which constant is
    predicted when no hypothesis is better than chance. Parameters and attributes: see `CostSensitiveBooster`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> AdaBoostClassifier(n_estimators=3).fit(X, y).predict(X).tolist()
    [0, 0, 1, 0, 1, 1]
    """

    @property
    def _votes_for_classes(self) -> bool:
        return True

    def _rule(self, problem: Problem) -> Rule:
        initial = self._initial(problem)
        if problem.n_classes > 2:
            return SammeRule(problem.labels.codes, problem.n_classes, initial, self.learning_rate)
        return AdaBoostRule(problem.sign, initial, self.learning_rate)

    def _initial(self, problem: Problem) -> Floats:
        return problem.weights


class CGAdaClassifier(AdaBoostClassifier):
    """AdaBoost started from weights proportional to the cost of each row ("cost-generalised").

    The same as AdaBoost on data in which each row is repeated as often as it costs, and with AdaMEC the
    variant that the theory of boosting supports (Nikolaou et al. 2016). Its score leans to the dear class;
    to compare it with a threshold made of costs, calibrate it first, or the cost is applied twice.
    Parameters and attributes: see `CostSensitiveBooster`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> CGAdaClassifier(n_estimators=1, cost_fn=5.0).fit(X, y).predict(X).tolist()
    [0, 1, 1, 1]
    """

    def _initial(self, problem: Problem) -> Floats:
        return problem.weights * problem.cost


class AdaMECClassifier(AdaBoostClassifier):
    """AdaBoost whose prediction minimises the expected cost (MEC) under its raw link.

    Two classes: positive where ``F > ½ ln(cost_fp / cost_fn)``, with the means of per-row costs. More: the
    decision of least expected cost under the raw link. The link is not calibrated, so a calibrated AdaBoost
    with the same rule usually costs less. Parameters and attributes: see `CostSensitiveBooster`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
    >>> model = AdaMECClassifier(n_estimators=1, cost_fn=9.0).fit(X, y)
    >>> round(model.vote_threshold_, 3), model.predict(X).tolist()
    (-1.099, [1, 1, 1, 1, 1])
    """

    def _read_problem(self, *given: Any) -> Problem:
        problem = super()._read_problem(*given)
        self.class_regrets_ = problem.class_regrets()
        return problem

    def _threshold(self, problem: Problem) -> float:
        negatives, positives = (max(mean, _LEAST_COST) for mean in problem.class_means())
        return 0.5 * math.log(negatives / positives)

    def _named(self, scores: Floats) -> NDArray[Any]:
        if len(self.classes_) == 2 or not self.estimators_:
            return super()._named(scores)
        served = range(len(self.classes_))
        named: NDArray[Any] = self.classes_[
            decide(self._linked(scores), self.class_regrets_, serves=served).label
        ]
        return named
