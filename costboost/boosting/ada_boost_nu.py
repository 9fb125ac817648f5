"""AdaBoost*_ν: AdaBoost that ends within ν of the largest minimum margin.

Rätsch, Warmuth: Efficient margin maximizing with boosting, J. Machine Learning Research 6 (2005), 2131-2152.
Written from the common literature.
"""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.boosting._base import (
    Cost,
    CostSensitiveBooster,
    LearningRate,
    Patience,
    Rounds,
    ValidationFraction,
)
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, NO_BETTER, Round, Rule, StopReason
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = ["AdaBoostNuClassifier"]


@dataclass
class AdaBoostNuRule(Rule):
    """``γ = Σ D y h``, ``ρ = min γ - ν`` over the rounds so far, h in {-1, +1}.

    ``α = ½ ln((1+γ)/(1-γ)) - ½ ln((1+ρ)/(1-ρ))``; ``D ∝ D_1 exp(-y F)``, which is AdaBoost's update without
    its accumulated underflow. A perfect hypothesis alone is the vote.
    """

    y: Floats
    initial: Floats
    nu: float = 0.1
    learning_rate: float = 1.0
    perfect: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.least_edge = 1.0
        self.exponent = np.zeros(len(self.y))  # -y F

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        edge = total(weights * agreement)
        if edge <= EPSILON:
            return NO_BETTER
        error = total(weights[agreement < 0])
        if error <= EPSILON:
            self.perfect = True
            return Round(1.0, error, exponent=None, stop="perfect", values={"gamma": edge})
        self.least_edge = min(self.least_edge, edge)
        rho = self.least_edge - self.nu
        alpha = self.learning_rate * (_half_log_ratio(edge) - _half_log_ratio(rho))
        self.exponent = self.exponent - alpha * agreement
        rise, fall = libm.exp([alpha, -alpha]).tolist()  # large learning rates overflow to inf
        values = {"gamma": edge, "rho": rho, "Z": (1.0 - error) * fall + error * rise}
        return Round(alpha, error, self._shifted(), weights=self.initial, values=values)

    def final_votes(self, alphas: list[float]) -> list[float]:
        return [0.0] * (len(alphas) - 1) + [1.0] if self.perfect else alphas

    def _shifted(self) -> Floats:
        """-y F less its maximum, lest all weights come to lie at the end of float64."""
        shifted: Floats = self.exponent - self.exponent[self.initial > 0].max()
        return shifted


def _half_log_ratio(edge: float) -> float:
    clipped = min(max(edge, EPSILON - 1.0), 1.0 - EPSILON)
    return 0.5 * math.log((1.0 + clipped) / (1.0 - clipped))


class AdaBoostNuClassifier(CostSensitiveBooster):
    """AdaBoost*_ν of Rätsch and Warmuth: the minimum margin comes within ν of the largest possible.

    Each vote is AdaBoost's less what would suffice for the margin ρ aimed at. If the weak learner always
    finds a best hypothesis, ``2 ln(n)/ν²`` rounds are enough. Works where the classes can be told apart
    nearly without error; a hard margin is not robust to wrong labels: on noisy rows prefer SoftBoost,
    LPBoost or AdaBoost with a calibrator. Costs enter neither training nor prediction; they only decide
    which constant is predicted when no hypothesis is better than chance. A round costs one fit of the weak
    learner and O(n). More than two classes: each against the rest. Written from the common literature,
    without the paper at hand.

    Parameters
    ----------
    nu : float in (0, 1), default 0.1
        How far from the largest minimum margin the vote may end. Smaller takes more rounds.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. A hypothesis that is never wrong becomes the
    whole vote: those before it keep a weight of 0. Margins are ``y F / Σα``; the score is no log-odds.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 0, 0]
    >>> AdaBoostNuClassifier(n_estimators=50).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 0, 0]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        nu: Annotated[float, Range(exclusive_minimum=0, exclusive_maximum=1)] = 0.1,
        learning_rate: LearningRate = 1.0,
        cost_fn: Cost = 1.0,
        cost_fp: Cost = 1.0,
        cost_tp: Cost = 0.0,
        cost_tn: Cost = 0.0,
        cost_matrix: CostsOfMistakes = None,
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
        self.nu = nu

    def _rule(self, problem: Problem) -> Rule:
        return AdaBoostNuRule(problem.sign, problem.weights, self.nu, self.learning_rate)
