"""Every algorithm of the registry in every form of its formula, and small rows to try it on."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

from costboost.boosting._base import CostSensitiveBooster
from costboost.learners.stump import DecisionStump
from costboost.registry import ALGORITHMS, Algorithm


def forms_of(algorithm: Algorithm) -> dict[str, Any]:
    """Make what `fit` makes estimators with: the class, or one partial class per variant of the formula.

    All are over stumps: what a formula promises must not depend on how exactly a weak learner is solved.
    """
    cls: Any = algorithm.cls
    if not isinstance(cls()._weak_learner(), DecisionStump):
        return {algorithm.name: partial(cls, estimator=DecisionStump())}
    variants = algorithm.parameters["properties"].get("variant", {}).get("enum", [])
    named = {f"{algorithm.name}{variant}": partial(cls, variant=variant) for variant in variants}
    return named or {algorithm.name: cls}


FORMS = {name: make for algorithm in ALGORITHMS.values() for name, make in forms_of(algorithm).items()}
few = settings(max_examples=12, suppress_health_check=[HealthCheck.differing_executors])


class Rows:
    """A small training set, its costs and integer weights."""

    def __init__(self, seed: int, n_classes: int = 2, missing: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 50))
        self.X = rng.normal(size=(n, 3)).round(1)
        self.X[rng.random(self.X.shape) < missing] = np.nan
        noise = rng.normal(size=n)
        self.y = np.digitize(np.nan_to_num(self.X[:, 0]) + noise, np.linspace(0, 1.5, n_classes - 1))
        self.y[:n_classes] = np.arange(n_classes)
        self.cost = rng.integers(1, 6, n).astype(float)
        self.copies = rng.integers(1, 4, n)
        self.copies[0] = 1  # Modest AdaBoost counts in units of the lightest row
        self.order = rng.permutation(n)


def fit(cls: Any, X: Any, y: Any, cost: Any = None, **more: Any) -> CostSensitiveBooster:
    weights = more.pop("sample_weight", None)
    with np.errstate(all="raise", under="ignore"):
        return quiet(cls(**{"n_estimators": 12, "random_state": 0} | more), X, y, cost, weights)


def quiet(model: CostSensitiveBooster, X: Any, y: Any, cost: Any, weights: Any) -> CostSensitiveBooster:
    """Fit where a constant, and the warning about it, is one of the possible outcomes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis|.* of the training rows")
        return model.fit(X, y, sample_cost=cost, sample_weight=weights)
