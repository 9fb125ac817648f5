"""Modest AdaBoost: an output counts for less where the rows that are already got right disagree with it.

Vezhnevets, Vezhnevets: Modest AdaBoost - teaching AdaBoost to generalize better, Graphicon 2005. Written
from the common literature.
"""

from dataclasses import dataclass
from typing import Any

from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import Rule
from costboost.boosting._two_part import ByPart, Outputs, Rows, TwoPartBooster, TwoPartRule, Update
from costboost.kernels.fixed_point import total

__all__ = ["ModestAdaBoostClassifier"]


@dataclass
class ModestRule(TwoPartRule):
    """``U = W₊ (1 - B₊) - W₋ (1 - B₋)`` in each part; ``D ∝ D exp(-y U)``.

    W are masses of D, B those of the inverse distribution ``(1 - D)/Σ(1 - D)``.
    """

    def outputs(self, masses: ByPart, weights: Floats, first: Rows) -> tuple[Outputs, dict[str, Any]]:
        inverse = self.by_part(self.inverse(weights), first)
        one, two = (W[0] * (1 - B[0]) - W[1] * (1 - B[1]) for W, B in zip(masses, inverse, strict=True))
        return (one, two), {"B": inverse}

    def inverse(self, weights: Floats) -> Floats:
        """Return the inverse distribution; a row of weight w is w rows of D/w each, the lightest is one."""
        unit = float(self.initial[self.initial > 0].min())
        # Σ over the copies of a row, times unit: (w/unit) (1 - D unit/w) unit.
        rest = self.initial - unit * weights
        mass = total(rest)
        return rest / mass if mass > 0 else rest

    def update(self, U: Floats) -> Update:
        return -self.y * U, None, {}


class ModestAdaBoostClassifier(TwoPartBooster):
    """Modest AdaBoost of Vezhnevets and Vezhnevets: it hesitates where right answers would be spoilt.

    Each output is weighed down by the mass that the part has under the inverse distribution, which is heavy
    where rows are light, that is, already got right. Generalises with small steps; needs more rounds than
    AdaBoost. Costs enter neither training nor prediction; they only decide which constant is predicted when
    no hypothesis tells anything. More than two classes: each against the rest. Written from the common
    literature, without the paper at hand.

    Notes
    -----
    Parameters and attributes: see `CostSensitiveBooster` and `GentleAdaBoostClassifier`. The inverse
    distribution counts rows: one of weight w is w rows, where the lightest row is one.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = ModestAdaBoostClassifier(n_estimators=1).fit(X, y)
    >>> model.estimator_values_.round(4).tolist(), model.predict(X).tolist()
    ([[0.1111, -0.2222]], [0, 0, 1, 1, 1, 1])
    """

    def _rule(self, problem: Problem) -> Rule:
        return ModestRule(problem.sign, problem.weights, self.learning_rate)
