"""Registered algorithms for tests of what lies above them."""

from collections.abc import Mapping
from typing import Any

from costboost import registry
from costboost.boosting._base import CostSensitiveBooster
from costboost.learners.stump import DecisionStump


def make(name: str, params: Mapping[str, Any] | None = None) -> CostSensitiveBooster:
    """Make an unfitted booster whose default is over stumps, which take missing values and are cheap."""
    booster = registry.make(name, params)
    if booster.estimator is None:
        booster.set_params(estimator=DecisionStump())
    return booster
