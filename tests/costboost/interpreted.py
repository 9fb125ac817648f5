"""Digests of what every kernel has a part in: `python -m tests.costboost.interpreted` prints them.

With NUMBA_DISABLE_JIT=1 kernels run as the Python they are written in, and integers that are to wrap around
warn that they do.
"""

import hashlib
import json
import warnings
from typing import Any

import numpy as np

from costboost import persistence
from costboost.columns import typed_columns
from costboost.explain import Explainer
from costboost.model import CostSensitiveModel
from costboost.registry import make
from costboost.splits import Split

STUMP = {"name": "stump", "max_bins": 8}
TREE = {"name": "tree", "max_depth": 3, "min_samples_leaf": 2}
SVM: dict[str, Any] = {"name": "svm", "max_iter": 20}

#: Algorithm, its parameters, number of classes.
CASES: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("adaboost", {"estimator": STUMP}, 2),
    ("adaboost", {"estimator": STUMP}, 3),
    ("adacost", {"estimator": STUMP}, 2),
    ("cgada", {"estimator": TREE}, 2),
    ("cgada", {"estimator": TREE}, 3),
    ("gentle", {"estimator": STUMP}, 2),
    ("gentle", {"estimator": TREE}, 2),
    ("adaboost", {"estimator": SVM}, 2),
    ("adaboost", {"estimator": SVM | {"solver": "svrg", "n_epochs": 2}}, 2),
    ("adaboost", {"estimator": SVM | {"solver": "sgd", "n_epochs": 2}}, 2),
    ("adaboost", {"estimator": SVM | {"kernel": "rbf"}}, 2),
    ("adaboost", {"estimator": SVM | {"kernel": "rbf", "exact_rows": 8, "nystroem_components": 4}}, 2),
    ("mixture", {}, 2),
    ("mixture", {}, 3),
)


def digests() -> dict[str, str]:
    """SHA-256 of artifact, scores and contributions of each case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {repr(case): _digest(*case) for case in CASES}


def _digest(name: str, params: dict[str, Any], n_classes: int) -> str:
    rng = np.random.default_rng(3)
    n = 60
    X: dict[str, Any] = {"x": rng.normal(size=n).round(1), "y": rng.normal(size=n)}
    X["kind"] = rng.choice(np.array(["a", "b", "c", "d"], dtype=object), n)
    noise = rng.normal(size=n) / 2
    y = np.digitize(X["x"] + (X["kind"] == "c") + noise, [0.0, 1.0][: n_classes - 1])
    X["y"][rng.random(n) < 0.2] = np.nan
    booster = make(name, {"n_estimators": 3, "random_state": 0} | params)
    model = CostSensitiveModel(booster, split=Split(folds=2), random_state=0).fit(X, y)
    explanation = Explainer(model.scorer()).explain(typed_columns(X)[0])
    found = hashlib.sha256(persistence.dump(model))
    for part in (model.predict_proba(X), explanation.contributions):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    print(json.dumps(digests()))
