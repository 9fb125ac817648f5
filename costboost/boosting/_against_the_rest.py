"""More than two classes, each told from the rest by an ensemble of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from costboost.boosting._problem import Floats
from costboost.boosting._rounds import Callback, Ensemble, StopReason
from costboost.boosting._scores import Votes


class RoundCounter:
    """Passes rounds of several ensembles on as rounds of one fit, and remembers a wish to stop."""

    def __init__(self, callback: Callback | None, rounds: int) -> None:
        self.callback, self.rounds = callback, rounds
        self.before, self.stopped = 0, False

    def __call__(self, number: int, _rounds: int, figures: Mapping[str, float]) -> bool:
        if self.callback is not None and not self.stopped:
            self.stopped = bool(self.callback(self.before + number, self.rounds, figures))
        return self.stopped


def in_a_row(ensembles: Sequence[Ensemble]) -> Ensemble:
    """Put what the ensembles of the classes report behind one another."""
    joint = Ensemble()
    for code, one in enumerate(ensembles):
        joint.hypotheses += one.hypotheses
        joint.alphas += one.alphas
        joint.errors += one.errors
        joint.parts += one.parts
        joint.history += [values | {"class": code} for values in one.history]
    reasons = [one.stop_reason for one in ensembles]
    telling: list[StopReason] = ["cancelled", "max_rounds", "early_stopping"]
    joint.stop_reason = next((reason for reason in telling if reason in reasons), reasons[0])
    return joint


def staged_against_the_rest(votes: Sequence[Votes], X: Any) -> Iterator[Floats]:
    """Scores (n, K) after each round; an ensemble that has ended stays at its last score."""
    stages = [list(one.staged(X)) for one in votes]
    for number in range(max(len(scores) for scores in stages)):
        yield np.column_stack(
            [
                scores[min(number, len(scores) - 1)] if scores else one.score(X)
                for one, scores in zip(votes, stages, strict=True)
            ]
        )
