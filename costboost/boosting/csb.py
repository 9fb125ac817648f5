"""CSB0, CSB1, CSB2: weights of mistakes are multiplied by their costs in every round.

Ting, Zheng: Boosting trees for cost-sensitive classifications, ECML 1998 (CSB0, CSB1). Ting: A comparative
study of cost-sensitive boosting algorithms, ICML 2000 (CSB2). Written from the common literature.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import Cost, LearningRate, Patience, Rounds, ValidationFraction
from costboost.boosting._one_sided import WatchedBooster
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, Round, Rule, StopReason, half_log_odds
from costboost.kernels.fixed_point import total

__all__ = ["CSBClassifier"]

Variant: TypeAlias = Literal[0, 1, 2]

#: Costs may differ by more, but products of a weight and such a ratio must stay finite.
_LARGEST_RATIO = 1e100


@dataclass
class CSBRule(Rule):
    """``D_1 ∝ c``; ``r = Σ D y h``; ``α = ν · ½ ln((1+r)/(1-r))``; ``D ∝ C D g``.

    C is 1 for a right answer and c for a wrong one; g is 1 (CSB0), ``exp(-y h)`` (CSB1) or ``exp(-α y h)``
    (CSB2).

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    weights : ndarray of shape (n,)
        The user's.
    cost : ndarray of shape (n,)
        At least 1, or 0 for rows that cost nothing.
    """

    y: Floats
    weights: Floats
    cost: Floats
    variant: Variant = 2
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.weights * self.cost

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        error = total(weights[agreement < 0])
        r = 1.0 - 2.0 * error
        if r <= EPSILON:
            return "edge_not_positive"
        alpha = self.learning_rate * half_log_odds(error)
        step = (0.0, 1.0, alpha)[self.variant]
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        priced = weights * np.where(agreement > 0, 1.0, self.cost)
        return Round(alpha, error, -step * agreement, weights=priced, stop=stop, values={"r": r})


class CSBClassifier(WatchedBooster):
    """CSB0, CSB1 and CSB2 of Ting and Zheng: each wrong answer also multiplies the row's weight by its cost.

    Costs compound: a row got wrong in t rounds carries its cost to the power t. Works with cost ratios near
    1 or few rounds. With a ratio of 5 or more and 50 stumps the vote often collapses to the dear class (mean
    G-mean of 0.3 to 0.5; normalised cost of CSB2 on ten imbalanced sets 0.77, of plain AdaBoost 0.41, of
    CGAda 0.29), about which the fit warns. With equal costs CSB2 is AdaBoost. More than two classes: each
    against the rest. Written from the common literature, without the papers at hand.

    Parameters
    ----------
    variant : {0, 1, 2}, default 2
        What multiplies the weights besides the cost: nothing, ``exp(-y h)``, or ``exp(-α y h)``.
    decision : {"expected_cost", "sign"}, default "expected_cost"
        Two classes: the positive one where its votes times the cost of a miss exceed the votes against it
        times the cost of a false alarm (Ting's rule), or where it has more votes. Per-row costs enter by
        their class means.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. Per-row costs are divided by the smallest
    positive one.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = CSBClassifier(n_estimators=3, cost_fn=2.0).fit(X, y)
    >>> model.predict(X).tolist()
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
        variant: Variant = 2,
        decision: Literal["expected_cost", "sign"] = "expected_cost",
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
        self.decision = decision

    def _rule(self, problem: Problem) -> Rule:
        cost = problem.cost
        least = float(cost[(cost > 0) & (problem.weights > 0)].min())
        relative = np.minimum(cost, _LARGEST_RATIO * least) / least
        rule = CSBRule(problem.sign, problem.weights, relative, self.variant, self.learning_rate)
        return self._watched(rule, problem)

    def _threshold(self, problem: Problem) -> float:
        # With h in {-1, +1} the votes W₊ for and W₋ against satisfy W₊ + W₋ = Σα and W₊ - W₋ = F, hence
        #     fn W₊ > fp W₋  ⇔  fn (Σα + F) > fp (Σα - F)  ⇔  F > Σα (fp - fn)/(fp + fn).
        if self.decision == "sign":
            return 0.0
        negatives, positives = problem.class_means()
        return float(self.estimator_weights_.sum() * (negatives - positives) / (negatives + positives))
