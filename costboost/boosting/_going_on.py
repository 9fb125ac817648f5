"""A fit that can be gone on with: what it started from, and how far it has come."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np

from costboost.boosting._early_stopping import Aside, ValidationCost
from costboost.boosting._problem import Problem
from costboost.boosting._rounds import Callback, Ensemble, StopReason, Weighing, boost
from costboost.learners.weak import PreparedLearner

__all__ = ["Course", "Start", "check_unchanged", "fingerprint"]

#: Reasons to stop that more rounds overcome.
_OPEN: tuple[StopReason, ...] = ("max_rounds", "cancelled")

#: Parameters that may change on the way, or that the rows and their costs already tell.
_FREE = frozenset(
    {"estimator", "n_estimators", "random_state", "record", "warm_start"}
    | {"cost_fn", "cost_fp", "cost_tp", "cost_tn", "cost_matrix"}
)


@dataclass(frozen=True)
class Start:
    """What a fit begins with.

    Parameters
    ----------
    problem : Problem
        The rows to learn from.
    learner : PreparedLearner
    rng : numpy Generator
    aside : Aside or None
        The rows set aside.
    """

    problem: Problem
    learner: PreparedLearner
    rng: np.random.Generator
    aside: Aside | None

    def against_the_rest(self, code: int, rng: np.random.Generator) -> "Start":
        """Return the start of telling one class from all others."""
        aside = None if self.aside is None else self.aside.against_the_rest(code)
        return replace(self, problem=self.problem.against_the_rest(code), rng=rng, aside=aside)


@dataclass
class Course:
    """The rounds of one ensemble, as far as they have come."""

    weighing: Weighing
    watch: ValidationCost | None
    ensemble: Ensemble | None = None

    def advance(self, rounds: int, callback: Callback | None, *, record: bool) -> Ensemble:
        """Go on up to so many rounds, if that is of use; return what is kept of them."""
        if self.ensemble is None or self.ensemble.stop_reason in _OPEN:
            self.ensemble = boost(
                self.weighing,
                rounds=rounds,
                callback=callback,
                record=record,
                watch=self.watch,
                begun=self.ensemble,
            )
        if self.watch is not None:
            return self.watch.kept(self.ensemble)
        return self.ensemble.first(len(self.ensemble.alphas), list(self.ensemble.alphas))


def fingerprint(features: Any, problem: Problem) -> str:
    """Digest of a training set and its costs."""
    return str(
        joblib.hash(
            (
                features,
                problem.labels.codes,
                problem.labels.classes,
                problem.weights,
                problem.table,
                problem.cells,
            )
        )
    )


def check_unchanged(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with other parameters than those a fit began with.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    for name in sorted(before.keys() - _FREE):
        if not (now[name] is before[name] or now[name] == before[name]):
            raise ValueError(
                f"a warm start goes on with the parameters it began with, but {name} has changed"
            )
    if now["n_estimators"] < before["n_estimators"]:
        raise ValueError(
            f"a warm start needs n_estimators >= {before['n_estimators']}, not {now['n_estimators']}"
        )
