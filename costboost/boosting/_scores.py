"""From kept hypotheses to a score, by asking each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._problem import Floats
from costboost.boosting._rounds import Ensemble
from costboost.learners.foreign import Response, respond
from costboost.learners.stump import DecisionStump
from costboost.learners.weak import Hypothesis, Labels
from costboost.libm import exp

__all__ = ["Votes", "softmax"]


@dataclass(frozen=True)
class Votes:
    """The additive score of one ensemble.

    Parameters
    ----------
    ensemble : Ensemble
    classes : ndarray of shape (K,)
    positive : int
        Two classes: the one a response of +1 stands for. Scores always point to ``classes[1]``.
    constant : ndarray of shape (K',)
        Start of the score, all 0 unless no hypothesis was kept; K' is 1 for two classes, K for more.
    response : str
        How the answer of a hypothesis is read.
    """

    ensemble: Ensemble
    classes: NDArray[Any]
    positive: int
    constant: Floats
    response: Response

    @classmethod
    def of(cls, ensemble: Ensemble, labels: Labels, cheapest: int, response: Response) -> "Votes":
        """Score of an ensemble; without a hypothesis, a constant for the class `cheapest` to decide."""
        n_classes = len(labels.classes)
        constant = np.zeros(1 if n_classes == 2 else n_classes)
        if not ensemble.hypotheses:
            chosen = 0 if n_classes == 2 else cheapest
            constant[chosen] = 1.0 if n_classes > 2 or cheapest == 1 else -1.0
        return cls(ensemble, labels.classes, labels.positive, constant, response)

    def added(self, alpha: float, parts: tuple[float, float] | None, response: NDArray[Any]) -> Floats:
        """(n, K') what a hypothesis with this answer adds to the scores of n rows."""
        if len(self.classes) == 2:
            gained = alpha * response if parts is None else np.where(response > 0, *parts)
            return (gained if self.positive == 1 else -gained)[:, None]
        return np.where(response[:, None] == np.arange(len(self.classes)), alpha, 0.0)

    def staged(self, X: Any) -> Iterator[Floats]:
        """Scores (n, K') after each round: those of an ensemble that ends with it, to the bit."""
        score = self._start(X)
        if self._of_stumps:
            yield from self._staged_by_column(X)
            return
        for _, added in self._added(X):
            score = score + added
            yield score

    def _staged_by_column(self, X: Any) -> Iterator[Floats]:
        """Stumps on one column are added up first, as `Terms` has them."""
        columns: dict[int, Floats] = {}
        for stump, added in self._added(X):
            columns[stump.feature_] = columns.get(stump.feature_, 0.0) + added
            score = self._start(X)
            for feature in sorted(columns):
                score += columns[feature]
            yield score

    def _start(self, X: Any) -> Floats:
        return np.repeat(self.constant[None], X.shape[0], axis=0)

    def _added(self, X: Any) -> Iterator[tuple[Any, Floats]]:
        """Each weak learner with what it adds to the scores (n, K')."""
        for hypothesis, alpha, parts in self._voters():
            answer = respond(
                hypothesis.estimator,
                X,
                self.classes,
                self.positive,
                response=self.response,
                scale=hypothesis.scale,
            )
            yield hypothesis.estimator, self.added(alpha, parts, answer)

    def score(self, X: Any) -> Floats:
        """Scores (n, K') of all rounds."""
        score = self._start(X)
        for score in self.staged(X):  # noqa: B007
            pass
        return score

    def stumps(self) -> list[tuple[DecisionStump, int, Floats]]:
        """What each stump adds to each score it changes, where all hypotheses are stumps.

        Each time the stump, the score, and (3,) what it adds below its cut, above it, and if the value is
        missing.
        """
        return [
            (hypothesis.estimator, k, added)
            for hypothesis, alpha, parts in self._voters()
            for k, added in enumerate(self._sides(hypothesis.estimator, alpha, parts))
            if added.any()
        ]

    @property
    def _of_stumps(self) -> bool:
        return all(isinstance(voter.estimator, DecisionStump) for voter in self.ensemble.hypotheses)

    def _voters(self) -> Iterator[tuple[Hypothesis, float, tuple[float, float] | None]]:
        ensemble = self.ensemble
        return zip(ensemble.hypotheses, ensemble.alphas, ensemble.parts, strict=True)

    def _sides(self, stump: DecisionStump, alpha: float, parts: tuple[float, float] | None) -> Floats:
        """(K', 3): what a stump adds to each score below its cut, above it, and for a missing value."""
        codes = np.array([stump.below_, stump.above_, stump.missing_])
        answer = codes if len(self.classes) > 2 else np.where(codes == self.positive, 1.0, -1.0)
        return self.added(alpha, parts, answer).T


def softmax(scores: Floats) -> Floats:
    """Exponentials of each row divided by their sum, added from left to right whatever the batch."""
    powers = exp(scores - scores.max(axis=1, keepdims=True))
    mass = np.zeros(len(powers))
    for column in powers.T:
        mass = mass + column
    return powers / mass[:, None]
