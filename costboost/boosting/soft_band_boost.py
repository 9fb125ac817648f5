"""SoftBandBoost: AdaBoost that favours rows near the decision and lets go of those far on the wrong side.

A reconstruction of ours from a description of one sentence of SMLBoost: Chen, Duan, Yang et al.:
SMLBoost-adopting a soft-margin like strategy in boosting, Knowledge-Based Systems 195 (2020), 105705. The
formulas below are not those of that paper, which we have not read. The oversampling is that of the experiment
in Lu, Zhang, Zhai: 代价敏感惩罚AdaBoost算法的非平衡数据分类, 2023, doi 10.16356/j.1005-2615.2023.02.020.
"""

from dataclasses import dataclass, field, replace
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
from costboost.boosting._rounds import Round, Rule, StopReason, raised
from costboost.boosting.ada_boost import AdaBoostRule
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = ["SoftBandBoostClassifier"]


@dataclass
class SoftBandRule(AdaBoostRule):
    """AdaBoost's votes; ``D = D_1 exp(-y F)``, normalised, then by the margin ``ρ = y F / Σα`` of each row:

    ``D · boost`` where ``|ρ| <= band``, ``min(D, D_1)`` where ``ρ < -band``, and normalised again. D is made
    from F anew in every round, so the factor does not compound.
    """

    band: float = field(default=0.2, kw_only=True)
    boost: float = field(default=2.0, kw_only=True)

    def __post_init__(self) -> None:
        self.initial = self.initial / total(self.initial)
        self.exponent, self.votes = np.zeros(len(self.y)), 0.0  # -y F, Σα

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        verdict = super().judge(weights, response)
        if not isinstance(verdict, Round) or verdict.exponent is None:
            return verdict
        self.exponent, self.votes = self.exponent + verdict.exponent, self.votes + verdict.alpha
        margin = -self.exponent / self.votes
        values = {"margin": margin}
        return replace(verdict, exponent=None, weights=self._weights(margin), values=values)

    def kinds(self) -> tuple[str, ...] | None:
        return None  # it keeps F

    def _weights(self, margin: Floats) -> Floats:
        D, _ = raised(self.initial, self.exponent, safe=0.0)
        D = D / total(D)
        D = np.where(np.abs(margin) <= self.band, self.boost * D, D)
        return np.where(margin < -self.band, np.minimum(D, self.initial), D)


class SoftBandBoostClassifier(CostSensitiveBooster):
    """SoftBandBoost: in the manner of SMLBoost, a soft margin for AdaBoost. A reconstruction of ours.

    All that is known to us of SMLBoost (Chen et al. 2020) is that it imitates a soft margin by giving more
    weight to rows that are not noise and lie within the margin band. This class does that in the plainest
    way; it is not the algorithm as published. Works best where some labels are wrong, on which AdaBoost
    would spend its weight. Costs enter neither training nor prediction; they only decide which constant is
    predicted when no hypothesis is better than chance. A round costs one fit of the weak learner and O(n).
    More than two classes: each against the rest.

    Parameters
    ----------
    band : float in [0, 1], default 0.2
        Rows whose margin, between -1 and 1, is at most so far from 0 count as near the decision; those
        further on the wrong side count as noise.
    boost : float >= 1, default 2.0
        Factor of the weights near the decision.
    oversample : bool, default False
        Start from classes of equal weight, as if rows of the smaller one had been repeated.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`. The weight of noise is capped at what it was
    at the start.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> SoftBandBoostClassifier(n_estimators=3).fit(X, y).predict(X).tolist()
    [0, 0, 1, 0, 1, 1]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        band: Annotated[float, Range(minimum=0, maximum=1)] = 0.2,
        boost: Annotated[float, Range(minimum=1, maximum=1e6)] = 2.0,
        oversample: bool = False,
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
        self.band = band
        self.boost = boost
        self.oversample = oversample

    def _rule(self, problem: Problem) -> Rule:
        initial = _even(problem) if self.oversample else problem.weights
        return SoftBandRule(problem.sign, initial, self.learning_rate, band=self.band, boost=self.boost)


def _even(problem: Problem) -> Floats:
    """The user's weights, each class brought to ½; as they are if a class has none."""
    positive = problem.sign > 0
    sizes = total(problem.weights[positive]), total(problem.weights[~positive])
    if min(sizes) <= 0.0:
        return problem.weights
    return problem.weights / (2.0 * np.where(positive, *sizes))
