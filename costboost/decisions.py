"""Which action costs the least: the only code that decides, for metrics, simulation, prediction and pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST
from costboost.priors import is_distribution, sum_columns

REVIEW_LABEL = -1
"""The label of a row that is sent to review: no class yet."""

# Regrets of one true class that differ by no more than this share are the same number written differently.
_SAME = 1e-12


@dataclass(frozen=True)
class Decisions:
    """What was decided for n rows among A actions.

    Attributes
    ----------
    decision : ndarray of shape (n,), intp
        Index of the chosen action.
    label : ndarray of shape (n,), intp
        Index of the class that action serves; -1 for a review.
    expected_cost : ndarray of shape (n, A), float64
        Expected cost of each action, in money.
    threshold : ndarray of shape (n,), float64
        Two actions that serve two classes: the probability of the positive class above which the positive
        action is the cheaper one. NaN where there is none, as when one action is never worthwhile.
    thresholds : ndarray of shape (n, K), float64
        Per class, sum 1: the rule argmax p_k / t_k decides the same. NaN in rows that have none.
    thresholds_exact : ndarray of shape (n,), bool
        Whether the row has such thresholds: every true class has one regret for all wrong actions.

    Examples
    --------
    >>> p, costs = np.array([[0.8, 0.2]]), np.array([[0.0, 1.0], [9.0, 0.0]])
    >>> decisions = decide(p, costs, serves=(0, 1))
    >>> decisions.decision.tolist(), decisions.threshold.tolist(), decisions.expected_cost.round(2).tolist()
    ([1], [0.1], [[1.8, 0.8]])
    """

    decision: NDArray[np.intp]
    label: NDArray[np.intp]
    expected_cost: NDArray[np.float64]
    threshold: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    thresholds_exact: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowDecision:
    """What was decided for one row: a row of `Decisions` in Python's own numbers."""

    decision: int
    label: int
    expected_cost: list[float]
    threshold: float
    thresholds: list[float]


def decide(
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
) -> Decisions:
    """Choose the action of least expected cost for each row.

    Two actions that serve two classes: the positive one iff p (fn - tp) > (1 - p) (fp - tn), computed in this
    form; a tie goes to the negative one (Elkan 2001, section 1). Otherwise the argmin over actions a of
    sum_k p_k C[k, a]; an exact tie goes to the first in action order, and a review must be strictly cheaper
    than every other action.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K), float64
    costs : ndarray of shape (K, A) or (n, K, A), float64
        Cost of action a when the class is k; need not be reasonable.
    serves : sequence of A class indices, None for a review
    positive : int, optional
        Index of the positive class of two; class 1 when left out.

    Returns
    -------
    Decisions
        A row alone and the same row among others get identical numbers.

    Raises
    ------
    ValueError
        Shapes do not match, a row's probabilities are no distribution, or a cost is not finite.

    Examples
    --------
    >>> costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    >>> decisions = decide(np.array([[0.95, 0.05], [0.85, 0.15]]), costs, serves=(0, 1))
    >>> decisions.label, decisions.threshold
    (array([0, 1]), array([0.1, 0.1]))
    """
    prices = _checked(probabilities, costs, serves)
    expected = _expected_costs(probabilities, prices)
    pair = _two_actions(serves, probabilities.shape[1], 1 if positive is None else positive)
    # Constant costs have the same thresholds in every row: found once.
    given = costs if costs.ndim == 3 else costs[None]
    if pair is None:
        decision = _cheapest(expected, _review_last(serves))
        threshold = np.full(len(probabilities), np.nan)
        thresholds = np.broadcast_to(_class_thresholds(given, serves), probabilities.shape)
    else:
        decision, own = _decide_pair(probabilities, given, *pair)
        thresholds = np.broadcast_to(own, probabilities.shape)
        threshold = thresholds[:, pair[0]]
    return _decisions(decision, serves, expected, threshold, thresholds)


def decide_row(
    probabilities: Sequence[float],
    costs: Sequence[Sequence[float]],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
) -> RowDecision:
    """Decide one row as `decide` does, to the bit, without arrays and without its checks.

    Parameters
    ----------
    probabilities : sequence of K floats
    costs : K sequences of A floats
    serves, positive
        As in `decide`.

    Examples
    --------
    >>> decide_row([0.8, 0.2], [[0.0, 1.0], [9.0, 0.0]], serves=(0, 1)).expected_cost
    [1.8, 0.8]
    """
    expected = [probabilities[0] * cost for cost in costs[0]]
    for p, row in zip(probabilities[1:], costs[1:], strict=True):
        expected = [sum_ + p * cost for sum_, cost in zip(expected, row, strict=True)]
    pair = _two_actions(serves, len(probabilities), 1 if positive is None else positive)
    if pair is None:
        decision = min(_review_last(serves), key=expected.__getitem__)
        threshold = math.nan
        thresholds = _class_thresholds(np.array([costs]), serves)[0].tolist()
    else:
        decision, thresholds = _decide_pair_of_row(probabilities, costs, *pair)
        threshold = thresholds[pair[0]]
    served = serves[decision]
    label = REVIEW_LABEL if served is None else served
    return RowDecision(decision, label, expected, threshold, thresholds)


def decide_by_label(
    labels: NDArray[np.intp],
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
) -> Decisions:
    """Follow labels found by another rule: the cheapest action that serves each row's label.

    Parameters
    ----------
    labels : ndarray of shape (n,), intp
        Class index of each row; some action must serve it.
    probabilities, costs, serves
        As in `decide`; they give the expected costs, and the action when several serve a class.

    Returns
    -------
    Decisions
        Without thresholds: no price was compared.

    Examples
    --------
    >>> decide_by_label(np.array([1]), np.array([[0.9, 0.1]]), 1.0 - np.eye(2), serves=(0, 1)).expected_cost
    array([[0.1, 0.9]])
    """
    prices = _checked(probabilities, costs, serves)
    expected = _expected_costs(probabilities, prices)
    decision = np.full(len(labels), -1, dtype=np.intp)
    for served in set(serves) - {None}:
        rows = labels == served
        decision[rows] = _cheapest(expected[rows], [a for a, k in enumerate(serves) if k == served])
    if (decision < 0).any():
        raise ValueError("no action serves the label of some row")
    none = np.full(probabilities.shape, np.nan)
    return _decisions(decision, serves, expected, none[:, 0], none)


def decide_by_threshold(
    values: NDArray[np.float64],
    threshold: float | NDArray[np.float64],
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
    *,
    serves: Sequence[int | None],
    positive: int | None = None,
) -> Decisions:
    """Two classes: label a row positive iff its value lies above a threshold given from outside.

    Parameters
    ----------
    values : ndarray of shape (n,), float64
        What is compared: the probability of the positive class, or a score.
    threshold : float or ndarray of shape (n,)
        Finite or infinite, not NaN; a value equal to it is negative.
    probabilities, costs, serves, positive
        As in `decide`; they only give the expected costs, and the action when several serve a class.

    Returns
    -------
    Decisions
        With `threshold` as given.

    Examples
    --------
    >>> p = np.array([0.2, 0.3])
    >>> decide_by_threshold(p, 0.2, np.column_stack([1 - p, p]), 1.0 - np.eye(2), serves=(0, 1)).label
    array([0, 1])
    """
    chosen = 1 if positive is None else positive
    if probabilities.shape[1] != 2:
        raise ValueError(f"a threshold decides between two classes, not {probabilities.shape[1]}")
    cut = np.broadcast_to(np.asarray(threshold, dtype=np.float64), values.shape)
    if np.isnan(cut).any():
        raise ValueError("the threshold must be a number")
    followed = decide_by_label(
        np.where(values > cut, chosen, 1 - chosen), probabilities, costs, serves=serves
    )
    return _decisions(followed.decision, serves, followed.expected_cost, cut, followed.thresholds)


def _checked(
    probabilities: NDArray[np.float64], costs: NDArray[np.float64], serves: Sequence[int | None]
) -> NDArray[np.float64]:
    """Check the input at the door and view the costs as (n, K, A)."""
    if probabilities.ndim != 2:
        raise ValueError(f"probabilities have shape (n, K), not {probabilities.shape}")
    n, n_classes = probabilities.shape
    shape = (n_classes, len(serves))
    if costs.shape not in (shape, (n, *shape)):
        raise ValueError(f"costs must have shape {shape} or {(n, *shape)}, not {costs.shape}")
    if not is_distribution(probabilities):
        raise ValueError("the probabilities of each row must lie in [0, 1] and sum to 1")
    if not (np.abs(costs) <= LARGEST_COST).all():
        raise ValueError(f"costs must be finite and at most {LARGEST_COST}")
    if not any(k is not None for k in serves):
        raise ValueError("at least one action must serve a class")
    return np.broadcast_to(costs, (n, *shape))


def _expected_costs(probabilities: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    # Rows run innermost: loops over two or three actions, one for each row, take twenty times as long.
    expected = np.empty(prices.shape[::-2])
    np.multiply(prices[:, 0, :].T, probabilities[:, 0], out=expected)
    for k in range(1, probabilities.shape[1]):
        expected += prices[:, k, :].T * probabilities[:, k]
    return expected.T


def _two_actions(serves: Sequence[int | None], n_classes: int, positive: int) -> tuple[int, int, int] | None:
    """The positive class, its action and the other one, when these are all there is."""
    if n_classes != 2 or sorted(serves, key=str) != [0, 1]:
        return None
    return positive, serves.index(positive), serves.index(1 - positive)


def _decide_pair(
    probabilities: NDArray[np.float64], prices: NDArray[np.float64], positive: int, act: int, leave: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Decisions of n rows, and the thresholds of each row or of all."""
    p = probabilities[:, positive]
    missed = prices[:, positive, leave] - prices[:, positive, act]
    false_alarm = prices[:, 1 - positive, act] - prices[:, 1 - positive, leave]
    decision = np.where(p * missed > (1.0 - p) * false_alarm, act, leave)
    # Where one of the two is never worthwhile there is nothing to compare p with.
    reasonable = (missed > 0) & (false_alarm > 0)
    thresholds = np.full((len(prices), 2), np.nan)
    np.divide(false_alarm, false_alarm + missed, out=thresholds[:, positive], where=reasonable)
    np.divide(missed, false_alarm + missed, out=thresholds[:, 1 - positive], where=reasonable)
    return decision.astype(np.intp, copy=False), thresholds


def _decide_pair_of_row(
    probabilities: Sequence[float], costs: Sequence[Sequence[float]], positive: int, act: int, leave: int
) -> tuple[int, list[float]]:
    p = probabilities[positive]
    missed = costs[positive][leave] - costs[positive][act]
    false_alarm = costs[1 - positive][act] - costs[1 - positive][leave]
    decision = act if p * missed > (1.0 - p) * false_alarm else leave
    thresholds = [math.nan, math.nan]
    if missed > 0 and false_alarm > 0:
        thresholds[positive] = false_alarm / (false_alarm + missed)
        thresholds[1 - positive] = missed / (false_alarm + missed)
    return decision, thresholds


def _review_last(serves: Sequence[int | None]) -> list[int]:
    return sorted(range(len(serves)), key=lambda a: serves[a] is None)


def _cheapest(expected: NDArray[np.float64], order: Sequence[int]) -> NDArray[np.intp]:
    """First of the cheapest actions, in the given order."""
    best = np.full(len(expected), order[0], dtype=np.intp)
    least = expected[:, order[0]].copy()
    for a in order[1:]:
        cheaper = expected[:, a] < least
        best[cheaper] = a
        least[cheaper] = expected[cheaper, a]
    return best


def _class_thresholds(prices: NDArray[np.float64], serves: Sequence[int | None]) -> NDArray[np.float64]:
    """(n, K): t_k proportional to 1 / r_k where each true class k has one regret r_k > 0, else NaN."""
    n, n_classes, n_actions = prices.shape
    if n_actions != n_classes or sorted(serves, key=str) != list(range(n_classes)):
        return np.full((n, n_classes), np.nan)
    least, exact = np.empty((n, n_classes)), np.ones(n, dtype=np.bool_)
    for k in range(n_classes):
        right = serves.index(k)
        regret = prices[:, k, [a for a in range(n_actions) if a != right]] - prices[:, k, right, None]
        least[:, k], most = regret.min(axis=1), regret.max(axis=1)
        exact &= (least[:, k] > 0) & (most - least[:, k] <= _SAME * most)
    share = np.full((n, n_classes), np.nan)
    share[exact] = least[exact].min(axis=1, keepdims=True) / least[exact]
    return share / sum_columns(share)[:, None]


def _decisions(
    decision: NDArray[np.intp],
    serves: Sequence[int | None],
    expected: NDArray[np.float64],
    threshold: NDArray[np.float64],
    thresholds: NDArray[np.float64],
) -> Decisions:
    labels = np.array([REVIEW_LABEL if k is None else k for k in serves], dtype=np.intp)
    return Decisions(
        decision=decision,
        label=labels[decision],
        expected_cost=expected,
        threshold=threshold,
        thresholds=thresholds,
        thresholds_exact=~np.isnan(thresholds[:, 0]),
    )
