"""Rows made ready to be learned from, and the checks of the booster and of what is given beside columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from costboost.cross_fitting import Rows, TrainingSet
from costboost.learners.weights import read_weights
from costboost.registry import DEFAULT_ALGORITHM, make
from costboost.training_costs import TrainingCosts

__all__ = ["Prepared", "booster_of", "given_columns", "weights_of_all"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows made ready to be learned from.

    Attributes
    ----------
    booster : estimator
        Unfitted, with costs and seed.
    rows : TrainingSet
        In the order in which they are learned.
    parts : list of (train, valid) row indices
        The folds.
    costs : TrainingCosts
        Of the rows, by the code of each class.
    codes : ndarray of shape (K,), intp
        Code of each class.
    order : ndarray of shape (n,), intp
        Where each row stands in the caller's table.
    """

    booster: Any
    rows: TrainingSet
    parts: list[tuple[Rows, Rows]]
    costs: TrainingCosts
    codes: NDArray[np.intp]
    order: Rows


def booster_of(estimator: Any) -> Any:
    """Unfitted booster that takes costs: the one of a name, the default one, or a clone of the one given."""
    if estimator is None or isinstance(estimator, str):
        return make(estimator or DEFAULT_ALGORITHM)
    if isinstance(estimator, type):
        raise TypeError(f"estimator is a class; give an instance: {estimator.__name__}()")
    booster = clone(estimator)
    if has_fit_parameter(booster, "sample_cost") and "cost_matrix" in booster.get_params(deep=False):
        return booster
    raise ValueError("estimator must be a booster of this library: it takes cost_matrix and sample_cost")


def given_columns(n: int, **columns: ArrayLike | None) -> dict[str, Any]:
    """Those that are given, as arrays of shape (n,)."""
    given = {name: np.asarray(values) for name, values in columns.items() if values is not None}
    for name, values in given.items():
        if values.shape != (n,):
            raise ValueError(f"{name} must have shape ({n},), not {values.shape}")
    return given


def weights_of_all(sample_weight: ArrayLike | None, y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Weights of rows, of which each class has some."""
    weight = read_weights(sample_weight, len(y))
    if (np.bincount(y, weights=weight) <= 0).any():
        raise ValueError("each class needs rows with a weight above 0")
    return weight
