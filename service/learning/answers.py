"""What a version says about rows: for some of them, or for parts that were scored one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.explain import Explanation

__all__ = ["Answers", "joined", "taken", "unseen"]

#: Fields of answers that hold a number for each row.
_BY_ROW = (
    "probabilities",
    "score",
    "log_odds",
    "decision",
    "label",
    "expected_cost",
    "threshold",
    "thresholds",
    "thresholds_exact",
    "unreasonable",
)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a version says about n rows.

    Attributes
    ----------
    classes, actions : tuple of str
        Names of what the columns of the arrays count: K classes, A actions.
    serves : tuple of int or None
        Index of the class that each action serves; None for a review.
    probabilities : ndarray of shape (n, K)
    score, log_odds : ndarray of shape (n,) for two classes, (n, K) for more
    decision : ndarray of shape (n,), int
        Index of the chosen action.
    label : ndarray of shape (n,), int
        Index of the class it serves; -1 for a review.
    expected_cost : ndarray of shape (n, A)
    threshold : ndarray of shape (n,)
        NaN where there is none.
    thresholds : ndarray of shape (n, K)
        NaN in rows that have none (`thresholds_exact` is false).
    source : str
        "expected_cost", "empirical", "sign" or "threshold"; for a row whose label is -1 say "review".
    repriced : bool
        Whether the costs came with the request.
    unknown : dict of column to ndarray of shape (n,), bool
        Rows whose category was never seen in training.
    unreasonable : ndarray of shape (n,), bool, or None
        Rows in which a wrong decision costs no more than the right one; None where costs are constant.
    explanation : Explanation or None
        What each column adds; None where nobody asked.
    cells : ndarray of shape (K, A) or (n, K, A), or None
        Cost of each action for each true class; None where nobody asked.
    """

    classes: tuple[str, ...]
    actions: tuple[str, ...]
    serves: tuple[int | None, ...]
    probabilities: NDArray[np.float64]
    score: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    decision: NDArray[np.intp]
    label: NDArray[np.intp]
    expected_cost: NDArray[np.float64]
    threshold: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    thresholds_exact: NDArray[np.bool_]
    source: str
    repriced: bool
    unknown: dict[str, NDArray[np.bool_]]
    unreasonable: NDArray[np.bool_] | None
    explanation: Explanation | None = None
    cells: NDArray[np.float64] | None = None


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers to rows that were scored part by part."""
    first = parts[0]

    def stacked(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    arrays = [name for name in _BY_ROW if getattr(first, name) is not None]
    unknown = {name: np.concatenate([part.unknown[name] for part in parts]) for name in first.unknown}
    return replace(first, **{name: stacked(name) for name in arrays}, unknown=unknown, explanation=None)


def taken(answers: Answers, rows: NDArray[np.intp]) -> Answers:
    """Answers to some of the rows."""
    arrays = [name for name in _BY_ROW if getattr(answers, name) is not None]
    unknown = {name: values[rows] for name, values in answers.unknown.items()}
    return replace(answers, **{name: getattr(answers, name)[rows] for name in arrays}, unknown=unknown)


def unseen(answers: Answers) -> Iterator[tuple[int, str]]:
    """In how many rows a column has a category that training never saw, and a sentence that says so."""
    for name, unknown in answers.unknown.items():
        if rows := int(unknown.sum()):
            yield rows, f"a category of {name} did not occur in training, and counts as other"
