"""What rows and classes a weak learner takes."""

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree


def row_checks(estimator: Any) -> dict[str, Any]:
    """Choose how rows are checked: ours take numbers, what others take is their own affair."""
    if isinstance(estimator, DecisionStump | HistogramTree | WeightedSVM):
        takes_missing = get_tags(estimator).input_tags.allow_nan
        return {"dtype": np.float64, "ensure_all_finite": "allow-nan" if takes_missing else True}
    return {"dtype": None, "ensure_all_finite": False, "accept_sparse": ["csr", "csc"]}


def training_row_checks(estimator: Any) -> dict[str, Any]:
    """Choose how training rows are checked: columns that are cut into bins need no copy in float64."""
    return row_checks(estimator) | ({"dtype": [np.float64, np.float32]} if is_binned(estimator) else {})


def checked(booster: Any, *rows: Any, **checks: Any) -> Any:
    """Rows as `validate_data` checks them; who brings more than numbers is told where that is taken."""
    try:
        return validate_data(booster, *rows, **checks)
    except (TypeError, ValueError) as error:
        if getattr(getattr(rows[0], "dtype", None), "kind", "O") not in "biufc":
            error.add_note(
                "a booster takes numbers; CostSensitiveModel(booster) also takes columns of text and "
                "times, Arrow tables and lists of dicts"
            )
        raise


def is_binned(estimator: Any) -> bool:
    """Whether its columns are cut into bins before the first round."""
    return isinstance(estimator, DecisionStump | HistogramTree)


def takes_many_classes(estimator: Any) -> bool:
    """Whether it tells more than two classes apart by itself."""
    # A learner need not inherit from scikit-learn.
    return not hasattr(estimator, "__sklearn_tags__") or get_tags(estimator).classifier_tags.multi_class
