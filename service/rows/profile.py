"""What a stored table looks like: quantiles, histograms, frequent values, and how they differ by class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import Column
from service.rows.columns import TypedArray, is_textual
from service.rows.intake import missing
from service.rows.suspicions import suspicions

_QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_TOP = 20
#: Bins of a histogram: even ones between the first and the last percent, which lie in the outer two.
_BINS = 20
#: Values of these columns tell about persons or rows, not about the table.
_PRIVATE_ROLES = ("id", "subject")


def profile_of(
    columns: Mapping[str, TypedArray], described: Sequence[Column], label: str, classes: Sequence[str]
) -> dict[str, Any]:
    """Describe a table.

    Returns
    -------
    dict
        `rows`; `columns`: for each its fill, and `quantiles`, `histogram`, `mean` and `std`, or `top` values,
        and under `by_class` counts and quartiles of the rows of each class; `warnings`.
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
        entry.pop("bins", None)
        entries.append(entry)
    warnings = [asdict(one) for one in suspicions(columns, described, label, classes)]
    return {"rows": len(labels), "columns": entries, "warnings": warnings}


def _summary(column: Column, values: TypedArray) -> dict[str, Any]:
    given = values[~missing(values)]
    if is_textual(column.type):
        return {"top": [{"value": text, "count": n} for text, n in _counted(given)[:_TOP]]}
    if column.type == "boolean":
        counts = [(truth, int((given == truth).sum())) for truth in (True, False)]
        return {"top": [{"value": truth, "count": n} for truth, n in sorted(counts, key=lambda one: -one[1])]}
    if not given.size:
        return {"quantiles": None, "mean": None, "std": None, "histogram": None}
    levels = _levels(given, _QUANTILES)
    edges = _edges(levels)
    histogram = {"edges": edges, "counts": _binned(given, edges)}
    if column.type == "timestamp":
        histogram["edges"] = [_moment(edge) for edge in edges]
        quantiles = {f"{q:g}": _moment(v) for q, v in zip(_QUANTILES, levels, strict=True)}
        return {"quantiles": quantiles, "histogram": histogram, "bins": edges}
    with np.errstate(over="ignore"):
        mean, std = float(given.mean()), float(given.std())
    return {
        "quantiles": {f"{q:g}": v for q, v in zip(_QUANTILES, levels, strict=True)},
        "mean": _finite(mean),
        "std": _finite(std),
        "histogram": histogram,
        "bins": edges,
    }


def _in_class(column: Column, values: TypedArray, whole: Mapping[str, Any]) -> dict[str, Any]:
    holes = missing(values)
    given = values[~holes]
    found: dict[str, Any] = {"rows": len(values), "missing": int(holes.sum())}
    if "top" in whole:
        counts = Counter(given.tolist())
        return found | {"counts": [counts[item["value"]] for item in whole["top"]]}
    if not given.size:
        return found | {"quartiles": None, "counts": [0] * _BINS if whole["histogram"] else None}
    found["counts"] = _binned(given, whole["bins"])
    quartiles = _levels(given, (0.25, 0.5, 0.75))
    return found | {"quartiles": [_moment(v) if column.type == "timestamp" else v for v in quartiles]}


def _edges(levels: Sequence[float]) -> list[float]:
    """Edges of the bins, from the quantiles."""
    low, high = levels[1], levels[-2]
    # Halves, as in `_levels`.
    even = (2.0 * np.linspace(low / 2.0, high / 2.0, _BINS + 1)).tolist()
    return [levels[0], *even[1:-1], levels[-1]]


def _binned(values: NDArray[Any], edges: Sequence[float]) -> list[int]:
    """Values in each bin; one on an edge belongs to the bin above it."""
    number = np.searchsorted(edges[1:-1], values, side="right")
    counts: list[int] = np.bincount(number, minlength=_BINS).tolist()
    return counts


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
