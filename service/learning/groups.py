"""How well a version did on groups of its test part, each figure with how sure it is."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from costboost.costs import costs_of_true_class
from costboost.intervals import mean_interval, resampled_mean_interval, share_interval
from service.domain.datasets import ColumnType
from service.learning.held_out import TestPart

Rows = NDArray[np.bool_]

#: Groups of a column of categories; what is rarer is one group.
_MOST: Final = 20
_QUARTILES: Final = (0.25, 0.5, 0.75)


def figures(part: TestPart, rows: Rows | None = None) -> dict[str, Any]:
    """Figures of some rows of a test part, or of all.

    Returns
    -------
    dict
        `rows`, `expected_cost` (money per row), `accuracy`, `review_rate`; of two classes also `base_rate`,
        `flagged` (share decided positive), `mean_probability`, `recall`, `specificity` and `precision`. Each
        share and mean has its `…_ci95`; what is undefined is None.
    """
    chosen = np.ones(len(part.codes), dtype=np.bool_) if rows is None else rows
    y, weight = part.codes[chosen], part.weight[chosen]
    own = costs_of_true_class(part.costs if part.costs.ndim == 2 else part.costs[chosen], y)
    serves = np.array([-1 if served is None else served for served in part.serves])
    label = serves[part.decision[chosen]]
    found: dict[str, Any] = {"rows": len(y)}
    found |= _mean("expected_cost", own[np.arange(len(y)), part.decision[chosen]], weight, skewed=True)
    found |= _share("accuracy", label == y, weight)
    found |= _share("review_rate", label < 0, weight)
    if part.positive is None:
        return found
    positive, flagged = y == part.positive, label == part.positive
    found |= _share("base_rate", positive, weight)
    found |= _share("flagged", flagged, weight)
    found |= _mean("mean_probability", part.probabilities[chosen, part.positive], weight)
    found |= _share("recall", flagged[positive], weight[positive])
    found |= _share("specificity", ~flagged[~positive], weight[~positive])
    return found | _share("precision", positive[flagged], weight[flagged])


def by_class(part: TestPart) -> list[dict[str, Any]]:
    """Figures of the rows of each class; `accuracy` is then the recall of the class."""
    found = []
    for code, name in enumerate(part.classes):
        told = figures(part, part.codes == code)
        kept = ("rows", "expected_cost", "expected_cost_ci95", "accuracy", "accuracy_ci95", "review_rate")
        found.append({"class": name} | {key: told[key] for key in kept})
    return found


def by_group(part: TestPart, values: NDArray[Any], kind: ColumnType) -> list[dict[str, Any]]:
    """Figures of the groups that a column makes.

    Parameters
    ----------
    part : TestPart
    values : ndarray of shape (n,)
        The column in the rows of the test part: categories are the groups, numbers and times make quarters.
    kind : ColumnType

    Returns
    -------
    list of dict
        `group` (None for rows where it is missing, "other" in `rest` for all rarer categories), `low` and
        `high` of a quarter, and the figures.
    """
    grouped = _categories(values) if kind in ("category", "text") else _quarters(values, kind)
    return [{**named, **figures(part, rows)} for named, rows in grouped if rows.any()]


def _categories(values: NDArray[Any]) -> list[tuple[dict[str, Any], Rows]]:
    counts = Counter(text for text in values.tolist() if text is not None)
    ranked = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    kept = ranked[:_MOST]
    groups: list[tuple[dict[str, Any], Rows]] = [
        ({"group": name, "rest": False}, np.array([value == name for value in values.tolist()]))
        for name in kept
    ]
    known = set(kept)
    rest = np.array([value is not None and value not in known for value in values.tolist()], dtype=np.bool_)
    missing = np.array([value is None for value in values.tolist()], dtype=np.bool_)
    return [*groups, ({"group": None, "rest": True}, rest), ({"group": None, "rest": False}, missing)]


def _quarters(values: NDArray[Any], kind: ColumnType) -> list[tuple[dict[str, Any], Rows]]:
    missing = np.isnan(values)
    given = values[~missing]
    if kind == "boolean":
        named: list[tuple[dict[str, Any], Rows]] = [
            ({"group": "true" if truth else "false", "rest": False}, values == truth) for truth in (0.0, 1.0)
        ]
        return [*named, ({"group": None, "rest": False}, missing)]
    cuts = np.unique(np.quantile(given, _QUARTILES, method="lower")) if given.size else np.zeros(0)
    number = np.searchsorted(cuts, values, side="left")
    groups: list[tuple[dict[str, Any], Rows]] = []
    for index in range(len(cuts) + 1):
        rows = (number == index) & ~missing
        if rows.any():
            low, high = float(values[rows].min()), float(values[rows].max())
            groups.append(({"group": f"quarter {index + 1}", "low": low, "high": high, "rest": False}, rows))
    return [*groups, ({"group": None, "rest": False}, missing)]


def _mean(
    name: str, values: NDArray[np.float64], weight: NDArray[np.float64], *, skewed: bool = False
) -> dict[str, Any]:
    find = resampled_mean_interval if skewed else mean_interval
    whole = weight.sum()
    mean = float((weight * values).sum() / whole) if whole > 0 else None
    return {name: mean, f"{name}_ci95": _interval(lambda: find(values, weight))}


def _share(name: str, hit: Rows, weight: NDArray[np.float64]) -> dict[str, Any]:
    whole = weight.sum()
    share = float((weight * hit).sum() / whole) if whole > 0 else None
    return {name: share, f"{name}_ci95": _interval(lambda: share_interval(hit, weight))}


def _interval(find: Callable[[], tuple[float, float]]) -> list[float] | None:
    try:
        return list(find())
    except ValueError:
        return None
