"""What a boosting round asks of a weak learner."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hypothesis", "Labels", "PreparedLearner", "Sample"]


@dataclass(frozen=True)
class Labels:
    """The labels of a training set.

    Parameters
    ----------
    codes : ndarray of shape (n,), intp
        Index of each row's class in `classes`.
    classes : ndarray of shape (K,)
        Labels as the user writes them.
    positive : int
        With two classes the index of the one that a response of +1 stands for.
    """

    codes: NDArray[np.intp]
    classes: NDArray[Any]
    positive: int = 1

    @property
    def sign(self) -> NDArray[np.float64]:
        """(n,): +1 for the positive class, else -1."""
        return np.where(self.codes == self.positive, 1.0, -1.0)


@dataclass(frozen=True)
class Sample:
    """What a round's weak learner is shown: weights of all rows, or rows drawn (with repeats) and theirs."""

    weights: NDArray[np.float64]
    rows: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Hypothesis:
    """A fitted weak learner and what it says of every training row.

    Parameters
    ----------
    estimator : object
        The fitted weak learner.
    response : ndarray of shape (n,)
        Two classes: float64 in [-1, 1], positive for the positive class. More: intp, the class predicted.
    scale : float
        What a decision function was divided by; fixed here, so that a prediction never depends on a batch.
    """

    estimator: Any
    response: NDArray[Any]
    scale: float = 1.0


class PreparedLearner(Protocol):
    """A weak learner that has seen the rows once and is then fitted under many weights."""

    def fit(self, sample: Sample, labels: Labels, rng: np.random.Generator) -> Hypothesis:
        """Fit under these weights and answer for every training row."""
        ...
