"""AdaUBoost: an exponential loss whose slope differs between the classes.

Karakoulas, Shawe-Taylor: Optimizing classifiers for imbalanced training sets, NIPS 1998. Written from the
common literature.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

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
from costboost.boosting._rounds import EPSILON, Round, Rule, StopReason, half_log_odds
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = ["AdaUBoostClassifier"]

#: Votes are sought up to the first, to within the second.
_LARGEST, _WIDTH = 16.0, 1e-12


@dataclass
class AdaUBoostRule(Rule):
    """``α = ν · argmin_a Σ D exp(-a b y h)``, ``D ∝ D exp(-α b y h)``, with h in {-1, +1}.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        The user's weights.
    v : float in (0, 1]
        b of the negatives; that of the positives is 1.
    """

    y: Floats
    initial: Floats
    v: float = 1.0
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        slope = np.where(self.y > 0, 1.0, self.v)
        # With h in {-1, +1} the loss depends on four sums of D: right and wrong answers of either class.
        right, wrong = (
            [total(weights[(agreement == answer) & (self.y == sign)]) for sign in (1.0, -1.0)]
            for answer in (1.0, -1.0)
        )
        vote = best_vote((right[0], right[1]), (wrong[0], wrong[1]), self.v)
        if vote is None:
            return "edge_not_positive"
        alpha, error = self.learning_rate * vote, wrong[0] + wrong[1]
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        return Round(alpha, error, -alpha * slope * agreement, stop=stop)

    def kinds(self) -> tuple[str, ...] | None:
        return ("y",)


def best_vote(right: tuple[float, float], wrong: tuple[float, float], v: float) -> float | None:
    """``argmin_a R₊ e^-a + W₊ e^a + R₋ e^-va + W₋ e^va`` over [0, 16]; None if it lies at 0.

    Parameters
    ----------
    right, wrong : pairs of float
        Weights of the right and of the wrong answers: of the positives, of the negatives.
    v : float
    """

    def slope(a: float) -> float:
        return (
            wrong[0] * math.exp(a)
            - right[0] * math.exp(-a)
            + v * (wrong[1] * math.exp(v * a) - right[1] * math.exp(-v * a))
        )

    if slope(0.0) >= -EPSILON:
        return None
    if v == 1.0:
        return half_log_odds(wrong[0] + wrong[1])  # AdaBoost, whose minimum is known
    low, high = 0.0, _LARGEST
    while high - low > _WIDTH:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return (low + high) / 2


class AdaUBoostClassifier(CostSensitiveBooster):
    """AdaUBoost of Karakoulas and Shawe-Taylor: minimises ``Σ exp(-b y F)``, b being smaller for negatives.

    Costs never reach the first weights; they only flatten the loss of the class whose mistakes are cheap. A
    first hypothesis that names the negatives throughout, as stumps do where they are many, ends the fit
    before it began. The positive class is taken to be the dear one: if negatives cost more, v is 1 and the
    booster is AdaBoost. For minimal expected cost CGAda or a calibrated AdaBoost is the better founded choice
    (Nikolaou et al. 2016). More than two classes: each against the rest. Written from the common literature,
    without the paper at hand.

    Parameters
    ----------
    v : float in (0, 1], optional
        b of the negatives; mean cost of the negatives over that of the positives, at most 1, if left out.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. Votes are sought in [0, 16].

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> AdaUBoostClassifier(n_estimators=3, cost_fn=4.0).fit(X, y).predict(X).tolist()
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
        v: Annotated[float, Range(exclusive_minimum=0, maximum=1)] | None = None,
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
        self.v = v

    def _rule(self, problem: Problem) -> Rule:
        v = _relative_cost(problem) if self.v is None else self.v
        return AdaUBoostRule(problem.sign, problem.weights, float(v), self.learning_rate)


def _relative_cost(problem: Problem) -> float:
    """Mean cost of the negatives over that of the positives, in (0, 1]."""
    negatives, positives = problem.class_means()
    return max(EPSILON, negatives / positives) if negatives < positives else 1.0
