"""What a stored table looks like: quantiles, frequent values, and how both differ between the classes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import Column
from service.rows.columns import TypedArray, is_textual
from service.rows.intake import missing

_QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_TOP = 20
#: Values of these columns tell about persons or rows, not about the table.
_PRIVATE_ROLES = ("id", "subject")


def profile_of(
    columns: Mapping[str, TypedArray], described: Sequence[Column], label: str, classes: Sequence[str]
) -> dict[str, Any]:
    """Describe a table.

    Returns
    -------
    dict
        `rows`, and `columns`: for each its fill, `quantiles`, `mean` and `std` or `top` values, and under
        `by_class` the same summary of the rows of each class.
    """
    labels = columns[label]
    masks = {name: labels == name for name in classes}
    entries = []
    for column in described:
        values = columns[column.name]
        entry: dict[str, Any] = {
            "name": column.name,
            "type": column.type,
            "role": column.role,
            "missing": column.missing,
            "distinct": column.distinct,
        }
        if column.role not in _PRIVATE_ROLES:
            entry |= _summary(column, values)
        if column.role not in (*_PRIVATE_ROLES, "label"):
            entry["by_class"] = {name: _in_class(column, values[rows], entry) for name, rows in masks.items()}
        entries.append(entry)
    return {"rows": len(labels), "columns": entries}


def _summary(column: Column, values: TypedArray) -> dict[str, Any]:
    given = values[~missing(values)]
    if is_textual(column.type):
        return {"top": [{"value": text, "count": n} for text, n in _counted(given)[:_TOP]]}
    if not given.size:
        return {"quantiles": None, "mean": None, "std": None}
    levels = _levels(given, _QUANTILES)
    if column.type == "timestamp":
        return {"quantiles": {f"{q:g}": _moment(v) for q, v in zip(_QUANTILES, levels, strict=True)}}
    with np.errstate(over="ignore"):
        mean, std = float(given.mean()), float(given.std())
    return {
        "quantiles": {f"{q:g}": v for q, v in zip(_QUANTILES, levels, strict=True)},
        "mean": _finite(mean),
        "std": _finite(std),
    }


def _in_class(column: Column, values: TypedArray, whole: Mapping[str, Any]) -> dict[str, Any]:
    holes = missing(values)
    given = values[~holes]
    found: dict[str, Any] = {"rows": len(values), "missing": int(holes.sum())}
    if "top" in whole:
        counts = Counter(given.tolist())
        return found | {"counts": [counts[item["value"]] for item in whole["top"]]}
    if not given.size:
        return found | {"quartiles": None}
    quartiles = _levels(given, (0.25, 0.5, 0.75))
    return found | {"quartiles": [_moment(v) if column.type == "timestamp" else v for v in quartiles]}


def _levels(values: NDArray[Any], shares: Sequence[float]) -> list[float]:
    # Halves: between two values that are far apart lies a difference that no float may hold.
    levels: list[float] = (2.0 * np.quantile(values / 2.0, shares)).tolist()
    return levels


def _counted(values: NDArray[Any]) -> list[tuple[str, int]]:
    return sorted(Counter(values.tolist()).items(), key=lambda item: (-item[1], item[0]))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
