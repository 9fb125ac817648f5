"""From kept hypotheses to a score: as terms where they are stumps, else by asking each of them."""

from collections.abc import Iterator, Sequence
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
from costboost.terms import Terms

__all__ = ["Votes", "joined", "softmax"]


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
        """Score of an ensemble; without a hypothesis, a constant for the class that is cheapest to decide."""
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
        """Scores (n, K') after each round."""
        score = np.repeat(self.constant[None], X.shape[0], axis=0)
        for hypothesis, alpha, parts in self._voters():
            answer = respond(
                hypothesis.estimator,
                X,
                self.classes,
                self.positive,
                response=self.response,
                scale=hypothesis.scale,
            )
            score = score + self.added(alpha, parts, answer)
            yield score

    def score(self, X: Any) -> Floats:
        """Scores (n, K') of all rounds."""
        score = np.repeat(self.constant[None], X.shape[0], axis=0)
        for score in self.staged(X):  # noqa: B007
            pass
        return score

    def terms(self, n_features: int) -> Terms | None:
        """Return the same score as terms, or None if a hypothesis is no stump."""
        if not all(isinstance(voter.estimator, DecisionStump) for voter in self.ensemble.hypotheses):
            return None
        steps = [
            (hypothesis.estimator, k, added[k])
            for hypothesis, alpha, parts in self._voters()
            for added in [self._sides(hypothesis.estimator, alpha, parts)]
            for k in np.flatnonzero(added.any(axis=1))
        ]
        sides = np.array([side for _, _, side in steps]).reshape(len(steps), 3)
        return Terms(
            feature=np.array([stump.feature_ for stump, _, _ in steps], dtype=np.int32),
            cut=np.array([stump.cut_ for stump, _, _ in steps], dtype=np.float64),
            below=sides[:, 0].copy(),
            above=sides[:, 1].copy(),
            missing=sides[:, 2].copy(),
            output=np.array([k for _, k, _ in steps], dtype=np.int32),
            constant=self.constant,
            n_features=n_features,
        )

    def _voters(self) -> Iterator[tuple[Hypothesis, float, tuple[float, float] | None]]:
        ensemble = self.ensemble
        return zip(ensemble.hypotheses, ensemble.alphas, ensemble.parts, strict=True)

    def _sides(self, stump: DecisionStump, alpha: float, parts: tuple[float, float] | None) -> Floats:
        """(K', 3): what a stump adds to each score below its cut, above it, and for a missing value."""
        codes = np.array([stump.below_, stump.above_, stump.missing_])
        answer = codes if len(self.classes) > 2 else np.where(codes == self.positive, 1.0, -1.0)
        return self.added(alpha, parts, answer).T


def joined(parts: Sequence[Terms]) -> Terms:
    """Put terms of one score each side by side: part k becomes score k."""
    return Terms(
        feature=np.concatenate([part.feature for part in parts]),
        cut=np.concatenate([part.cut for part in parts]),
        below=np.concatenate([part.below for part in parts]),
        above=np.concatenate([part.above for part in parts]),
        missing=np.concatenate([part.missing for part in parts]),
        output=np.concatenate([np.full(len(part.output), k, np.int32) for k, part in enumerate(parts)]),
        constant=np.concatenate([part.constant for part in parts]),
        n_features=parts[0].n_features,
    )


def softmax(scores: Floats) -> Floats:
    """Exponentials of each row divided by their sum, added from left to right whatever the batch."""
    powers = exp(scores - scores.max(axis=1, keepdims=True))
    mass = np.zeros(len(powers))
    for column in powers.T:
        mass = mass + column
    return powers / mass[:, None]
