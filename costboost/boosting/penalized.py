"""Penalized AdaBoost: an output counts for less where rows of bad margin contradict it.

Wu, Nagahashi: Penalized AdaBoost: improving the generalization error of Gentle AdaBoost through a margin
distribution, IEICE Transactions on Information and Systems (2015) 1906-1915; as algorithm 1 of Lu, Zhang,
Zhai: 代价敏感惩罚AdaBoost算法的非平衡数据分类 (classification of imbalanced data by cost-sensitive penalized
AdaBoost), 2023, doi 10.16356/j.1005-2615.2023.02.020, eq. (2) to (5), prints it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.boosting._base import Cost, LearningRate, Patience, Rounds, ValidationFraction
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import Rule
from costboost.boosting._two_part import ByPart, ExponentialRule, Outputs, Rows, Tau, TwoPartBooster, lead
from costboost.kernels.elementary import exp_array
from costboost.kernels.fixed_point import total

__all__ = ["PenalizedAdaBoostClassifier"]


@dataclass
class PenalizedRule(ExponentialRule):
    """``U = (W₊ - W₋)(1 - M)`` in each part, M the feedback of the part's rows of the lighter class.

    ``m ∝ exp(-y F/Σ|U|)`` is the feedback of a row: what its margin was before this round, after the resets.
    """

    def outputs(self, masses: ByPart, weights: Floats, first: Rows) -> tuple[Outputs, dict[str, Any]]:  # noqa: ARG002
        m = self.feedback()
        M = self.by_part(m, first)
        one, two = (
            lead(*W) * (1.0 - (feedback[1] if W[0] > W[1] else feedback[0]))
            for W, feedback in zip(masses, M, strict=True)
        )
        return (one, two), {"m": m, "M": np.array(M)}

    def feedback(self) -> Floats:
        """m, of sum 1."""
        raw = self.initial * exp_array(-self.margin())
        return raw / total(raw)


class PenalizedAdaBoostClassifier(TwoPartBooster):
    """Penalized AdaBoost of Wu and Nagahashi: learns from its margins, and lets go of hopeless rows.

    Outputs shrink where rows of bad margin contradict them, and rows of extreme weight that are still got
    wrong start anew with weight 1 in every round, so that single rows cannot take over. Outputs are no
    log-odds: calibrate scores before reading them as probabilities. Costs enter neither training nor
    prediction; they only decide which constant is predicted when no hypothesis tells anything. Over a plain
    SVM, ``estimator=WeightedSVM(solver="sgd")``, it is PADA of Lu, Zhang and Zhai. More than two classes:
    each against the rest.

    Parameters
    ----------
    tau : float > 0, default 50.0
        Rows heavier than the largest weight less 1/tau of the range of weights are reset if their margin is
        negative. At 1 all such rows but the lightest are, at infinity none.
    reset : bool, default True
        False leaves the resets out, as ``tau=inf`` does.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster` and `GentleAdaBoostClassifier`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = PenalizedAdaBoostClassifier(n_estimators=1).fit(X, y)
    >>> model.estimator_values_.round(4).tolist(), model.predict(X).tolist()
    ([[0.2778, -0.3333]], [0, 0, 1, 1, 1, 1])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        tau: Tau = 50.0,
        reset: bool = True,
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
        self.tau = tau
        self.reset = reset

    def _rule(self, problem: Problem) -> Rule:
        return PenalizedRule(
            problem.sign,
            problem.weights,
            self.learning_rate,
            price=np.ones(len(problem.weights)),
            tau=self.tau if self.reset else None,
        )
