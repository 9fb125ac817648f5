"""All algorithms, and rows that tests of boosters are fitted to."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting.lp_boost import LPBoostClassifier
from costboost.boosting.soft_boost import SoftBoostClassifier
from costboost.registry import ALGORITHMS

CLASSES = [algorithm.cls for algorithm in ALGORITHMS.values()]
#: Where more rows are noise than ν allows for, the best soft margin is 0 and the vote says nothing.
FOR_NOISE: dict[type[CostSensitiveBooster], dict[str, Any]] = {
    LPBoostClassifier: {"nu": 0.5},
    SoftBoostClassifier: {"nu": 0.5},
}


def noisy_rows() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 1).astype(int)


def three_classes() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 3))
    return X, np.array(["a", "b", "c"])[np.argmax(X + rng.normal(size=X.shape) / 2, axis=1)]


def fitted(cls: type[CostSensitiveBooster], rows: tuple[Any, Any], **parameters: Any) -> CostSensitiveBooster:
    with warnings.catch_warnings():  # some formulas are known to end in one class, and say so
        warnings.filterwarnings("ignore", message=".*costs compound")
        return cls(n_estimators=20, **parameters).fit(*rows)
