"""How good decisions and probabilities were, in money first.

A metric that is undefined for the data at hand is None, with the reason beside it; it is never 0 or NaN.
Sums over rows are exact before rounding, so the order of rows changes no total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.decisions import Decisions
from costboost.resampling import resampled_totals

_TABLE_ROWS = 512
_TINY = float(np.finfo(np.float64).eps)


class UndefinedMetricError(ValueError):
    """A metric has no value for the data at hand; the message says why."""


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
    own = _own_costs(costs, y_codes)
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
    totals = [_total(weight * own[:, a]) for a in range(own.shape[1])]
    baseline = min((a for a, k in enumerate(serves) if k is not None), key=totals.__getitem__)
    return {
        "expected_cost": _total(weight * charged) / _total(weight),
        "total_cost": _total(weight * charged),
        "baseline_cost": totals[baseline],
        "baseline_action": baseline,
        **known,
        "confusion": _confusion(y_codes, decisions.decision, costs.shape[-2:], sample_weight),
        "review_rate": _total(weight * (decisions.label < 0)) / _total(weight),
        "rows": len(y_codes),
        "undefined": undefined,
    }


# Money


def savings(
    charged: NDArray[np.float64], constant: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Share of the cost of the cheapest constant decision that was saved.

    Parameters
    ----------
    charged : ndarray of shape (n,)
        Cost of what was decided.
    constant : ndarray of shape (n, A)
        Cost of each action.
    weight : ndarray of shape (n,)

    Raises
    ------
    UndefinedMetricError
        The cheapest constant decision costs nothing or earns money.

    Examples
    --------
    >>> savings(np.array([0.0, 1.0]), np.array([[0.0, 4.0], [5.0, 0.0]]), np.ones(2))
    0.75
    """
    least = min(_total(weight * column) for column in constant.T)
    if not least > 0:
        raise UndefinedMetricError("the cheapest constant decision costs nothing or earns money")
    return 1.0 - _total(weight * charged) / least


def savings_interval(
    charged: NDArray[np.float64],
    constant: NDArray[np.float64],
    weight: NDArray[np.float64],
    seed: int = 0,
) -> list[float]:
    """95 % percentile interval of `savings` from 1000 bootstrap resamples (Efron & Tibshirani 1993, ch. 13).

    Raises
    ------
    UndefinedMetricError
        In more than 1 of 20 resamples the cheapest constant decision costs nothing.
    """
    totals = resampled_totals(np.column_stack([charged, constant]) * weight[:, None], seed)
    least = totals[:, 1:].min(axis=1)
    if np.mean(least > 0) < 0.95:
        raise UndefinedMetricError("in many resamples the cheapest constant decision costs nothing")
    saved = 1.0 - totals[least > 0, 0] / least[least > 0]
    low, high = np.percentile(saved, [2.5, 97.5])
    return [float(low), float(high)]


def _own_costs(costs: NDArray[np.float64], y_codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, A): cost of each action for the class each row has."""
    own: NDArray[np.float64] = costs[y_codes] if costs.ndim == 2 else costs[np.arange(len(costs)), y_codes]
    return own


# Ranking and probabilities


def roc_auc(is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Probability that a positive row ranks above a negative one, ties counting half.

    Parameters
    ----------
    is_positive : ndarray of shape (n,), bool
    ranks : ndarray of shape (n,)
        Higher is more likely positive.
    weight : ndarray of shape (n,)

    Examples
    --------
    >>> roc_auc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]), np.ones(3))
    0.75
    """
    positives, negatives = _by_rank(is_positive, ranks, weight)
    _need_both(positives, negatives)
    below = np.cumsum(negatives) - negatives
    won = _total(positives * (below + 0.5 * negatives))
    return won / (_total(positives) * _total(negatives))


def pr_auc(is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Average precision: mean precision at the ranks of the positive rows, without interpolation.

    Parameters
    ----------
    is_positive, ranks, weight
        As in `roc_auc`.

    Examples
    --------
    >>> pr_auc(np.array([True, False, True]), np.array([0.9, 0.6, 0.5]), np.ones(3))  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    positives, negatives = (counts[::-1] for counts in _by_rank(is_positive, ranks, weight))
    _need_both(positives, negatives)
    found = np.cumsum(positives)
    kept = positives > 0  # a rank without weight has no precision
    gained = positives[kept] * found[kept] / (found + np.cumsum(negatives))[kept]
    return _total(gained) / _total(positives)


def brier(
    y_codes: NDArray[np.intp], probabilities: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Mean squared error of the probabilities: of the positive class of two, summed over K > 2 classes.

    Examples
    --------
    >>> brier(np.array([1, 0]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.ones(2))
    0.1
    """
    n_classes = probabilities.shape[1]
    missed = sum((probabilities[:, k] - (y_codes == k)) ** 2 for k in range(n_classes))
    error = _total(weight * missed) / _total(weight)
    return error / 2 if n_classes == 2 else error


def log_loss(
    y_codes: NDArray[np.intp], probabilities: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """Mean negative log of the probability of the true class, kept at least 2.2e-16 from 0 and 1.

    Examples
    --------
    >>> log_loss(np.array([1, 0]), np.array([[0.5, 0.5], [0.5, 0.5]]), np.ones(2))
    0.6931471805599453
    """
    own = np.clip(probabilities[np.arange(len(y_codes)), y_codes], _TINY, 1.0 - _TINY)
    return _total(weight * -libm.log(own)) / _total(weight)


def _by_rank(
    is_positive: NDArray[np.bool_], ranks: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of the positive and of the negative rows at each distinct rank, ascending."""
    values, codes = np.unique(ranks, return_inverse=True)
    positives = np.bincount(codes, weights=weight * is_positive, minlength=len(values))
    negatives = np.bincount(codes, weights=weight * ~is_positive, minlength=len(values))
    return positives.astype(np.float64, copy=False), negatives.astype(np.float64, copy=False)


def _need_both(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> None:
    if not positives.any():
        raise UndefinedMetricError("there are no rows of a class to be ranked")
    if not negatives.any():
        raise UndefinedMetricError("all rows are of one class")


# Labels: `hit` rows are of the class, `told` rows were given its label


def recall(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows of a class that were given its label (a reviewed row was not)."""
    return _share(hit & told, hit, weight, "there are no rows of a class")


def precision(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows given a label that are of its class."""
    return _share(hit & told, told, weight, "no row was given the label of a class")


def specificity(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Share of the rows of other classes that were not given the label."""
    return _share(~hit & ~told, ~hit, weight, "there are no rows of other classes")


def f1(hit: NDArray[np.bool_], told: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    """Harmonic mean of precision and recall: 2 tp / (2 tp + fp + fn)."""
    whole = _total(weight * hit) + _total(weight * told)
    if not whole > 0:
        raise UndefinedMetricError("a class has neither rows nor decisions")
    return 2.0 * _total(weight * (hit & told)) / whole


def _share(
    part: NDArray[np.bool_], whole: NDArray[np.bool_], weight: NDArray[np.float64], reason: str
) -> float:
    total = _total(weight * whole)
    if not total > 0:
        raise UndefinedMetricError(reason)
    return _total(weight * part) / total


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
        return _total(self._weight * margin) / _total(self._weight)

    def base_rate(self) -> float:
        if self._n_classes > 2:
            raise UndefinedMetricError("more than two classes have no positive one")
        return _total(self._weight * (self._y == self._positive)) / _total(self._weight)


def margins(
    y_codes: NDArray[np.intp], scores: NDArray[np.float64], positive: int | None = None
) -> NDArray[np.float64]:
    """By how much each row's score speaks for its class: more than 0 where it is right.

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    scores : ndarray of shape (n,) or (n, K), float64
        Two classes: rising with the positive one. More: one per class; the strongest rival is subtracted.
    positive : int, optional
        Index of the positive class of two; class 1 when left out.

    Returns
    -------
    ndarray of shape (n,), float64
        In units of the score; divided by the sum of the votes it lies in [-1, 1].

    Examples
    --------
    >>> margins(np.array([1, 0]), np.array([0.5, 0.2]))
    array([ 0.5, -0.2])
    """
    if scores.ndim == 1:
        return np.where(y_codes == (1 if positive is None else positive), scores, -scores)
    rows = np.arange(len(scores))
    rivals = scores.copy()
    rivals[rows, y_codes] = -np.inf
    own: NDArray[np.float64] = scores[rows, y_codes] - rivals.max(axis=1)
    return own


# Curves


def threshold_table(
    y_codes: NDArray[np.intp],
    values: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    max_rows: int = _TABLE_ROWS,
) -> dict[str, NDArray[np.float64]]:
    """Outcome of labelling positive what lies above a threshold, for up to 512 thresholds (two classes).

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    values : ndarray of shape (n,), float64
        Probability of the positive class.
    costs : ndarray of shape (2, A) or (n, 2, A), float64
    serves : sequence of A class indices, None for a review
        The first action that serves a class is the one taken.
    positive : int, optional
        Class 1 when left out.
    sample_weight : ndarray of shape (n,), optional
    max_rows : int
        Above it, half of the thresholds are even in rank, half even in probability, and the cheapest is kept.

    Returns
    -------
    dict of ndarrays of one length
        `threshold` ascending in [0, 1], `tp`, `fp`, `fn`, `tn` (summed weight), `cost` (total, in money).

    Examples
    --------
    >>> table = threshold_table(
    ...     np.array([0, 1]), np.array([0.25, 0.75]), np.array([[0.0, 1.0], [9.0, 0.0]]), serves=(0, 1)
    ... )
    >>> table["threshold"].tolist(), table["cost"].tolist()
    ([0.0, 0.5, 1.0], [1.0, 0.0, 9.0])
    """
    table = _sweep(y_codes, values, costs, serves=serves, positive=positive, sample_weight=sample_weight)
    # Probabilities need no cut outside [0, 1]: all rows lie above 0 unless one is 0, and none above 1.
    table["threshold"][-1] = 1.0
    table["threshold"][0] = 0.0
    if values.min() <= 0.0:
        table = {name: column[1:] for name, column in table.items()}
    kept = _kept_rows(table["threshold"], table["cost"], max_rows)
    return {name: column[kept] for name, column in table.items()}


def _sweep(
    y_codes: NDArray[np.intp],
    values: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None,
    sample_weight: NDArray[np.float64] | None,
) -> dict[str, NDArray[np.float64]]:
    """Outcomes at -inf, at the midpoints of neighbouring values, and at inf."""
    weight = row_weights(y_codes, sample_weight)
    positive = 1 if positive is None else positive
    own = _own_costs(costs, y_codes)
    distinct, codes = np.unique(values, return_inverse=True)

    def at_or_below(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([[0.0], np.cumsum(np.bincount(codes, amounts, len(distinct)))])

    fn = at_or_below(weight * (y_codes == positive))
    tn = at_or_below(weight * (y_codes != positive))
    below = at_or_below(weight * own[:, serves.index(1 - positive)])
    above = at_or_below(weight * own[:, serves.index(positive)])
    return {
        "threshold": np.concatenate([[-np.inf], _midpoints(distinct), [np.inf]]),
        "tp": fn[-1] - fn,
        "fp": tn[-1] - tn,
        "fn": fn,
        "tn": tn,
        "cost": below + (above[-1] - above),
    }


def _midpoints(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = distinct[:-1], distinct[1:]
    middle = low + 0.5 * (high - low)
    # Between two neighbouring doubles the middle is one of them: take the one that separates.
    return np.where(middle < high, middle, low)


def _kept_rows(thresholds: NDArray[np.float64], cost: NDArray[np.float64], max_rows: int) -> NDArray[np.intp]:
    n = len(thresholds)
    if n <= max_rows:
        return np.arange(n)
    by_rank = np.rint(np.linspace(0, n - 1, max_rows // 2)).astype(np.intp)
    grid = np.linspace(0.0, 1.0, max_rows - max_rows // 2 - 1)
    by_value = np.searchsorted(thresholds, grid).clip(0, n - 1)
    return np.unique(np.concatenate([by_rank, by_value, [cost.argmin()]]))


# Input and output of evaluate


def _total(amounts: NDArray[np.float64]) -> float:
    """Sum rounded once, so that it does not depend on the order of the rows."""
    return math.fsum(amounts.tolist())


def row_weights(y_codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights of the rows, 1 if none are given; some must be positive."""
    weight = np.ones(len(y_codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if len(weight) == 0 or not weight.sum() > 0:
        raise ValueError("metrics need at least one row with weight")
    return weight


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


def defined(asked: dict[str, Callable[[], Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values of what has one, None for the rest, and why these have none."""
    known: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for name, compute in asked.items():
        try:
            known[name] = compute()
        except UndefinedMetricError as reason:
            known[name] = None
            undefined[name] = str(reason)
    return known, undefined
