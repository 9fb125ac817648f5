"""Labels that were given, as shares of the rows' weight, in [0, 1].

Arrays are of shape (n,): `hit` rows are of the class, `told` rows were given its label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.undefined import UndefinedMetricError
from costboost.metrics.weighted import total


def recall(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows of a class that were given its label (a reviewed row was not)."""
    return _share(hit & told, hit, weight, "there are no rows of a class")


def precision(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows given a label that are of its class."""
    return _share(hit & told, told, weight, "no row was given the label of a class")


def specificity(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows of other classes that were not given the label."""
    return _share(~hit & ~told, ~hit, weight, "there are no rows of other classes")


def f1(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Harmonic mean of precision and recall: 2 tp / (2 tp + fp + fn)."""
    whole = total(weight * hit) + total(weight * told)
    if not whole > 0:
        raise UndefinedMetricError("a class has neither rows nor decisions")
    return 2.0 * total(weight * (hit & told)) / whole


def _share(
    part: NDArray[np.bool_], whole: NDArray[np.bool_], weight: NDArray[np.float64], reason: str
) -> float:
    denominator = total(weight * whole)
    if not denominator > 0:
        raise UndefinedMetricError(reason)
    return total(weight * part) / denominator
