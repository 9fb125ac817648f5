"""AdaC1, AdaC2, AdaC3: the cost inside the exponent, outside it, or both; AdaC2.M1 for many classes.

Sun, Kamel, Wong, Wang: Cost-sensitive boosting for classification of imbalanced data, Pattern Recognition 40
(2007). Sun, Kamel, Wang: Boosting for learning multiple classes with imbalanced class distribution, ICDM
2006 (AdaC2.M1). Written from the common literature.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import Cost, LearningRate, Patience, Rounds, ValidationFraction
from costboost.boosting._one_sided import WatchedBooster
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, Round, Rule, StopReason, half_log_odds
from costboost.kernels.fixed_point import total

__all__ = ["AdaCClassifier"]

Variant: TypeAlias = Literal[1, 2, 3]


def _half_log_ratio(above: float, below: float) -> float | None:
    """``½ ln(above/below)``, the lower clipped, at most AdaBoost's largest vote; None if not positive."""
    below = max(below, EPSILON)
    if above - below <= EPSILON * (above + below):
        return None
    return min(0.5 * math.log(above / below), half_log_odds(0.0))


@dataclass
class AdaCRule(Rule):
    """Sums over right (R) and wrong (W) answers, with costs C in [0, 1] and ``S = Σ C D``.

    ===== ========================================================= =================
    form  α / ν                                                     D ∝
    ===== ========================================================= =================
    AdaC1 ``½ ln((1 + Σ_R CD - Σ_W CD)/(1 - Σ_R CD + Σ_W CD))``     D exp(-α C y h)
    AdaC2 ``½ ln(Σ_R CD / Σ_W CD)``                                 C D exp(-α y h)
    AdaC3 ``½ ln((S + Σ_R C²D - Σ_W C²D)/(S - Σ_R C²D + Σ_W C²D))`` C D exp(-α C y h)
    ===== ========================================================= =================

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        The user's weights.
    cost : ndarray of shape (n,), in [0, 1]
    """

    y: Floats
    initial: Floats
    cost: Floats
    variant: Variant = 1
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement, priced = self.y * response, self.cost * weights
        vote = _half_log_ratio(*self._ratio(priced, agreement))
        if vote is None:
            return "edge_not_positive"
        alpha, error = self.learning_rate * vote, total(weights[agreement < 0])
        exponent = -alpha * agreement * (1.0 if self.variant == 2 else self.cost)
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        return Round(alpha, error, exponent, weights=weights if self.variant == 1 else priced, stop=stop)

    def _ratio(self, priced: Floats, agreement: Floats) -> tuple[float, float]:
        if self.variant == 2:
            return total(priced[agreement > 0]), total(priced[agreement < 0])
        if self.variant == 1:
            whole, edge = 1.0, total(priced * agreement)
        else:
            whole, edge = total(priced), total(self.cost * priced * agreement)
        return whole + edge, whole - edge


@dataclass
class AdaC2M1Rule(Rule):
    """``α = ν · (ln(Σ_R CD / Σ_W CD) + ln(K-1))``, ``D ∝ C D exp(α 1[h ≠ y])``.

    ``ln(K-1)``, which is 0 for two classes, asks of a hypothesis to be better than a guess among K rather
    than right for half of the cost. For two classes α is twice that of AdaC2.
    """

    codes: NDArray[np.uint16]
    n_classes: int
    initial: Floats
    cost: Floats
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        wrong, priced, others = response != self.codes, self.cost * weights, self.n_classes - 1
        right_cost, wrong_cost = total(priced[~wrong]), max(total(priced[wrong]), EPSILON)
        if others * right_cost - wrong_cost <= EPSILON * (others * right_cost + wrong_cost):
            return "edge_not_positive"
        vote = min(math.log(right_cost / wrong_cost), 2.0 * half_log_odds(0.0)) + math.log(others)
        alpha, error = self.learning_rate * vote, total(weights[wrong])
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        return Round(alpha, error, alpha * wrong.astype(np.float64), weights=priced, stop=stop)


class AdaCClassifier(WatchedBooster):
    """AdaC1, AdaC2 and AdaC3 of Sun, Kamel, Wong and Wang, which put the cost into AdaBoost's update.

    The first hypothesis is trained without costs and judged with them: one that names the cheap class
    throughout, as stumps do where that class is large, ends the fit before it began. In AdaC2 and AdaC3
    costs compound: after t rounds a weight holds the cost to the power t, so that with a large ratio the
    cheap class vanishes and the vote collapses to the dear one (mean G-mean of 0.2 for AdaC2 and 0.1 for
    AdaC3 with 50 stumps and cost ratios of 5 and more), about which the fit warns; they need ratios near 1 or
    few rounds. AdaC1 does not compound. Normalised cost on ten imbalanced sets: AdaC1 0.70, AdaC2 0.93,
    plain AdaBoost 0.41, CGAda 0.29. With equal costs all three are AdaBoost. Written from the common
    literature, without the papers at hand.

    Parameters
    ----------
    variant : {1, 2, 3}, default 1
        The cost inside the exponent, outside it, or both. With more than two classes, 2 votes for classes
        (AdaC2.M1), 1 and 3 tell each from the rest.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. Costs are divided by the largest, so that
    their scale does not matter. No vote exceeds that of a perfect hypothesis of AdaBoost.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> AdaCClassifier(n_estimators=3, cost_fn=2.0, variant=2).fit(X, y).predict(X).tolist()
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
        variant: Variant = 1,
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
        self.variant = variant

    @property
    def _votes_for_classes(self) -> bool:
        return self.variant == 2

    def _rule(self, problem: Problem) -> Rule:
        initial, cost = problem.weights, problem.cost
        largest = cost[initial > 0].max()
        relative = np.minimum(cost, largest) / largest
        if problem.n_classes > 2:
            labels = problem.labels
            rule: Rule = AdaC2M1Rule(labels.codes, problem.n_classes, initial, relative, self.learning_rate)
        else:
            rule = AdaCRule(problem.sign, initial, relative, self.variant, self.learning_rate)
        return rule if self.variant == 1 else self._watched(rule, problem)
