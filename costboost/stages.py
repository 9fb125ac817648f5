"""The rounds of a booster, one after the other: what its vote would cost if it ended there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import costs_of_true_class
from costboost.metrics.margins import margins
from costboost.metrics.weighted import row_weights
from costboost.thresholds import least_cost

__all__ = ["staged_table"]

_MAX_ROUNDS = 512

Floats = NDArray[np.float64]


def staged_table(
    y_codes: NDArray[np.intp],
    staged_scores: Iterable[Floats],
    costs: Floats,
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    threshold: float = 0.0,
    scales: Sequence[float] | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, list[Any]]:
    """What rows cost after each round of a booster.

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    staged_scores : iterable of ndarrays of shape (n,) or (n, K)
        One per round, as `staged_decision_function` gives them. Of two classes, rising with the positive one.
    costs : ndarray of shape (K, A) or (n, K, A), float64
    serves : sequence of A class indices, None for a review
        The first action that serves a class is the one taken.
    positive : int, optional
        Index of the positive class of two; class 1 when left out.
    threshold : float, default 0
        Two classes: `vote_threshold_` of the booster.
    scales : sequence of float, optional
        Sum of the votes up to each round, for margins.
    sample_weight : ndarray of shape (n,), optional

    Returns
    -------
    dict of lists
        `round`, from 1; `expected_cost` of the vote, in money per row; of two classes
        `least_expected_cost`, at the best threshold on the score; with scales `minimum_margin` and
        `average_margin`. Of more than 512 rounds the last, the cheapest and even steps are kept.

    Examples
    --------
    >>> stages = [np.array([1.0, 1.0]), np.array([0.5, 1.5])]
    >>> staged_table(np.array([0, 1]), stages, np.array([[0.0, 1.0], [9.0, 0.0]]), serves=(0, 1))
    {'round': [1, 2], 'expected_cost': [0.5, 0.5], 'least_expected_cost': [0.5, 0.0]}
    """
    weight = row_weights(y_codes, sample_weight)
    served = [serves.index(k) for k in range(costs.shape[-2])]
    priced = costs_of_true_class(costs, y_codes)[:, served] * (weight / weight.sum())[:, None]
    table: dict[str, list[Any]] = {"round": []}
    for number, scores in enumerate(staged_scores, start=1):
        stage = {"round": number, **_costs(scores, priced, 1 if positive is None else positive, threshold)}
        if scales is not None:
            stage |= _margins(margins(y_codes, scores, positive) / scales[number - 1], weight)
        for name, value in stage.items():
            table.setdefault(name, []).append(value)
    return _some_rounds(table)


def _costs(scores: Floats, priced: Floats, positive: int, threshold: float) -> dict[str, float]:
    """Cost of the vote; of two classes also that of the best threshold on the score."""

    def paid(labels: NDArray[np.intp]) -> float:
        return math.fsum(priced[np.arange(len(priced)), labels].tolist())

    if scores.ndim > 1:
        return {"expected_cost": paid(scores.argmax(axis=1))}
    return {
        "expected_cost": paid(np.where(scores > threshold, positive, 1 - positive)),
        "least_expected_cost": least_cost(scores, priced[:, positive], priced[:, 1 - positive]),
    }


def _margins(own: Floats, weight: Floats) -> dict[str, float]:
    counted = weight > 0
    mean = math.fsum((weight[counted] * own[counted]).tolist()) / math.fsum(weight.tolist())
    return {"minimum_margin": float(own[counted].min()), "average_margin": mean}


def _some_rounds(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    rounds = len(table["round"])
    if rounds <= _MAX_ROUNDS:
        return table
    even = np.rint(np.linspace(0, rounds - 1, _MAX_ROUNDS - 1)).astype(np.intp)
    kept = np.unique([*even, np.argmin(table["expected_cost"])])
    return {name: [values[t] for t in kept] for name, values in table.items()}
