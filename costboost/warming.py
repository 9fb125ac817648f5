"""Compiles the kernels ahead of the first fit, or says whether that has been done."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from costboost.columns import typed_columns
from costboost.explain import Explainer
from costboost.kernels import _jit
from costboost.model import CostSensitiveModel
from costboost.registry import make
from costboost.splits import Split

__all__ = ["is_warm", "kernel_folder", "warm"]

#: So few rows are fitted; a machine with a kernel takes more than it may hold exactly.
_ROWS = 48
_RBF: dict[str, Any] = {"name": "svm", "kernel": "rbf", "max_iter": 20}
#: All weak learners in all their ways.
_LEARNERS: tuple[Any, ...] = (
    {"name": "stump", "max_bins": 8},
    {"name": "tree", "max_depth": 2, "max_bins": 8, "min_samples_leaf": 2},
    {"name": "svm", "max_iter": 20},
    {"name": "svm", "solver": "svrg", "n_epochs": 2},
    _RBF,
    _RBF | {"exact_rows": 8, "nystroem_components": 4},
)


def warm() -> int:
    """Compile what is not kept yet, by small fits.

    Returns
    -------
    int
        How many kernels were compiled, each counted once for each type of its arrays; 0 if all were kept.
    """
    before = _jit.compiled_kernels()
    _use_all()
    return _jit.compiled_kernels() - before


def is_warm() -> bool:
    """Whether the kernels are kept for this processor; nothing is compiled to find out."""
    try:
        with _jit.without_compiling():
            _use_all()
    except _jit.NotKeptError:
        return False
    return True


def kernel_folder() -> Path:
    """Folder in which compiled kernels are kept: NUMBA_CACHE_DIR, or one chosen by what can be written."""
    return _jit.cache_folder()


def _use_all() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(_ROWS, 2))
    X = {"x": x[:, 0], "y": x[:, 1], "kind": np.array(["a", "b", "c"] * (_ROWS // 3), dtype=object)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_classes in (2, 3):
            y = np.digitize(x[:, 0] + rng.normal(size=_ROWS), [0.0, 1.0][: n_classes - 1])
            for learner in _LEARNERS:
                _use(X, y, make("adaboost", {"n_estimators": 2, "estimator": learner}))
            _use(X, y, make("mixture", {"n_estimators": 2}))
        for learner in _LEARNERS[:2]:
            _use(X, y > 0, make("gentle", {"n_estimators": 2, "estimator": learner}))
        booster = make("adaboost", {"n_estimators": 2}).fit(x, y > 0)
        booster.decision_function(x.astype(np.float32))
        booster.decision_function(x)


def _use(X: dict[str, Any], y: Any, booster: Any) -> None:
    model = CostSensitiveModel(booster, split=Split(folds=2), random_state=0).fit(X, y)
    Explainer(model.scorer()).explain(typed_columns(X)[0])
