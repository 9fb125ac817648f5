"""All that is measured of decisions on rows whose class is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import costs_of_true_class
from costboost.decisions import Decisions
from costboost.metrics.labels import f1, precision, recall, specificity
from costboost.metrics.margins import margins
from costboost.metrics.money import savings, savings_interval
from costboost.metrics.probabilities import brier, log_loss
from costboost.metrics.ranking import pr_auc, roc_auc
from costboost.metrics.undefined import UndefinedMetricError, defined
from costboost.metrics.weighted import row_weights, total


def evaluate(  # noqa: PLR0917 - all that is needed to judge, in the order it comes about
    y_codes: NDArray[np.intp],
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
    serves: Sequence[int | None],
    positive: int | None,
    decisions: Decisions,
    scores: NDArray[np.float64] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    seed: int = 0,
    *,
    score_scale: float = 1.0,
) -> dict[str, Any]:
    """Measure decisions on rows whose class is known.

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    probabilities : ndarray of shape (n, K), float64
    costs : ndarray of shape (K, A) or (n, K, A), float64
    serves : sequence of A class indices, None for a review
    positive : int or None
        Index of the positive class of two (1 when None); for K > 2 recall, precision, specificity, f1,
        roc_auc and pr_auc are means over the classes, each against the rest.
    decisions : Decisions
    scores : ndarray of shape (n,) or (n, K), optional
        Scores of the booster; for two classes they rank the rows for the areas.
    sample_weight : ndarray of shape (n,), optional
    seed : int
        Of the bootstrap.
    score_scale : float, default 1
        Sum of the votes; the average margin is that of the scores divided by it.

    Returns
    -------
    dict
        `expected_cost` (money per row), `total_cost`, `savings` (share of the cost of the cheapest constant
        decision that was saved), `savings_ci95`, `baseline_cost`, `baseline_action`, `g_mean`, `roc_auc`,
        `pr_auc`, `brier`, `log_loss`, `recall`, `precision`, `specificity`, `f1`, `confusion` (K x A),
        `average_margin`, `base_rate`, `review_rate`, `rows`, and `undefined`: {name: reason}.

    Raises
    ------
    ValueError
        There are no rows, or no weight.

    Examples
    --------
    >>> from costboost.decisions import decide
    >>> p = np.array([0.9, 0.6, 0.2, 0.05])
    >>> probabilities, costs = np.column_stack([1 - p, p]), np.array([[0.0, 1.0], [9.0, 0.0]])
    >>> decisions = decide(probabilities, costs, serves=(0, 1))
    >>> metrics = evaluate(np.array([1, 1, 0, 0]), probabilities, costs, (0, 1), 1, decisions)
    >>> metrics["total_cost"], metrics["savings"], metrics["confusion"]
    (1.0, 0.5, [[1, 1], [0, 2]])
    """
    weight = row_weights(y_codes, sample_weight)
    own = costs_of_true_class(costs, y_codes)
    charged = own[np.arange(len(own)), decisions.decision]
    constant = own[:, [a for a, k in enumerate(serves) if k is not None]]
    truth = _Truth(y_codes, probabilities.shape[1], 1 if positive is None else positive, weight)
    ranks = scores if scores is not None and probabilities.shape[1] == 2 else probabilities
    asked: dict[str, Callable[[], Any]] = {
        "savings": lambda: savings(charged, constant, weight),
        "savings_ci95": lambda: savings_interval(charged, constant, weight, seed),
        "g_mean": lambda: truth.g_mean(decisions.label),
        "roc_auc": lambda: truth.over_classes(roc_auc, ranks),
        "pr_auc": lambda: truth.over_classes(pr_auc, ranks),
        "brier": lambda: brier(y_codes, probabilities, weight),
        "log_loss": lambda: log_loss(y_codes, probabilities, weight),
        "recall": lambda: truth.one_against_rest(recall, decisions.label),
        "precision": lambda: truth.one_against_rest(precision, decisions.label),
        "specificity": lambda: truth.one_against_rest(specificity, decisions.label),
        "f1": lambda: truth.one_against_rest(f1, decisions.label),
        "average_margin": lambda: truth.average_margin(scores, score_scale),
        "base_rate": truth.base_rate,
    }
    known, undefined = defined(asked)
    totals = [total(weight * own[:, a]) for a in range(own.shape[1])]
    baseline = min((a for a, k in enumerate(serves) if k is not None), key=totals.__getitem__)
    return {
        "expected_cost": total(weight * charged) / total(weight),
        "total_cost": total(weight * charged),
        "baseline_cost": totals[baseline],
        "baseline_action": baseline,
        **known,
        "confusion": _confusion(y_codes, decisions.decision, costs.shape[-2:], sample_weight),
        "review_rate": total(weight * (decisions.label < 0)) / total(weight),
        "rows": len(y_codes),
        "undefined": undefined,
    }


class _Truth:
    """The known classes of rows, and the means over them."""

    def __init__(
        self, y_codes: NDArray[np.intp], n_classes: int, positive: int, weight: NDArray[np.float64]
    ) -> None:
        self._y = y_codes
        self._weight = weight
        self._n_classes = n_classes
        self._positive = positive
        # Two classes: the positive one speaks for both.
        self._judged = [positive] if n_classes == 2 else list(range(n_classes))

    def over_classes(self, metric: Callable[..., float], ranks: NDArray[np.float64]) -> float:
        columns = [ranks if ranks.ndim == 1 else ranks[:, k] for k in self._judged]
        values = [metric(self._y == k, r, self._weight) for k, r in zip(self._judged, columns, strict=True)]
        return math.fsum(values) / len(values)

    def one_against_rest(self, metric: Callable[..., float], labels: NDArray[np.intp]) -> float:
        values = [metric(self._y == k, labels == k, self._weight) for k in self._judged]
        return math.fsum(values) / len(values)

    def g_mean(self, labels: NDArray[np.intp]) -> float:
        recalls = [recall(self._y == k, labels == k, self._weight) for k in range(self._n_classes)]
        return float(math.prod(recalls) ** (1.0 / len(recalls)))

    def average_margin(self, scores: NDArray[np.float64] | None, scale: float) -> float:
        if scores is None or not scale > 0:
            raise UndefinedMetricError("there are no scores")
        margin = margins(self._y, scores, self._positive) / scale
        return total(self._weight * margin) / total(self._weight)

    def base_rate(self) -> float:
        if self._n_classes > 2:
            raise UndefinedMetricError("more than two classes have no positive one")
        return total(self._weight * (self._y == self._positive)) / total(self._weight)


def _confusion(
    y_codes: NDArray[np.intp],
    decision: NDArray[np.intp],
    shape: tuple[int, ...],
    sample_weight: NDArray[np.float64] | None,
) -> list[list[float]]:
    """K x A: rows of each class for which each action was chosen, whole numbers unless weighted."""
    cells = np.bincount(y_codes * shape[1] + decision, sample_weight, shape[0] * shape[1])
    table: list[list[float]] = cells.reshape(shape).tolist()
    return table
