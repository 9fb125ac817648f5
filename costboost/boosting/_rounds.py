"""The loop all boosters share, and what it asks of a formula."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._problem import Floats
from costboost.kernels.elementary import exp_array
from costboost.kernels.fixed_point import total
from costboost.learners.weak import Hypothesis, Labels, PreparedLearner, Sample

__all__ = [
    "EPSILON",
    "NO_BETTER",
    "Ensemble",
    "Round",
    "RowByRow",
    "Rule",
    "StopReason",
    "Watch",
    "Weighing",
    "boost",
    "half_log_odds",
    "raised",
]

#: The one clipping constant: errors and edges are kept this far from 0 and 1.
EPSILON = 1e-10

#: Beyond this `exp` may overflow, and the largest exponent is subtracted first.
_SAFE_EXPONENT = 700.0

StopReason: TypeAlias = Literal[
    "max_rounds",
    "perfect",
    "weak_learner_no_better_than_chance",
    "edge_not_positive",
    "no_information",
    "no_improving_column",
    "converged",
    "infeasible",
    "early_stopping",
    "cancelled",
]
NO_BETTER: StopReason = "weak_learner_no_better_than_chance"

#: ``callback(round, rounds, figures)``.
Callback: TypeAlias = Callable[[int, int, Mapping[str, float]], object]


@dataclass(frozen=True)
class Round:
    """What a hypothesis earned.

    Parameters
    ----------
    alpha : float
        Its vote.
    error : float
        Its weighted error, as `estimator_errors_` reports it.
    exponent : ndarray of shape (n,), or None
        The next weights are proportional to ``weights · exp(exponent)``; to `weights` if None.
    weights : ndarray of shape (n,), optional
        What the exponential multiplies; the weights that entered the round if left out.
    parts : pair of float, optional
        What the score of a row gains where the hypothesis answers +1, and where it answers -1; ``alpha ·
        answer`` if left out.
    stop : str, optional
        Why this hypothesis, which is kept, is the last.
    values : dict
        What `history_` records of the round.
    """

    alpha: float
    error: float
    exponent: Floats | None
    weights: Floats | None = None
    parts: tuple[float, float] | None = None
    stop: StopReason | None = None
    values: dict[str, Any] = field(default_factory=dict)


class Rule(ABC):
    """The formula of a booster on one training set; holds what that formula carries from round to round."""

    @abstractmethod
    def start(self) -> Floats:
        """Weights before the first round, proportional."""

    @abstractmethod
    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        """Give a hypothesis its vote and the rows their next weights, or discard it and stop."""

    def before_round(self, weights: Floats) -> Floats:
        """Touch the weights before a weak learner is fitted (proportional)."""
        return weights

    def sample(self, weights: Floats, rng: np.random.Generator) -> Sample:  # noqa: ARG002
        """Choose what the weak learner is shown."""
        return Sample(weights)

    def restart(self) -> Floats | None:
        """Other weights to start from, should the first hypothesis be discarded."""
        return None

    def kinds(self) -> tuple[str, ...] | None:
        """Name what this formula looks at in a row beside its weight and its answer, if it works on kinds.

        It does if it keeps nothing from round to round, looks at weights through totals alone and only
        multiplies them, by the exponential. Rows alike in these attributes of shape (n,) and in their answer
        then stay in proportion, and the formula may be asked about such kinds of rows in place of rows.
        """
        return None

    def final_votes(self, alphas: list[float]) -> list[float]:
        """Give all kept hypotheses their votes once the last is known; by default those of their rounds."""
        return alphas


@dataclass
class Ensemble:
    """The hypotheses that were kept."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    parts: list[tuple[float, float] | None] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: StopReason = "max_rounds"

    def keep(self, hypothesis: Hypothesis, verdict: Round) -> None:
        """Add a hypothesis, without its answers on the training rows."""
        self.hypotheses.append(Hypothesis(hypothesis.estimator, np.empty(0), hypothesis.scale))
        self.alphas.append(verdict.alpha)
        self.errors.append(verdict.error)
        self.parts.append(verdict.parts)

    def first(self, rounds: int, votes: list[float]) -> "Ensemble":
        """Return the hypotheses of the first rounds, with these votes."""
        return Ensemble(
            self.hypotheses[:rounds],
            votes,
            self.errors[:rounds],
            self.parts[:rounds],
            self.history[:rounds],
            self.stop_reason,
        )


class Watch(Protocol):
    """Looks on from outside the training rows."""

    def done(self, ensemble: Ensemble, rule: Rule) -> bool:
        """Take note of an ensemble that has grown by a round; true if it need not grow any more."""
        ...

    def figures(self) -> dict[str, float]:
        """What was noted last, by name."""
        ...


class Weighing(Protocol):
    """What rows weigh, and how a hypothesis is fitted and judged under that."""

    rule: Rule

    def play(self) -> tuple[Hypothesis, Round | StopReason]:
        """Fit a hypothesis and judge it."""
        ...

    def restart(self) -> bool:
        """Begin with the other weights of the rule, if it has any."""
        ...

    def reweigh(self, verdict: Round, *, record: bool) -> dict[str, Any]:
        """Give the rows their next weights; return what `history_` records of the round, if asked."""
        ...


class RowByRow:
    """A weight in float64 for each row, for any rule and any weak learner."""

    def __init__(
        self, rule: Rule, learner: PreparedLearner, labels: Labels, rng: np.random.Generator
    ) -> None:
        self.rule, self.learner, self.labels, self.rng = rule, learner, labels, rng
        self.weights = _normalized(rule.start())
        self.touched = False  # by `before_round`

    def play(self) -> tuple[Hypothesis, Round | StopReason]:
        """Fit a hypothesis and judge it."""
        if not self.touched:
            touched = self.rule.before_round(self.weights)
            self.weights = self.weights if touched is self.weights else _normalized(touched)
            self.touched = True
        sample = self.rule.sample(self.weights, self.rng)
        self.hypothesis = self.learner.fit(sample, self.labels, self.rng)
        return self.hypothesis, self.rule.judge(self.weights, self.hypothesis.response)

    def restart(self) -> bool:
        """Begin with the other weights of the rule, if it has any."""
        other = self.rule.restart()
        if other is not None:
            self.weights = _normalized(other)
        return other is not None

    def reweigh(self, verdict: Round, *, record: bool) -> dict[str, Any]:
        """Give the rows their next weights; return what `history_` records of the round, if asked."""
        entering, (self.weights, normalizer) = self.weights, _next_weights(self.weights, verdict)
        self.touched = False
        if not record:
            return {}
        values = {"D": entering, "h": self.hypothesis.response, "alpha": verdict.alpha, "eps": verdict.error}
        return values | {"Z": normalizer, "D_next": self.weights} | verdict.values


def boost(
    weighing: Weighing,
    *,
    rounds: int,
    callback: Callback | None = None,
    record: bool = False,
    watch: Watch | None = None,
    begun: Ensemble | None = None,
) -> Ensemble:
    """Fit, judge and reweigh until the rounds are over or the rule says stop.

    Parameters
    ----------
    weighing : Weighing
    rounds : int
        Planned number of rounds.
    callback : callable, optional
        ``callback(round, rounds, figures)`` after each round; a true answer stops ("cancelled"). The
        figures are the `error` of its hypothesis and those of `watch`.
    record : bool
        Whether to keep the arrays of each round.
    watch : Watch, optional
        May end the fit ("early_stopping").
    begun : Ensemble, optional
        What an earlier call with fewer rounds and the same weighing returned: the rounds go on from there.
    """
    ensemble, rule = Ensemble() if begun is None else begun, weighing.rule
    ensemble.stop_reason = "max_rounds"
    for number in range(len(ensemble.hypotheses) + 1, rounds + 1):
        hypothesis, verdict = weighing.play()
        if number == 1 and not isinstance(verdict, Round) and weighing.restart():
            hypothesis, verdict = weighing.play()
        if not isinstance(verdict, Round):
            ensemble.stop_reason = verdict
            break
        ensemble.keep(hypothesis, verdict)
        values = weighing.reweigh(verdict, record=record)
        if record:
            ensemble.history.append(values)
        if verdict.stop is not None:
            ensemble.stop_reason = verdict.stop
        if watch is not None and watch.done(ensemble, rule) and verdict.stop is None:
            ensemble.stop_reason = "early_stopping"
        if ensemble.stop_reason != "max_rounds":
            break
        if callback is not None and callback(number, rounds, _figures(verdict, watch)):
            ensemble.stop_reason = "cancelled"
            break
    if ensemble.alphas:
        ensemble.alphas = rule.final_votes(ensemble.alphas)
    return ensemble


def _figures(verdict: Round, watch: Watch | None) -> dict[str, float]:
    return {"error": verdict.error} | ({} if watch is None else watch.figures())


def half_log_odds(error: float) -> float:
    """Vote of a hypothesis, ``½ ln((1 - error)/error)``, with the error clipped to [EPSILON, 1 - EPSILON]."""
    clipped = min(max(error, EPSILON), 1.0 - EPSILON)
    return 0.5 * math.log((1.0 - clipped) / clipped)


def raised(weights: Floats, exponent: Floats, safe: float = _SAFE_EXPONENT) -> tuple[Floats, float]:
    """``weights · exp(exponent - shift)`` and the shift: 0 unless the largest exponent is beyond `safe`."""
    heavy = exponent[weights > 0]
    largest = float(heavy.max()) if heavy.size else 0.0
    if abs(largest) <= safe:
        largest = 0.0
    # A row without weight stays without, however large its exponent.
    return weights * exp_array(np.minimum(exponent - largest, _SAFE_EXPONENT)), largest


def _next_weights(weights: Floats, verdict: Round) -> tuple[Floats, float]:
    products, shift = weights if verdict.weights is None else verdict.weights, 0.0
    if verdict.exponent is not None:
        products, shift = raised(products, verdict.exponent)
    mass = total(products)
    return products / mass, mass * math.exp(min(shift, _SAFE_EXPONENT))


def _normalized(weights: Floats) -> Floats:
    return weights / total(weights)
