"""The peers, as their users make them: defaults, one thread, categories as such where they take them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .sets import Fold

__all__ = ["PEERS", "Peer", "cells"]

Draw = Callable[[Generator], Any]


@dataclass(frozen=True)
class Peer:
    """A library's classifier.

    Parameters
    ----------
    distribution : str
        What its version is read from.
    make : callable
        ``make(fold, parameters)``: the unfitted estimator.
    space : mapping of parameter to draw
        What a search draws from; empty: it is not searched.
    stage : int
        When it has its turn: what takes long waits for the others.
    """

    distribution: str
    make: Callable[[Fold, Mapping[str, Any]], Any]
    space: Mapping[str, Draw] = field(default_factory=dict)
    stage: int = 0

    def draw(self, rng: Generator) -> dict[str, Any]:
        """One setting."""
        return {name: draw(rng) for name, draw in self.space.items()}


def cells(fold: Fold) -> Any:
    """Numbers standardised, their gaps at the median; a column for each category."""
    numbers = [name for name in fold.train if name not in fold.categories]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), fold.categories),
    )


def _lightgbm(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=fold.seed, verbosity=-1, **parameters)


def _xgboost(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=fold.seed, enable_categorical=True, **parameters)


def _catboost(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1,
        random_seed=fold.seed,
        verbose=False,
        allow_writing_files=False,
        cat_features=fold.categories,
        **parameters,
    )


def _histgb(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    return HistGradientBoostingClassifier(random_state=fold.seed, **parameters)


def _ebm(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    # Pairs of columns are for two classes only.
    pairs: dict[str, Any] = {} if fold.n_classes == 2 else {"interactions": 0}
    return ExplainableBoostingClassifier(n_jobs=1, random_state=fold.seed, **pairs, **parameters)


def _logistic(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    return make_pipeline(cells(fold), LogisticRegression(max_iter=1000, **parameters))


def _forest(fold: Fold, parameters: Mapping[str, Any]) -> Any:
    return make_pipeline(cells(fold), RandomForestClassifier(random_state=fold.seed, n_jobs=1, **parameters))


def _log(low: float, high: float) -> Draw:
    return lambda rng: float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _whole(low: int, high: int) -> Draw:
    return lambda rng: int(rng.integers(low, high + 1))


def _share(low: float) -> Draw:
    return lambda rng: float(rng.uniform(low, 1.0))


PEERS: dict[str, Peer] = {
    "LightGBM": Peer(
        "lightgbm",
        _lightgbm,
        {
            "learning_rate": _log(0.01, 0.3),
            "num_leaves": _whole(4, 63),
            "min_child_samples": _whole(2, 50),
            "n_estimators": _whole(50, 400),
            "colsample_bytree": _share(0.4),
            "reg_lambda": _log(0.01, 10),
        },
    ),
    "XGBoost": Peer(
        "xgboost-cpu",
        _xgboost,
        {
            "learning_rate": _log(0.01, 0.3),
            "max_depth": _whole(1, 8),
            "min_child_weight": _log(0.5, 20),
            "n_estimators": _whole(50, 400),
            "subsample": _share(0.5),
            "colsample_bytree": _share(0.4),
        },
    ),
    "CatBoost": Peer(
        "catboost",
        _catboost,
        {
            "learning_rate": _log(0.01, 0.3),
            "depth": _whole(2, 8),
            "iterations": _whole(50, 400),
            "l2_leaf_reg": _log(1, 30),
        },
        stage=1,
    ),
    "HistGradientBoosting": Peer(
        "scikit-learn",
        _histgb,
        {
            "learning_rate": _log(0.01, 0.3),
            "max_leaf_nodes": _whole(4, 63),
            "min_samples_leaf": _whole(2, 50),
            "max_iter": _whole(50, 400),
            "l2_regularization": _log(0.01, 10),
        },
    ),
    "EBM": Peer("interpret-core", _ebm, stage=3),
    "logistic regression": Peer("scikit-learn", _logistic, {"C": _log(0.001, 100)}),
    "random forest": Peer(
        "scikit-learn",
        _forest,
        {
            "n_estimators": _whole(100, 300),
            "min_samples_leaf": _whole(1, 20),
            "max_features": _share(0.1),
        },
    ),
}
