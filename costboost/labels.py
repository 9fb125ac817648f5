"""The classes of a training set: their order, their names, their costs, and codes that no name decides.

Targets are labels of shape (n,) as a user has them, y the index of each row's class, and classes are of
shape (K,).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.columns import Columns, canonical_text
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.row_order import canonical_order

#: fn, fp, tp, tn of two classes; each a number, or the parts of a `CostCell`.
NamedCosts: TypeAlias = Mapping[str, Any]

_NAMES: Final = ("fn", "fp", "tp", "tn")


def meant_costs(
    costs: CostSpec | CostMatrix | NamedCosts | None, targets: NDArray[Any]
) -> CostSpec | CostMatrix | None:
    """Costs as a value; named ones are for the sorted classes of y, of which the second is positive.

    Raises
    ------
    TypeError
        If they are none of what costs can be.
    ValueError
        If named ones lack a name, or are for other than two classes.
    """
    if costs is None or isinstance(costs, CostSpec | CostMatrix):
        return costs
    if not isinstance(costs, Mapping):
        raise TypeError(
            f"costs must be a CostMatrix, a CostSpec or a dict of fn and fp, not {type(costs).__name__}; "
            "costs of single rows go to fit as sample_cost"
        )
    return named_costs(costs, [canonical_text(label) for label in np.unique(targets)], 1)


def named_costs(costs: NamedCosts, classes: Sequence[str], positive: int | None) -> CostSpec:
    """Costs from the names fn, fp and, if not 0, tp and tn.

    Raises
    ------
    ValueError
        If a name is missing or another one, or there are not two classes.
    """
    if len(classes) != 2:
        raise ValueError(f"fn and fp are for two classes, not {len(classes)}; use CostMatrix.from_matrix")
    if not {"fn", "fp"} <= set(costs) <= set(_NAMES):
        raise ValueError(
            f"costs need fn and fp, and may have tp and tn; these have {sorted(map(str, costs))}"
        )
    cells = {name: _cell(name, cost) for name, cost in costs.items()}
    return CostSpec.binary(**cells, classes=classes, positive=1 if positive is None else positive)


def _cell(name: str, cost: Any) -> CostCell:
    try:
        return CostCell(**cost) if isinstance(cost, Mapping) else CostCell.of(cost)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number, or a dict of fixed, per, min and max ({error}); "
            "costs of single rows go to fit as sample_cost"
        ) from None


def given_costs(
    meant: CostSpec | CostMatrix | None, columns: Columns, y: NDArray[np.intp], classes: NDArray[Any]
) -> CostSpec:
    """Costs of decisions between the classes of the rows; without any, each wrong one costs 1.

    Raises
    ------
    ValueError
        If they are unreasonable, or for another number of classes.
    """
    if isinstance(meant, CostSpec):
        meant.check()
        return meant
    n_classes = len(classes)
    if meant is None:
        # The smallest class, not the last name: renaming classes must change nothing.
        rarest = int(np.argmin(codes_of_classes(columns, y, None))) if n_classes == 2 else None
        return spec_of(1.0 - np.eye(n_classes), classes, rarest)
    if meant.n_classes != n_classes:
        raise ValueError(f"the costs are for {meant.n_classes} classes, y has {n_classes}")
    return spec_of(meant.matrix, classes, 1 if n_classes == 2 else None)


def spec_of(matrix: NDArray[np.float64], classes: NDArray[Any], positive: int | None) -> CostSpec:
    """Costs (K, K) as a spec that names the classes as they are written."""
    return CostSpec.from_matrix(matrix, tuple(canonical_text(label) for label in classes), positive)


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
