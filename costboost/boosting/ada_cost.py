"""AdaCost: right and wrong answers are scaled by a function of the row's cost.

Fan, Stolfo, Zhang, Chan: AdaCost: misclassification cost-sensitive boosting, ICML 1999 (weights, β, α as
there; the switches are ours). The karakoulas form of β: Karakoulas, Shawe-Taylor: Optimizing classifiers
for imbalanced training sets, NIPS 1998 (written from the common literature).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

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
from costboost.boosting._rounds import EPSILON, Round, Rule, StopReason
from costboost.kernels.elementary import exp_array
from costboost.kernels.fixed_point import total
from costboost.learners.foreign import Response
from costboost.parameters import Range

__all__ = ["AdaCostClassifier"]

Beta: TypeAlias = Callable[[NDArray[np.bool_], Floats], Any]
AlphaRule: TypeAlias = Literal["auto", "r", "error"]
Update: TypeAlias = Literal["recursive", "unrolled"]

_METHODS = {"proba": "predict_proba", "decision": "decision_function", "sign": "predict"}


def fan_beta(correct: NDArray[np.bool_], cost: Floats) -> Floats:
    """``½ - ½c`` for a right answer, ``½ + ½c`` for a wrong one."""
    return np.where(correct, 0.5 - 0.5 * cost, 0.5 + 0.5 * cost)


@dataclass
class AdaCostRule(Rule):
    """The formulas of AdaCost, with h in [-1, 1].

    ``D_1 ∝ cost``; ``u_i = y h β``; ``r = Σ D u``; ``α = ν · ½ ln((1+r)/(1-r))``; ``D ∝ D · exp(-α u)``. The
    unrolled update says the same of the whole history: ``D ∝ D_1 · exp(-y Σ α h β)``. β is not in the vote.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        Costs times the user's weights.
    cost : ndarray of shape (n,)
        Costs as β sees them, in [0, 1].
    beta : callable
        ``beta(correct, cost)``.
    factor : ndarray of shape (n,), optional
        Goes before `beta`: β of each row, right or wrong alike.
    """

    y: Floats
    initial: Floats
    cost: Floats
    beta: Beta = fan_beta
    factor: Floats | None = None
    learning_rate: float = 1.0
    alpha_rule: AlphaRule = "auto"
    update: Update = "recursive"

    def __post_init__(self) -> None:
        self.exponent = np.zeros(len(self.y))  # of the whole history

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        beta = self.factor
        if beta is None:
            beta = np.asarray(self.beta(agreement > 0, self.cost), dtype=np.float64)
        r, edge = total(weights * agreement * beta), total(weights * agreement)
        earned = edge if self.alpha_rule == "error" or (self.alpha_rule == "auto" and r <= EPSILON) else r
        if earned <= EPSILON:
            return "edge_not_positive"
        alpha = self.learning_rate * _vote(earned)
        exponent = -alpha * agreement * beta
        error = (1.0 - edge) / 2.0
        stop: StopReason | None = "perfect" if error <= EPSILON else None
        values = {"beta": beta, "r": r, "edge": edge}
        if self.update == "recursive":
            return Round(alpha, error, exponent, stop=stop, values=values)
        self.exponent += exponent
        values["Z"] = total(weights * exp_array(exponent))
        return Round(alpha, error, self.exponent, weights=self.initial, stop=stop, values=values)

    def kinds(self) -> tuple[str, ...] | None:
        # Not where the formula keeps its history, or is the user's in part.
        return ("y", "cost", "factor") if self.update == "recursive" and self.beta is fan_beta else None


def _vote(edge: float) -> float:
    clipped = min(edge, 1.0 - EPSILON)
    return 0.5 * math.log((1.0 + clipped) / (1.0 - clipped))


class AdaCostClassifier(CostSensitiveBooster):
    """AdaCost of Fan, Stolfo, Zhang and Chan: dear mistakes gain weight faster, dear hits lose it more
    slowly.

    With ``cost_scale=1`` and ``alpha_rule="r"`` it is as published; that form often stops before the first
    round, for with equal costs r is negative for every hypothesis. The defaults always run. Under
    ``alpha_rule="r"`` and ``learning_rate=1`` the training cost is at most ``Σ cost · Π Z``. More than two
    classes: each against the rest.

    Parameters
    ----------
    beta : {"fan", "karakoulas"} or callable, default "fan"
        "karakoulas": 1 for positives and `v` for negatives, right or wrong alike. A callable
        ``beta(correct, cost) -> array`` must be at least 0, not fall with the cost of a wrong answer and
        not rise with that of a right one.
    v : float in (0, 1], optional
        For "karakoulas"; mean cost of the negatives over that of the positives, at most 1, if left out.
    cost_scale : float in (0, 1], default 0.25
        Largest cost that β sees. 1 is literal; towards 0 AdaCost becomes CGAda with smaller steps.
    alpha_rule : {"auto", "r", "error"}, default "auto"
        "r" takes the vote from the edge with β, "error" from AdaBoost's edge without it, "auto" from the
        former as long as it is positive. As r nears 0 these votes fade, while the plain edge may stay large:
        where 50 rounds leave much untold, "error" or more rounds tell it.
    response : {"auto", "proba", "sign", "decision"}, default "auto"
        How the weak learner's answer becomes h: ``2p - 1``, its prediction, or its decision function over
        its largest magnitude on the training rows. "auto" takes probabilities where there are any (a stump
        has none).
    update : {"recursive", "unrolled"}, default "recursive"
        How weights are kept; both give the same numbers.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> AdaCostClassifier(n_estimators=3, cost_fn=4.0).fit(X, y).predict(X).tolist()
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
        beta: Literal["fan", "karakoulas"] | Beta = "fan",
        v: Annotated[float, Range(exclusive_minimum=0, maximum=1)] | None = None,
        cost_scale: Annotated[float, Range(exclusive_minimum=0, maximum=1)] = 0.25,
        alpha_rule: AlphaRule = "auto",
        response: Literal["auto", "proba", "sign", "decision"] = "auto",
        update: Update = "recursive",
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
        self.beta = beta
        self.v = v
        self.cost_scale = cost_scale
        self.alpha_rule = alpha_rule
        self.response = response
        self.update = update

    def _rule(self, problem: Problem) -> Rule:
        cost = problem.cost
        largest = cost[problem.weights > 0].max()
        return AdaCostRule(
            problem.sign,
            problem.weights * cost,
            self.cost_scale * (np.minimum(cost, largest) / largest),
            self._beta(),
            self._factor(problem),
            self.learning_rate,
            self.alpha_rule,
            self.update,
        )

    def _beta(self) -> Beta:
        if not callable(self.beta):
            return fan_beta
        _check_beta(self.beta)
        return self.beta

    def _factor(self, problem: Problem) -> Floats | None:
        if self.beta != "karakoulas":
            return None
        return np.where(problem.sign > 0, 1.0, _relative_cost(problem) if self.v is None else self.v)

    def conflicts(self) -> list[tuple[str, str]]:
        """A response that the weak learner cannot give."""
        method = _METHODS.get(self.response)
        if method is None or hasattr(self._weak_learner(), method):
            return []
        return [("response", f"this response needs a weak learner with {method}")]

    def _response(self, estimator: Any) -> Response:
        if self.response == "auto":
            return "proba" if hasattr(estimator, "predict_proba") else "sign"
        method = _METHODS[self.response]
        if not hasattr(estimator, method):
            raise ValueError(f"response={self.response!r} needs a weak learner with {method}")
        return self.response


def _relative_cost(problem: Problem) -> float:
    negatives, positives = problem.class_means()
    return min(1.0, negatives / positives) if positives > 0.0 else 1.0


def _check_beta(beta: Beta) -> None:
    """Try a user's β on a grid of costs."""
    grid = np.linspace(0.0, 1.0, 101)
    for correct, falls in ((True, 1.0), (False, -1.0)):
        values = np.asarray(beta(np.full(grid.shape, correct), grid), dtype=np.float64)
        if values.shape != grid.shape or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError("beta must return one finite number, at least 0, for each row")
        if (falls * np.diff(values) > 0).any():
            word = "rise with the cost of a right" if correct else "fall with the cost of a wrong"
            raise ValueError(f"beta must not {word} answer")
