"""The peers in process, each on one thread and asked for the same number of rounds and leaves."""

from collections.abc import Callable, Sequence
from typing import Any

import catboost
import lightgbm
import numpy as np
import onnxmltools
import onnxruntime
import xgboost
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.typing import NDArray
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.learners.tree import HistogramTree
from costboost.registry import make

from .results import OURS

Fit = Callable[[Any, Any], Any]

SKLEARN = "scikit-learn AdaBoost"
HISTGB = "scikit-learn HistGB"
LIGHTGBM = "LightGBM"
XGBOOST = "XGBoost"
CATBOOST = "CatBoost"
EBM = "interpret EBM"
ONNX = "onnxruntime"


def fits(depth: int, rounds: int, categories: Sequence[int] = ()) -> dict[str, Fit]:
    """Each method's training, by name.

    Parameters
    ----------
    depth : int
        1 for stumps.
    rounds : int
    categories : sequence of int
        Columns that hold codes; scikit-learn's AdaBoost knows none.
    """
    return {
        OURS: lambda X, y: fit_ours("adaboost", X, y, depth, rounds, categories=categories),
        LIGHTGBM: lambda X, y: _lightgbm(X, y, depth, rounds, categories),
        XGBOOST: lambda X, y: _xgboost(X, y, depth, rounds, categories),
        HISTGB: lambda X, y: _histgb(X, y, depth, rounds, categories),
        CATBOOST: lambda X, y: _catboost(X, y, depth, rounds),
        SKLEARN: lambda X, y: AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=depth), n_estimators=rounds, random_state=0
        ).fit(X, y),
        EBM: lambda X, y: ExplainableBoostingClassifier(
            interactions=0, max_rounds=rounds, outer_bags=1, validation_size=0, n_jobs=1, random_state=0
        ).fit(X, y),
    }


def fit_ours(
    algorithm: str, X: Any, y: Any, depth: int, rounds: int, *, categories: Sequence[int] = (), **params: Any
) -> Any:
    """Train one of ours, and make sure that no round was left out.

    Raises
    ------
    RuntimeError
        It ended early: its time would say nothing.
    """
    learner = None
    if depth > 1 or categories:
        learner = HistogramTree(max_depth=depth, categorical_features=list(categories) or None)
    booster = make(algorithm, {"estimator": learner, "n_estimators": rounds, **params}).fit(X, y)
    if len(booster.estimator_weights_) != rounds:
        raise RuntimeError(f"{len(booster.estimator_weights_)} rounds of {rounds}: {booster.stop_reason_}")
    return booster


def _lightgbm(X: Any, y: Any, depth: int, rounds: int, categories: Sequence[int]) -> Any:
    params = {"objective": "binary", "num_leaves": 2**depth, "num_threads": 1, "verbose": -1}
    table = lightgbm.Dataset(X, y, categorical_feature=list(categories), params=params)
    return lightgbm.train(params, table, rounds)


def _xgboost(X: Any, y: Any, depth: int, rounds: int, categories: Sequence[int]) -> Any:
    kinds = ["c" if column in categories else "q" for column in range(X.shape[1])]
    table = xgboost.QuantileDMatrix(X, y, nthread=1, feature_types=kinds, enable_categorical=True)
    params = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": depth, "nthread": 1}
    return xgboost.train(params, table, rounds)


def _histgb(X: Any, y: Any, depth: int, rounds: int, categories: Sequence[int]) -> Any:
    # No sample_weight: its weighted binning would make it far slower than it has to be.
    return HistGradientBoostingClassifier(
        max_iter=rounds,
        max_leaf_nodes=2**depth,
        early_stopping=False,
        categorical_features=list(categories) or None,
    ).fit(X, y)


def _catboost(X: Any, y: Any, depth: int, rounds: int) -> Any:
    return catboost.CatBoostClassifier(
        iterations=rounds, depth=depth, thread_count=1, verbose=False, allow_writing_files=False
    ).fit(X, y)


def onnx_session(booster: Any, columns: int) -> Any:
    """Turn a LightGBM booster into a session of onnxruntime."""
    kinds = [("x", FloatTensorType([None, columns]))]
    model = onnxmltools.convert_lightgbm(booster, initial_types=kinds, zipmap=False, target_opset=15)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def answers(models: dict[str, Any], X: NDArray[np.float32], session: Any) -> dict[str, Callable[[], Any]]:
    """Each method's way from a matrix to scores, the shortest it offers."""
    X64 = X.astype(np.float64)
    ours, light, xgb = models[OURS], models[LIGHTGBM], models[XGBOOST]
    return {
        OURS: lambda: ours.ensemble_.score(X64),
        f"{OURS} decision_function": lambda: ours.decision_function(X),
        LIGHTGBM: lambda: light.predict(X, raw_score=True, num_threads=1),
        XGBOOST: lambda: xgb.inplace_predict(X),
        ONNX: lambda: session.run(None, {"x": X}),
        CATBOOST: lambda: models[CATBOOST].predict(X, prediction_type="RawFormulaVal", thread_count=1),
        HISTGB: lambda: models[HISTGB].decision_function(X),
        SKLEARN: lambda: models[SKLEARN].decision_function(X),
    }
