"""Boosters whose hypotheses split the rows in two parts, each with a real output of its own."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import EPSILON, Ensemble, Round, Rule, StopReason, raised
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = [
    "CostRatio",
    "ExponentialRule",
    "ResetTo",
    "Tau",
    "TwoPartBooster",
    "TwoPartRule",
    "lead",
    "relative_costs",
]

Rows: TypeAlias = NDArray[np.bool_]
#: Values for the rows of class +1 and -1 in part 1, then in part 2.
ByPart: TypeAlias = list[tuple[float, float]]
Outputs: TypeAlias = tuple[float, float]
Update: TypeAlias = tuple[Floats | None, Floats | None, dict[str, Any]]

ResetTo: TypeAlias = Literal["one", "cost"]
Tau: TypeAlias = Annotated[float, Range(exclusive_minimum=0, maximum=np.inf)]
CostRatio: TypeAlias = Annotated[float, Range(exclusive_minimum=0, maximum=1e100)]

#: Relative differences up to this are rounding, and decide nothing.
_ROUNDING = 1e-12

#: A row may cost at most so many times what a negative does.
_LARGEST_RATIO = 1e100

#: Weights are recorded as they are up to this exponent, beyond it in units of the largest.
_LARGEST_EXPONENT = 700.0


@dataclass
class TwoPartRule(Rule):
    """Part 1 is where ``h = +1``, part 2 where ``h = -1``; U is the output of a row's part, ``F = ΣU``.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        The user's weights, sum 1.
    """

    y: Floats
    initial: Floats
    learning_rate: float = 1.0

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        first = response > 0
        masses = self.by_part(weights, first)
        outputs, values = self.outputs(masses, weights, first)
        if max(map(abs, outputs)) <= EPSILON:
            return "no_information"
        one, two = (self.learning_rate * output for output in outputs)
        U = np.where(first, one, two)
        exponent, products, learned = self.update(U)
        # The error left if each part is named after its heavier class: which side h calls +1 does not matter.
        error = min(masses[0]) + min(masses[1])
        return Round(
            alpha=total(self.initial * np.abs(U)),
            error=error,
            exponent=exponent,
            weights=products,
            parts=(one, two),
            stop="perfect" if error <= EPSILON else None,
            values={"W": np.array(masses), "U1": one, "U2": two, "U": U} | values | learned,
        )

    def by_part(self, distribution: Floats, first: Rows) -> ByPart:
        """Mass of the positives and of the negatives in part 1, then in part 2."""
        positive = self.y > 0
        return [
            (total(distribution[part & positive]), total(distribution[part & ~positive]))
            for part in (first, ~first)
        ]

    @abstractmethod
    def outputs(self, masses: ByPart, weights: Floats, first: Rows) -> tuple[Outputs, dict[str, Any]]:
        """U of part 1 and of part 2 before the learning rate, and what `history_` records of them."""

    @abstractmethod
    def update(self, U: Floats) -> Update:
        """Exponent and weights of the next round, as in `Round`, and what `history_` records of them."""


@dataclass
class ExponentialRule(TwoPartRule):
    """``D ∝ C exp(-y F)``: C does not compound, for F alone holds the history.

    With resets, ``Q = max D - (max D - min D)/τ`` of ``D = C exp(-y F)``, before D is normalised and without
    the user's weights; rows with ``D > Q`` and a negative margin ``y F / Σ|U|`` start anew: ``F = 0``, and
    ``D = 1`` or ``D = C``. The score is ΣU of all rounds all the same, and so is Σ|U|.

    Parameters
    ----------
    price : ndarray of shape (n,)
        C of each row.
    tau : float or None
        τ; None for no resets.
    reset_to : {"one", "cost"}
    """

    price: Floats = field(kw_only=True)
    tau: float | None = field(default=None, kw_only=True)
    reset_to: ResetTo = field(default="one", kw_only=True)

    def __post_init__(self) -> None:
        self.F, self.A = np.zeros(len(self.y)), np.zeros(len(self.y))  # ΣU with resets, Σ|U| without

    def cost(self, U: Floats) -> Floats:  # noqa: ARG002
        """C of a round with these outputs."""
        return self.price

    def margin(self) -> Floats:
        """``y F / Σ|U|``, 0 before the first round."""
        return np.divide(self.y * self.F, self.A, out=np.zeros(len(self.y)), where=self.A > 0)

    def update(self, U: Floats) -> Update:
        self.F, self.A = self.F + U, self.A + np.abs(U)
        C = self.cost(U)
        D, unit = self._exponential(C)
        values: dict[str, Any] = {"C": C, "D_raw": D * unit}
        if self.tau is not None:
            margin, Q = self.margin(), _bound(D[self._counted(C)], self.tau)
            reset = (D > Q * (1.0 + _ROUNDING)) & (margin < -_ROUNDING)
            values |= {"margin": margin, "Q": Q * unit, "reset": reset.astype(np.int8)}
            if reset.any():
                self.F = np.where(reset, 0.0, self.F)
                D, _ = self._exponential(np.where(reset & (self.reset_to == "one"), 1.0, C))
        return None, self.initial * D, values | {"F_run": self.F}

    def _counted(self, C: Floats) -> Rows:
        """Rows that weigh and cost something; the others are as if they were not there."""
        counted: Rows = (self.initial > 0) & (C > 0)
        return counted

    def _exponential(self, C: Floats) -> tuple[Floats, float]:
        """``C exp(-y F)`` in units of the largest exponential, and that unit (1 if it is no number)."""
        D, shift = raised(np.where(self._counted(C), C, 0.0), -self.y * self.F, safe=0.0)
        return D, math.exp(shift) if abs(shift) < _LARGEST_EXPONENT else 1.0


def _bound(D: Floats, tau: float) -> float:
    """Q."""
    least, greatest = float(D.min()), float(D.max())
    return greatest - (greatest - least) / tau


def lead(positives: float, negatives: float) -> float:
    """Return how much heavier the positives are: exactly 0 where only rounding tells the masses apart.

    What is left by rounding would have a margin of -1 for half of the rows.
    """
    difference = positives - negatives
    return difference if abs(difference) > _ROUNDING * (positives + negatives) else 0.0


class TwoPartBooster(CostSensitiveBooster):
    """A booster whose hypotheses have two real outputs.

    Attributes
    ----------
    estimator_values_ : ndarray of shape (T, 2)
        What a row's score towards the positive class gains where the hypothesis names that class, and where
        it names the other.
    estimator_weights_ : ndarray of shape (T,)
        Mean of the magnitude of those over the training rows.
    """

    estimator_values_: Floats

    def _adopt(self, ensemble: Ensemble) -> None:
        super()._adopt(ensemble)
        self.estimator_values_ = np.array(ensemble.parts, dtype=np.float64).reshape(-1, 2)


def relative_costs(problem: Problem, cost_ratio: float | None) -> Floats:
    """(n,) cost of each row in units of the mean cost of a negative.

    Parameters
    ----------
    problem : Problem
    cost_ratio : float or None
        Goes before the costs: that of a positive. If there is neither, it is n₋/n₊, by the user's weights.
    """
    positive = problem.sign > 0
    if cost_ratio is not None:
        return np.where(positive, float(cost_ratio), 1.0)
    if not problem.told:
        sizes = [total(problem.weights[rows]) for rows in (~positive, positive)]
        return np.where(positive, sizes[0] / sizes[1] if min(sizes) > 0 else 1.0, 1.0)
    negatives, _ = problem.class_means()
    dearest = float(problem.cost[problem.weights > 0].max())
    relative = np.minimum(problem.cost, dearest) / dearest  # rows without weight may be dearer
    return relative / max(negatives / dearest, 1.0 / _LARGEST_RATIO)
