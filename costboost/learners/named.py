"""Weak learners by name, so that what is asked for can be written in JSON."""

from collections.abc import Mapping
from typing import Any

from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree
from costboost.parameters import check_params

__all__ = ["WEAK_LEARNERS", "weak_learner"]

WEAK_LEARNERS: dict[str, type] = {"stump": DecisionStump, "tree": HistogramTree, "svm": WeightedSVM}


def weak_learner(estimator: Any) -> Any:
    """Make the weak learner that a name, or a dict of its name and parameters, stands for.

    Parameters
    ----------
    estimator : str, dict or classifier
        A classifier is returned as it is.

    Raises
    ------
    ValueError
        If there is no weak learner of that name, or a parameter of it is unknown or out of bounds.

    Examples
    --------
    >>> weak_learner({"name": "tree", "max_depth": 2})
    HistogramTree(max_depth=2)
    """
    if isinstance(estimator, str):
        estimator = {"name": estimator}
    if not isinstance(estimator, Mapping):
        return estimator
    params = dict(estimator)
    name = params.pop("name", None)
    if not isinstance(name, str) or name not in WEAK_LEARNERS:
        raise ValueError(f"estimator must be one of {', '.join(map(repr, WEAK_LEARNERS))}, or a classifier")
    cls = WEAK_LEARNERS[name]
    if problems := check_params(cls, params):
        (path, message), *_ = problems
        raise ValueError(f"estimator {name!r}: {'/'.join(path)} {message}")
    return cls(**params)
