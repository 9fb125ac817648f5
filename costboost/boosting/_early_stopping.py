"""Rows that a fit does not see, and what mistakes on them cost after each round."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import Ensemble, Rule
from costboost.boosting._scores import Votes
from costboost.kernels.fixed_point import total
from costboost.learners.foreign import Response, respond
from costboost.parameters import Range
from costboost.row_order import canonical_order
from costboost.splits import Split, holdout
from costboost.thresholds import least_cost

__all__ = ["Aside", "Patience", "ValidationCost", "ValidationFraction", "parts_of"]

Patience: TypeAlias = Annotated[int, Range(minimum=1, maximum=100_000)] | None
ValidationFraction: TypeAlias = Annotated[float, Range(exclusive_minimum=0, exclusive_maximum=1)]
Rows: TypeAlias = NDArray[np.intp]

#: A cost must fall by this share to be lower.
_SAME = 1e-12


@dataclass(frozen=True)
class Aside:
    """The rows set aside, and for how many rounds in a row they may not get cheaper."""

    features: Any
    problem: Problem
    patience: int

    def against_the_rest(self, code: int) -> "Aside":
        """Return the same rows for telling one class from all others."""
        return replace(self, problem=self.problem.against_the_rest(code))


@dataclass
class ValidationCost:
    """Least cost that a threshold on the score reaches on the rows set aside, after each round.

    The threshold is free because where the score of an algorithm should be cut is a matter of the decision,
    not of the ranking that more rounds improve; under its own vote the first rounds on rare positives all
    cost the same. More than two classes that are voted for directly: the cost of the vote.

    Parameters
    ----------
    aside : Aside
    response : str
        How the answer of a hypothesis is read.
    """

    aside: Aside
    response: Response
    costs: list[float] = field(default_factory=list, init=False)
    best_votes: list[float] = field(default_factory=list, init=False)
    _best: float = field(default=np.inf, init=False)
    _votes: list[float] = field(default_factory=list, init=False)
    _answers: list[NDArray[Any]] = field(default_factory=list, init=False)
    _score: Floats | None = field(default=None, init=False)

    def done(self, ensemble: Ensemble, rule: Rule) -> bool:
        """Take note of a round; true once none of the last `patience` ones was the cheapest so far."""
        cost = self._cost(self._scored(ensemble, rule.final_votes(ensemble.alphas)))
        self.costs.append(cost)
        if cost < self._best:
            self._best, self.best_votes = cost - _SAME * abs(cost), list(self._votes)
        return len(self.costs) - len(self.best_votes) >= self.aside.patience

    def figures(self) -> dict[str, float]:
        """Cost of the rows set aside after the round noted last."""
        return {"valid_expected_cost": self.costs[-1]}

    def kept(self, ensemble: Ensemble) -> Ensemble:
        """Return the rounds up to the cheapest, with the votes they had then."""
        return ensemble.first(len(self.best_votes), self.best_votes)

    def _scored(self, ensemble: Ensemble, votes: list[float]) -> Floats:
        labels = self.aside.problem.labels
        empty = Votes.of(Ensemble(), labels, 0, self.response)
        last = len(votes) - 1
        if self._score is not None and votes[:-1] == self._votes:
            added = empty.added(votes[last], ensemble.parts[last], self._answer(ensemble, last))
            self._score = self._score + added
        else:  # the first round, or all votes were given anew
            self._score = np.zeros((len(labels.codes), empty.constant.size))
            for t in range(len(votes)):
                self._score += empty.added(votes[t], ensemble.parts[t], self._remembered(ensemble, t))
        self._votes = list(votes)  # those of most formulas are one list that grows
        return self._score

    def _remembered(self, ensemble: Ensemble, t: int) -> NDArray[Any]:
        # Kept only for algorithms that give all votes anew, in every round.
        while len(self._answers) <= t:
            self._answers.append(self._answer(ensemble, len(self._answers)))
        return self._answers[t]

    def _answer(self, ensemble: Ensemble, t: int) -> NDArray[Any]:
        hypothesis, labels = ensemble.hypotheses[t], self.aside.problem.labels
        return respond(
            hypothesis.estimator,
            self.aside.features,
            labels.classes,
            labels.positive,
            response=self.response,
            scale=hypothesis.scale,
        )

    def _cost(self, score: Floats) -> float:
        problem = self.aside.problem
        priced = problem.weights[:, None] * problem.regrets
        if problem.n_classes > 2:
            return total(priced[np.arange(len(priced)), score.argmax(axis=1)])
        positive = problem.labels.positive
        towards = score[:, 0] if positive == 1 else -score[:, 0]
        return least_cost(towards, priced[:, positive], priced[:, 1 - positive])


def parts_of(
    features: Any,
    problem: Problem,
    fraction: float,
    *,
    groups: ArrayLike | None,
    times: ArrayLike | None,
    seed: int,
) -> tuple[Rows, Rows]:
    """Divide rows into those to learn from and those to set aside.

    Each class keeps its share in both; rows of one group stay together; with times the latest rows are set
    aside. The order of the rows does not matter.

    Raises
    ------
    ValueError
        If both groups and times are given, their shape is wrong, or a part would have no row of a class.
    """
    if groups is not None and times is not None:
        raise ValueError("rows are set aside by groups or by times, not by both")
    codes = problem.labels.codes
    side = {"groups": groups, "times": times}
    given = {name: np.asarray(values) for name, values in side.items() if values is not None}
    for name, values in given.items():
        if values.shape != codes.shape:
            raise ValueError(f"{name} must have shape {codes.shape}, not {values.shape}")
    kind = Split(
        "group" if groups is not None else "time" if times is not None else "stratified",
        test_fraction=fraction,
    )
    extra = (problem.weights, *problem.regrets.T, *given.values())
    train, aside = holdout(kind, codes, order=_order(features, codes, *extra), seed=seed, **given)
    for rows, name in ((train, "learn from"), (aside, "set aside for early stopping")):
        if not (np.bincount(codes[rows], problem.weights[rows], problem.n_classes) > 0).all():
            raise ValueError(f"the rows to {name} lack a class")
    return np.sort(train), np.sort(aside)


def _order(features: Any, codes: NDArray[np.uint16], *extra: NDArray[Any]) -> Rows | None:
    if issparse(features):
        return None
    columns = {str(j): column for j, column in enumerate(np.asarray(features).T)}
    return canonical_order(columns, codes, *extra)
