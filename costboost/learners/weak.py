"""What a boosting round asks of a weak learner."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hypothesis", "Labels", "PreparedLearner", "Sample", "classes_of"]

#: Rows whose labels are looked at together.
_SOME = 10_000
#: Classes that codes can number.
_MOST_CLASSES = 2**16


@dataclass(frozen=True)
class Labels:
    """The labels of a training set.

    Parameters
    ----------
    codes : ndarray of shape (n,), uint16
        Index of each row's class in `classes`.
    classes : ndarray of shape (K,)
        Labels as the user writes them.
    positive : int
        With two classes the index of the one that a response of +1 stands for.
    """

    codes: NDArray[np.uint16]
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


def classes_of(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Distinct labels and the index of each row's.

    Raises
    ------
    ValueError
        If there are more than codes can number.
    """
    classes = np.unique(y[:_SOME])
    codes = _found(classes, y)  # the first rows usually hold all classes, which spares a sort
    if codes is None:
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) > _MOST_CLASSES:
            raise ValueError(
                f"the labels hold {len(classes)} classes, more than the {_MOST_CLASSES} possible"
            )
        codes = numbers.astype(np.uint16)
    return classes, codes


def _found(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.uint16] | None:
    """Look labels up, some rows at a time for the sake of memory; None if there are others."""
    codes = np.empty(len(y), dtype=np.uint16)
    for first in range(0, len(y), _SOME):
        part = y[first : first + _SOME]
        numbers = np.minimum(np.searchsorted(classes, part), len(classes) - 1)
        if not np.array_equal(classes[numbers], part):
            return None
        codes[first : first + _SOME] = numbers
    return codes
