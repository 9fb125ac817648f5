"""A warning for boosters whose costs compound: after some rounds one class may take over."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._problem import Floats, Problem
from costboost.boosting._rounds import Round, Rule, StopReason
from costboost.kernels.fixed_point import total
from costboost.learners.weak import Sample

__all__ = ["WatchedBooster"]

#: Share of the training rows above which one class is said to have taken over.
_MOST = 0.95


class Tally(Rule):
    """Another rule, whose votes on the training rows are added up: that saves asking the ensemble again."""

    def __init__(self, rule: Rule, problem: Problem) -> None:
        self.rule, self.problem = rule, problem
        n = len(problem.weights)
        self.score = np.zeros(n) if problem.n_classes == 2 else np.zeros((n, problem.n_classes))

    def start(self) -> Floats:
        return self.rule.start()

    def before_round(self, weights: Floats) -> Floats:
        return self.rule.before_round(weights)

    def sample(self, weights: Floats, rng: np.random.Generator) -> Sample:
        return self.rule.sample(weights, rng)

    def restart(self) -> Floats | None:
        return self.rule.restart()

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        verdict = self.rule.judge(weights, response)
        if isinstance(verdict, Round):
            if self.score.ndim == 1:
                self.score += verdict.alpha * response
            else:
                self.score[np.arange(len(response)), response] += verdict.alpha
        return verdict


class WatchedBooster(CostSensitiveBooster):
    """A booster that warns where it predicts one class for nearly all training rows."""

    def _watched(self, rule: Rule, problem: Problem) -> Rule:
        self._tally = Tally(rule, problem)
        return self._tally

    def _fit_against_the_rest(self, problem: Problem, *rest: Any) -> None:
        super()._fit_against_the_rest(problem, *rest)
        machines: Any = self.machines_
        if not hasattr(machines[0], "_tally"):
            return
        self._tally = Tally(machines[0]._tally.rule, problem)
        self._tally.score = np.column_stack([machine.__dict__.pop("_tally").score for machine in machines])

    def _warn_if_constant(self, stacklevel: int) -> None:
        super()._warn_if_constant(stacklevel + 1)
        tally: Tally | None = self.__dict__.pop("_tally", None)  # as large as the training set
        if tally is None:
            return
        machines = [self] if self.machines_ is None else self.machines_
        # A constant has been told of, and equal costs cannot be what brought one class forward.
        if all(machine.estimators_ for machine in machines) and np.ptp(tally.problem.cost) > 0.0:
            self._warn_if_one_sided(tally.score, tally.problem, stacklevel + 1)

    def _warn_if_one_sided(self, score: Floats, problem: Problem, stacklevel: int) -> None:
        labels = problem.labels
        if score.ndim == 1:
            predicted = np.where(score > self.vote_threshold_, labels.positive, 1 - labels.positive)
        else:
            predicted = np.argmax(score, axis=1)
        for code, name in enumerate(labels.classes):
            told, true = (total(problem.weights[codes == code]) for codes in (predicted, labels.codes))
            # Where the class is that common, predicting it that often is no sign of a collapse.
            if told > _MOST >= true:
                warnings.warn(
                    f"{type(self).__name__} predicts {name!s} for {told:.1%} of the training rows "
                    f"({true:.1%} are): costs compound over the rounds; use fewer of them, or a ratio of "
                    "costs nearer to 1",
                    UserWarning,
                    stacklevel=stacklevel,
                )
