"""Counts what is decided, and what it is expected to cost."""

from functools import lru_cache

import numpy as np

from service.api.figures import DECISIONS, EXPECTED_COST
from service.usecases.predicting import Predicted
from service.usecases.scoring import Loaded


def count(loaded: Loaded, predicted: Predicted) -> None:
    """Count what was decided."""
    answers = predicted.answers
    if answers is not None:
        expected = np.take_along_axis(answers.expected_cost, answers.decision[:, None], axis=1)
        _expected_cost(*_named(loaded)).inc(float(expected.sum()))
        served = np.bincount(answers.label + 1).tolist()  # a review serves no class: -1
        for name, rows in zip(("review", *answers.classes), served, strict=False):
            if rows:
                _decisions(*_named(loaded), name).inc(rows)


def count_row(loaded: Loaded, expected_cost: float, label: int) -> None:
    """Count one decision."""
    _expected_cost(*_named(loaded)).inc(expected_cost)
    _decisions(*_named(loaded), loaded.predictor.classes[label] if label >= 0 else "review").inc()


def _named(loaded: Loaded) -> tuple[str, str, str]:
    return loaded.version.tenant_id, loaded.model.name, str(loaded.version.number)


# Finding a figure by its labels takes longer than to count in it.
_expected_cost = lru_cache(maxsize=1024)(EXPECTED_COST.labels)
_decisions = lru_cache(maxsize=4096)(DECISIONS.labels)
