"""A weak learner that plays back fixed hypotheses, so that a formula is tested without a learner."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Tape:
    """Hypotheses in the order they are played, and the weights each player was shown."""

    def __init__(self, hypotheses: Sequence[Any]) -> None:
        self.left = list(np.asarray(hypotheses))
        self.weights: list[NDArray[np.float64]] = []
        self.labels: list[NDArray[Any]] = []

    def __deepcopy__(self, memo: dict[int, object]) -> "Tape":
        return self  # `clone` copies parameters, but there is one tape


class Player(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answers row i of its training set with the i-th label of its hypothesis; X holds row numbers."""

    def __init__(self, tape: Tape | None = None) -> None:
        self.tape = tape

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Player":
        assert self.tape is not None
        self.hypothesis_ = self.tape.left.pop(0)
        self.tape.weights.append(sample_weight)
        self.tape.labels.append(y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        answers: NDArray[Any] = self.hypothesis_[np.asarray(X)[:, 0].astype(int)]
        return answers


class RealPlayer(Player):
    """The same for hypotheses in [-1, 1], given as probabilities."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        h = super().predict(X)
        return np.column_stack([(1 - h) / 2, (1 + h) / 2])


class DecisionPlayer(Player):
    """The same for hypotheses of any size."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return super().predict(X)


def row_numbers(n: int) -> NDArray[np.float64]:
    """(n, 1): what players are trained on."""
    return np.arange(n, dtype=np.float64)[:, None]


def played(hypotheses: Sequence[Any], kind: type[Player] = Player) -> Player:
    """Return a player of a new tape."""
    return kind(Tape(hypotheses))
