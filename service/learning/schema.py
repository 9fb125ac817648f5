"""What a row to predict looks like: the columns of a version with types, categories and an example."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import Column, Dataset
from service.learning.pricing import PricedCosts

#: Categories listed for a column, the most frequent ones.
_LISTED = 64


def schema_of(dataset: Dataset, columns: Mapping[str, NDArray[Any]], prices: PricedCosts) -> dict[str, Any]:
    """Describe the input of a version.

    Parameters
    ----------
    dataset : Dataset
    columns : mapping of name to ndarray of shape (n,)
        The rows it was trained on; no single one of them is shown.
    prices : PricedCosts
        The costs of training.

    Returns
    -------
    dict
        `columns` (name, type, role, nullable, categories), `cost_columns`, `classes`, `positive_class`,
        `actions`, `id` and `subject` (the columns that say which row it is, and whom it is about), and an
        `example` row of typical values.
    """
    features = {column.name for column in dataset.columns_of("feature")}
    used = [column for column in dataset.columns if column.name in features | prices.columns]
    described = [_described(column, columns[column.name], column.name in prices.columns) for column in used]
    return {
        "columns": described,
        "cost_columns": sorted(prices.columns),
        "classes": list(dataset.classes),
        "positive_class": dataset.positive_class,
        "actions": [action.name for action in prices.actions],
        "id": dataset.name_of("id"),
        "subject": dataset.name_of("subject"),
        "example": {column.name: _typical(column, columns[column.name]) for column in used},
    }


def _described(column: Column, values: NDArray[Any], prices: bool) -> dict[str, Any]:
    role = "feature" if column.role == "feature" else "cost"
    entry: dict[str, Any] = {"name": column.name, "type": column.type, "role": role, "nullable": not prices}
    if column.type == "category":
        entry["categories"] = [text for text, _ in _counted(values)[:_LISTED]]
    return entry


def _counted(values: NDArray[Any]) -> list[tuple[str, int]]:
    """Texts with their counts, most frequent first, ties by text."""
    counts = Counter(text for text in values.tolist() if text is not None)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _typical(column: Column, values: NDArray[Any]) -> Any:
    """A value as a request would hold it: the median, or the most frequent text."""
    if column.type in ("category", "text"):
        counted = _counted(values)
        return counted[0][0] if counted else None
    given = values[~np.isnan(values)]
    if not given.size:
        return None
    middle = 2.0 * float(np.median(given / 2.0))  # the sum of two large values may be none
    if column.type == "boolean":
        return middle >= 0.5
    if column.type == "timestamp":
        return datetime.fromtimestamp(round(middle), UTC).isoformat().replace("+00:00", "Z")
    return float(f"{middle:.6g}")
