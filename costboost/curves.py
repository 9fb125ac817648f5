"""Curves for pages and clients: plain lists of at most 512 points, ready for JSON.

Two classes, or one class of several against the rest: `is_positive` says which rows are of it. Wherever a
probability is compared with a threshold, a row is positive when it lies above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.margins import margins
from costboost.metrics.threshold_table import threshold_table
from costboost.metrics.undefined import UndefinedMetricError, defined
from costboost.metrics.weighted import row_weights
from costboost.reliability import calibration_line, reliability_table

__all__ = [
    "brier_curve",
    "evaluate_curves",
    "margin_distribution",
    "net_benefit_curve",
    "pr_curve",
    "roc_curve",
]

MAX_POINTS = 512

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Curve = dict[str, list[Any]]


def evaluate_curves(
    y_codes: NDArray[np.intp],
    probabilities: Floats,
    costs: Floats,
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, Any]:
    """All curves of rows whose class is known.

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    probabilities : ndarray of shape (n, K), float64
    costs : ndarray of shape (K, A) or (n, K, A), float64
    serves : sequence of A class indices, None for a review
    positive : int, optional
        Index of the positive class of two; class 1 when left out.
    sample_weight : ndarray of shape (n,), optional

    Returns
    -------
    dict
        Two classes: `roc`, `pr`, `calibration` (a table), `calibration_line`, `cost`, `net_benefit`,
        `thresholds`; and `undefined`: {name: reason} for those that are None. More: `classes`, a list with
        such a dict for each class against the rest, without `thresholds`.

    Examples
    --------
    >>> p = np.array([0.9, 0.6, 0.2, 0.05])
    >>> found = evaluate_curves(
    ...     np.array([1, 1, 0, 0]),
    ...     np.column_stack([1 - p, p]),
    ...     np.array([[0.0, 1.0], [9.0, 0.0]]),
    ...     serves=(0, 1),
    ... )
    >>> found["roc"]["tpr"], found["undefined"]
    ([0.0, 1.0, 1.0], {'calibration_line': 'the probabilities separate the classes perfectly'})
    """
    weight = row_weights(y_codes, sample_weight)
    n_classes = probabilities.shape[1]
    if n_classes > 2:
        each = [_of_one(y_codes == k, probabilities[:, k], weight) for k in range(n_classes)]
        return {"classes": each}
    chosen = 1 if positive is None else positive
    p = probabilities[:, chosen]
    table = threshold_table(
        y_codes, p, costs, serves=serves, positive=positive, sample_weight=weight, max_rows=MAX_POINTS
    )
    thresholds = {name: column.tolist() for name, column in table.items()}
    return {**_of_one(y_codes == chosen, p, weight), "thresholds": thresholds}


def _of_one(is_positive: Bools, p: Floats, weight: Floats) -> dict[str, Any]:
    known, undefined = defined(
        {
            "roc": lambda: roc_curve(is_positive, p, weight),
            "pr": lambda: pr_curve(is_positive, p, weight),
            "calibration": lambda: reliability_table(is_positive, p, weight),
            "calibration_line": lambda: calibration_line(is_positive, p, weight),
            "cost": lambda: brier_curve(is_positive, p, weight),
            "net_benefit": lambda: net_benefit_curve(is_positive, p, weight),
        }
    )
    return {**known, "undefined": undefined}


# Ranking


def roc_curve(is_positive: Bools, ranks: Floats, weight: Floats) -> Curve:
    """Share of the positive rows found against share of the others that are found with them.

    Parameters
    ----------
    is_positive : ndarray of shape (n,), bool
    ranks : ndarray of shape (n,), float64
        Higher is more likely positive.
    weight : ndarray of shape (n,), float64

    Returns
    -------
    dict of lists
        `fpr`, `tpr`, ascending; `threshold`: the least rank among the rows found, None where none is. Points
        on a straight line between two others are left out.

    Raises
    ------
    UndefinedMetricError
        All rows are of one class.

    Examples
    --------
    >>> roc_curve(np.array([True, False, True]), np.array([0.9, 0.6, 0.5]), np.ones(3))
    {'fpr': [0.0, 0.0, 1.0, 1.0], 'tpr': [0.0, 0.5, 0.5, 1.0], 'threshold': [None, 0.9, 0.6, 0.5]}
    """
    found, false, levels = _found(is_positive, ranks, weight)
    tpr, fpr = found / found[-1], false / false[-1]
    kept = np.flatnonzero(_corners(fpr, tpr))
    kept = kept[_spread(np.abs(np.diff(fpr[kept])) + np.abs(np.diff(tpr[kept])))]
    return {
        "fpr": fpr[kept].tolist(),
        "tpr": tpr[kept].tolist(),
        "threshold": [None, *levels[kept[1:] - 1].tolist()],
    }


def pr_curve(is_positive: Bools, ranks: Floats, weight: Floats) -> Curve:
    """Precision against recall, from the highest rank down.

    Parameters
    ----------
    is_positive, ranks, weight
        As in `roc_curve`.

    Returns
    -------
    dict of lists
        `recall` ascending, `precision`, `threshold` (the least rank among the rows found).

    Raises
    ------
    UndefinedMetricError
        All rows are of one class.

    Examples
    --------
    >>> pr_curve(np.array([True, False, True]), np.array([0.9, 0.6, 0.5]), np.ones(3))["recall"]
    [0.5, 0.5, 1.0]
    """
    found, false, levels = _found(is_positive, ranks, weight)
    recall, precision = found[1:] / found[-1], found[1:] / (found + false)[1:]
    kept = _spread(np.abs(np.diff(recall)) + np.abs(np.diff(precision)))
    return {
        "recall": recall[kept].tolist(),
        "precision": precision[kept].tolist(),
        "threshold": levels[kept].tolist(),
    }


# Probabilities


def brier_curve(is_positive: Bools, p: Floats, weight: Floats, *, points: int = 201) -> Curve:
    """Cost against the operating condition (Hernández-Orallo, Flach, Ferri 2011, "Brier curves").

    The operating condition is c = cost_fp / (cost_fp + cost_fn), the threshold of these costs; a row counts
    ``2 (1 - c)`` when it is missed and ``2 c`` when it is a false alarm. The area under the curve is the
    Brier score.

    Parameters
    ----------
    is_positive, p, weight
        Rows of the class (bool), the probability of being one, and the weight, each of shape (n,).
    points : int, default 201
        At most 512.

    Returns
    -------
    dict of lists
        `condition` from 0 to 1; `cost` of deciding by p > c; `always_positive`, `always_negative`.

    Examples
    --------
    >>> brier_curve(np.array([True, False]), np.array([0.7, 0.6]), np.ones(2), points=3)["cost"]
    [0.0, 0.5, 0.0]
    """
    conditions = np.linspace(0.0, 1.0, _checked(points))
    told, false, share = _shares_above(is_positive, p, weight, conditions)
    missed = share - told
    return {
        "condition": conditions.tolist(),
        "cost": (2.0 * ((1.0 - conditions) * missed + conditions * false)).tolist(),
        "always_positive": (2.0 * conditions * (1.0 - share)).tolist(),
        "always_negative": (2.0 * (1.0 - conditions) * share).tolist(),
    }


def net_benefit_curve(is_positive: Bools, p: Floats, weight: Floats, *, points: int = 99) -> Curve:
    """Decision curve (Vickers, Elkin 2006): true positives per row less false ones, these times the odds.

    Parameters
    ----------
    is_positive, p, weight
        As in `brier_curve`.
    points : int, default 99
        At most 512: thresholds strictly inside (0, 1).

    Returns
    -------
    dict of lists
        `threshold` t; `net_benefit` = TP/n - FP/n · t/(1 - t) of deciding by p > t; `treat_all`;
        `treat_none`.

    Examples
    --------
    >>> net_benefit_curve(np.array([True, False]), np.array([0.7, 0.6]), np.ones(2), points=1)
    {'threshold': [0.5], 'net_benefit': [0.0], 'treat_all': [0.0], 'treat_none': [0.0]}
    """
    thresholds = np.arange(1, _checked(points) + 1) / (points + 1)
    told, false, share = _shares_above(is_positive, p, weight, thresholds)
    odds = thresholds / (1.0 - thresholds)
    return {
        "threshold": thresholds.tolist(),
        "net_benefit": (told - false * odds).tolist(),
        "treat_all": (share - (1.0 - share) * odds).tolist(),
        "treat_none": [0.0] * points,
    }


# Scores


def margin_distribution(
    y_codes: NDArray[np.intp],
    scores: Floats,
    *,
    scale: float,
    positive: int | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, Any]:
    """Least, mean and cumulative distribution of the margins (Schapire, Freund, Bartlett, Lee 1998).

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    scores : ndarray of shape (n,) or (n, K), float64
    scale : float
        Sum of the votes; margins are those of the scores divided by it.
    positive : int, optional
        Index of the positive class of two.
    sample_weight : ndarray of shape (n,), optional

    Returns
    -------
    dict
        `minimum`, `average`; `margin` ascending and `share`, the share of rows with at most that margin.

    Raises
    ------
    UndefinedMetricError
        There are no votes.

    Examples
    --------
    >>> margin_distribution(np.array([1, 0]), np.array([0.5, 1.0]), scale=2.0)
    {'minimum': -0.5, 'average': -0.125, 'margin': [-0.5, 0.25], 'share': [0.5, 1.0]}
    """
    if not scale > 0:
        raise UndefinedMetricError("there are no votes")
    weight = row_weights(y_codes, sample_weight)
    counted = weight > 0
    own = margins(y_codes, scores, positive)[counted] / scale
    levels, number = np.unique(own, return_inverse=True)
    share = np.cumsum(np.bincount(number, weight[counted])) / weight.sum()
    kept = _spread(np.diff(share))
    return {
        "minimum": float(levels[0]),
        "average": math.fsum((weight[counted] * own).tolist()) / math.fsum(weight.tolist()),
        "margin": levels[kept].tolist(),
        "share": np.minimum(share[kept], 1.0).tolist(),
    }


# Counting


def _found(is_positive: Bools, ranks: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Weight of the positive and of other rows among the first 0, 1, … ranks, and the ranks, descending."""
    counted = weight > 0
    is_positive, weight = is_positive[counted], weight[counted]
    if is_positive.all() or not is_positive.any():
        raise UndefinedMetricError("all rows are of one class")
    levels, number = np.unique(-ranks[counted], return_inverse=True)
    found = np.cumsum(np.bincount(number, weight * is_positive, len(levels)))
    false = np.cumsum(np.bincount(number, weight * ~is_positive, len(levels)))
    return np.append(0.0, found), np.append(0.0, false), -levels


def _shares_above(
    is_positive: Bools, p: Floats, weight: Floats, thresholds: Floats
) -> tuple[Floats, Floats, float]:
    """Share of rows that are positive and above each threshold, of others above it, and of positive ones."""
    order = np.argsort(p, kind="stable")
    total = weight.sum()
    found = np.append(0.0, np.cumsum((weight * is_positive)[order])) / total
    false = np.append(0.0, np.cumsum((weight * ~is_positive)[order])) / total
    above = np.searchsorted(p[order], thresholds, side="right")
    return found[-1] - found[above], false[-1] - false[above], float(found[-1])


def _corners(x: Floats, y: Floats) -> Bools:
    """Whether each point is an end or no point of a straight horizontal or vertical step."""
    flat = (np.diff(x)[1:] == 0) & (np.diff(x)[:-1] == 0) | (np.diff(y)[1:] == 0) & (np.diff(y)[:-1] == 0)
    return np.concatenate([[True], ~flat, [True]])


def _spread(steps: Floats) -> NDArray[np.intp]:
    """Up to 512 points, the ends among them, about evenly along a path of such steps."""
    n = len(steps) + 1
    if n <= MAX_POINTS:
        return np.arange(n)
    path = np.append(0.0, np.cumsum(steps))
    wanted = np.linspace(0.0, path[-1], MAX_POINTS)
    return np.unique(np.append(np.searchsorted(path, wanted).clip(0, n - 1), [0, n - 1]))


def _checked(points: int) -> int:
    if not 1 <= points <= MAX_POINTS:
        raise ValueError(f"points must lie between 1 and {MAX_POINTS}, not {points}")
    return points
