"""Rows that were set aside, counted and priced by what was decided and what is true."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import costs_of_true_class
from service.learning.held_out import TestPart


def decided_table(part: TestPart) -> dict[str, Any]:
    """Count and price what the version decided.

    Returns
    -------
    dict
        `classes`, `actions`; `count` (summed weight) and `cost` (in money), each K x A.
    """
    own = costs_of_true_class(part.costs, part.codes)
    paid = part.weight * own[np.arange(len(own)), part.decision]
    counts, costs = [], []
    for code in range(len(part.classes)):
        chosen = [(part.codes == code) & (part.decision == action) for action in range(len(part.actions))]
        counts.append([math.fsum(part.weight[rows]) for rows in chosen])
        costs.append([math.fsum(paid[rows]) for rows in chosen])
    return {"classes": part.classes, "actions": part.actions, "count": counts, "cost": costs}


def cost_by_outcome(part: TestPart, thresholds: Sequence[float]) -> dict[str, list[float]]:
    """Price each outcome of calling positive what lies above a threshold (two classes).

    Returns
    -------
    dict of lists
        `tp`, `fp`, `fn`, `tn`: money, one for each threshold; together the `cost` of the table of thresholds.
    """
    assert part.positive is not None
    p, own = part.probabilities[:, part.positive], costs_of_true_class(part.costs, part.codes)
    above = part.weight * own[:, part.serves.index(part.positive)]
    below = part.weight * own[:, part.serves.index(1 - part.positive)]
    is_positive = part.codes == part.positive
    order = np.argsort(p, kind="stable")
    first = np.searchsorted(p[order], np.asarray(thresholds), side="right")
    return {
        "tp": _from(np.where(is_positive, above, 0.0)[order], first),
        "fp": _from(np.where(is_positive, 0.0, above)[order], first),
        "fn": _before(np.where(is_positive, below, 0.0)[order], first),
        "tn": _before(np.where(is_positive, 0.0, below)[order], first),
    }


def _before(amounts: NDArray[np.float64], ends: NDArray[np.intp]) -> list[float]:
    sums: list[float] = np.concatenate([[0.0], np.cumsum(amounts)])[ends].tolist()
    return sums


def _from(amounts: NDArray[np.float64], begins: NDArray[np.intp]) -> list[float]:
    # Summed from the far end, so that where nothing is left it is exactly nothing.
    sums: list[float] = np.concatenate([np.cumsum(amounts[::-1])[::-1], [0.0]])[begins].tolist()
    return sums


def outcome_tables(part: TestPart, thresholds: Sequence[float] | None) -> dict[str, Any]:
    """Both tables; `by_outcome` is None where there are no thresholds."""
    return {
        "decided": decided_table(part),
        "by_outcome": None if thresholds is None else cost_by_outcome(part, thresholds),
    }
