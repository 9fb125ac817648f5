"""Gentle AdaBoost, and its variants with costs and with resets of rows that are got wrong again and again.

Friedman, Hastie, Tibshirani: Additive logistic regression: a statistical view of boosting, Annals of
Statistics 28 (2000) (Gentle AdaBoost; written from the common literature). Wu, Nagahashi: Margin-pruning
Boost (2013), reconstructed from descriptions. Lu, Zhang, Zhai: 代价敏感惩罚AdaBoost算法的非平衡数据分类
(classification of imbalanced data by cost-sensitive penalized AdaBoost), 2023, doi
10.16356/j.1005-2615.2023.02.020, section 3.2, one sentence each (GCADA, MCADA).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.boosting._base import Cost, LearningRate, Patience, Rounds, ValidationFraction
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import Rule
from costboost.boosting._two_part import (
    ByPart,
    CostRatio,
    ExponentialRule,
    Outputs,
    ResetTo,
    Rows,
    Tau,
    TwoPartBooster,
    lead,
    relative_costs,
)

__all__ = [
    "GCADAClassifier",
    "GentleAdaBoostClassifier",
    "MCADAClassifier",
    "MarginPruningBoostClassifier",
]


@dataclass
class GentleRule(ExponentialRule):
    """``U = (W₊ - W₋)/(W₊ + W₋)`` in each part, 0 where it is empty; ``D ∝ C exp(-y F)``.

    W₊ and W₋ are the masses of D of the part's positives and negatives.
    """

    def outputs(self, masses: ByPart, weights: Floats, first: Rows) -> tuple[Outputs, dict[str, Any]]:  # noqa: ARG002
        one, two = (lead(*W) / sum(W) if sum(W) > 0 else 0.0 for W in masses)
        return (one, two), {}


class GentleAdaBoostClassifier(TwoPartBooster):
    """Gentle AdaBoost of Friedman, Hastie and Tibshirani: each part of a split gets its mean label.

    Steps are bounded, so rows that cannot be got right weigh less than in AdaBoost. Costs enter neither
    training nor prediction; they only decide which constant is predicted when no hypothesis tells anything.
    More than two classes: each against the rest. Written from the common literature, without the paper at
    hand; the weak learner is asked for the least weighted error, not for the least squares.

    Notes
    -----
    Parameters and attributes: see `CostSensitiveBooster`; `estimator_values_` of shape (T, 2) holds the
    outputs of the two parts, `estimator_weights_` their mean magnitude.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = GentleAdaBoostClassifier(n_estimators=1).fit(X, y)
    >>> model.estimator_values_.round(4).tolist(), model.predict(X).tolist()
    ([[0.5, -1.0]], [0, 0, 1, 1, 1, 1])
    """

    def _rule(self, problem: Problem) -> Rule:
        price = np.ones(len(problem.weights))
        return GentleRule(problem.sign, problem.weights, self.learning_rate, price=price)


class MarginPruningBoostClassifier(TwoPartBooster):
    """Margin-pruning Boost after Wu and Nagahashi: Gentle AdaBoost that lets go of hopeless rows.

    In every round rows of extreme weight that are still got wrong start anew with weight 1. Costs enter
    neither training nor prediction. More than two classes: each against the rest. A reconstruction of ours
    from a description of one sentence, with the resets of Penalized AdaBoost, not the algorithm as published.

    Parameters
    ----------
    tau : float > 0, default 50.0
        Rows heavier than the largest weight less 1/tau of the range of weights are reset if their margin is
        negative. At 1 all such rows but the lightest are, at infinity none (Gentle AdaBoost).

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster` and `GentleAdaBoostClassifier`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> MarginPruningBoostClassifier(n_estimators=3).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 1, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        tau: Tau = 50.0,
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

    def _rule(self, problem: Problem) -> Rule:
        price = np.ones(len(problem.weights))
        return GentleRule(problem.sign, problem.weights, self.learning_rate, price=price, tau=self.tau)


class GCADAClassifier(TwoPartBooster):
    """GCADA of Lu, Zhang and Zhai: Gentle AdaBoost whose weights are multiplied by the cost, afresh each
    round.

    ``D ∝ C exp(-y F)`` from the second round on, where C is the cost of the row over the mean cost of a
    negative. C does not compound. The authors describe it in one sentence; that C multiplies the
    exponential is by analogy with their eq. (8). With a ratio of 1 it is Gentle AdaBoost. Normalised cost on
    ten imbalanced sets 0.29, as CGAda. More than two classes: each against the rest.

    Parameters
    ----------
    cost_ratio : float > 0, optional
        Cost of a positive in units of that of a negative. If left out, the costs say it, and if there are
        none, it is n₋/n₊, the balance of the classes.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster` and `GentleAdaBoostClassifier`. The authors
    use a weighted SVM as weak learner: ``estimator=WeightedSVM(solver="svrg")``.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> GCADAClassifier(n_estimators=4, cost_fn=4.0).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 1, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        learning_rate: LearningRate = 1.0,
        cost_ratio: CostRatio | None = None,
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
        self.cost_ratio = cost_ratio

    def _rule(self, problem: Problem) -> Rule:
        price = relative_costs(problem, self.cost_ratio)
        return GentleRule(problem.sign, problem.weights, self.learning_rate, price=price)


class MCADAClassifier(GCADAClassifier):
    """MCADA of Lu, Zhang and Zhai: GCADA with the resets of Margin-pruning Boost.

    The authors describe it in one sentence; that C multiplies the exponential is by analogy with their
    eq. (8), and the resets are a reconstruction of ours, those of Penalized AdaBoost. Without resets
    (``tau=inf``) it is GCADA. More than two classes: each against the rest.

    Parameters
    ----------
    tau : float > 0, default 50.0
        Rows heavier than the largest weight less 1/tau of the range of weights are reset if their margin is
        negative. At 1 all such rows but the lightest are, at infinity none.
    reset_to : {"one", "cost"}, default "one"
        Weight of a row after its reset: 1, which makes a positive that was missed lighter than one that was
        not, or its cost C.

    Notes
    -----
    Other parameters and attributes: see `GCADAClassifier`, `CostSensitiveBooster` and
    `GentleAdaBoostClassifier`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> MCADAClassifier(n_estimators=4, cost_fn=4.0).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 1, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        tau: Tau = 50.0,
        reset_to: ResetTo = "one",
        learning_rate: LearningRate = 1.0,
        cost_ratio: CostRatio | None = None,
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
            cost_ratio=cost_ratio,
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
        self.reset_to = reset_to

    def _rule(self, problem: Problem) -> Rule:
        price = relative_costs(problem, self.cost_ratio)
        return GentleRule(
            problem.sign,
            problem.weights,
            self.learning_rate,
            price=price,
            tau=self.tau,
            reset_to=self.reset_to,
        )
