"""scikit-learn's own checks, for the stump and for every algorithm of the registry: none may fail."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from costboost.learners.stump import DecisionStump
from costboost.learners.tree import HistogramTree
from costboost.registry import ALGORITHMS

ESTIMATORS = [
    DecisionStump(),
    HistogramTree(),
    *(algorithm.cls() for algorithm in ALGORITHMS.values()),
    ALGORITHMS["cgada"].cls({"name": "tree", "max_depth": 2}, n_estimators=5),
    ALGORITHMS["cgada"].cls("svm", n_estimators=5),
]


def name_of(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


# Arrays of other libraries are tried only where an environment variable says so before numpy is loaded.
CASES = [
    pytest.param(instance, check, id=f"{type(instance).__name__}-{name_of(check)}-{number}")
    for estimator in ESTIMATORS
    for number, (instance, check) in enumerate(estimator_checks_generator(estimator))
    if name_of(check) != "check_array_api_input"
]


@pytest.mark.filterwarnings("ignore:.*kept no hypothesis")  # Modest AdaBoost, where one class has all weight
@pytest.mark.parametrize(("estimator", "check"), CASES)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
