"""From a booster that was fitted to rows in several places to a model that decides."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from costboost.boosting._base import CostSensitiveBooster
from costboost.columns import TEXTUAL, ColumnType
from costboost.cross_fitting import Fitted
from costboost.features import FeatureEncoder
from costboost.model import CostSensitiveModel

__all__ = ["calibrated"]


def calibrated(
    model: CostSensitiveModel,
    booster: CostSensitiveBooster,
    X: Any,
    y: ArrayLike,
    *,
    sample_cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    types: Mapping[str, ColumnType] | None = None,
) -> CostSensitiveModel:
    """Make a model of a fitted booster, and of rows that it has not seen and that fit into this process.

    What `CostSensitiveModel.fit` takes from out-of-fold scores (calibrator, threshold, priors) is taken from
    the scores of these rows: a sample drawn at random of those that will be decided.

    Parameters
    ----------
    model : CostSensitiveModel
        With the costs of decisions; its estimator becomes the booster's.
    booster : CostSensitiveBooster
        Fitted to the features in the order of their names, to two classes the second of which is the
        positive one of the costs, or to more in the order of `classes_`.
    X, y, sample_cost, sample_weight, types
        As in `CostSensitiveModel.fit`; features are numbers, booleans or timestamps.

    Returns
    -------
    model
        Its `oof_score_` and `oof_probabilities_` are those of these rows, of no fold.

    Raises
    ------
    ValueError
        For what `fit` refuses, if a feature is a category or text, or if features or classes are not those
        that the booster was fitted to.

    Examples
    --------
    >>> from costboost import CGAdaClassifier
    >>> rows = {"a": np.arange(60.0), "b": np.arange(60.0) % 7}
    >>> y = rows["a"] > 29
    >>> booster = CGAdaClassifier(n_estimators=3).fit(np.column_stack([rows["a"], rows["b"]]), y)
    >>> model = CostSensitiveModel(costs={"fn": 9.0, "fp": 1.0})
    >>> calibrated(model, booster, rows, y).predict({"a": [1.0, 50.0], "b": [0.0, 0.0]})
    array([False,  True])
    """
    model.set_params(estimator=clone(booster))
    ready = model.prepare(X, y, sample_cost=sample_cost, sample_weight=sample_weight, types=types)
    rows = ready.rows
    textual = [name for name, kind in rows.types.items() if kind in TEXTUAL]
    if textual:
        raise ValueError(f"only numbers, booleans and timestamps can be features here, not {textual}")
    if len(rows.types) != booster.n_features_in_:
        raise ValueError(
            f"the booster was fitted to {booster.n_features_in_} features, not {len(rows.types)}"
        )
    ordered = model.classes_[np.argsort(ready.codes)]
    if not np.array_equal(ordered, booster.classes_):
        raise ValueError(
            f"the booster was fitted to the classes {booster.classes_.tolist()}, not {ordered.tolist()}"
        )
    fitted = Fitted(FeatureEncoder().fit(rows.columns, rows.types), booster)
    return model.settle(ready, fitted, fitted.score(rows.columns), n_folds=0)
