"""The classes of a training set: their order, their names, and codes that no name decides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.columns import Columns, canonical_text
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.splits import canonical_order


def ordered_classes(
    targets: NDArray[Any], costs: CostSpec | CostMatrix | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in the order of the costs, else sorted, and each row's index among them.

    Raises
    ------
    ValueError
        If there are fewer than two, or others than the costs are for.
    """
    labels, index = np.unique(targets, return_inverse=True)
    names = [canonical_text(label) for label in labels]
    if len(names) < 2:
        raise ValueError(f"y has {len(names)} class; at least two classes are needed")
    if not isinstance(costs, CostSpec):
        return labels, index
    if set(names) != set(costs.classes):
        raise ValueError(f"the costs are for the classes {list(costs.classes)}, y has {names}")
    order = np.array([names.index(name) for name in costs.classes])
    return labels[order], np.argsort(order)[index]


def codes_of_classes(columns: Columns, y: NDArray[np.intp], positive: int | None) -> NDArray[np.intp]:
    """Codes that no name decides: the positive one of two is 1, more are ranked by size, then content."""
    counts = np.bincount(y)
    if positive is not None:
        return np.array([int(k == positive) for k in range(2)], dtype=np.intp)
    by_content = y[canonical_order(columns, np.zeros(len(y), dtype=np.intp))]
    first = [int(np.flatnonzero(by_content == k)[0]) for k in range(len(counts))]
    return np.argsort(np.lexsort((np.array(first), counts)))
