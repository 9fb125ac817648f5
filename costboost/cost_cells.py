"""One cost cell: a number, or an amount that the columns of a row decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST

Columns: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class CostCell:
    """One cost: `fixed` + sum of factor x column, then kept within [`min`, `max`].

    Parameters
    ----------
    fixed : float, default 0
        Money per decision.
    per : mapping of column name to factor, optional
        Money per unit of a column of the row.
    min, max : float, optional
        Bounds of the result.

    Examples
    --------
    >>> cell = CostCell(fixed=5, per={"amount": 0.02}, max=100)
    >>> cell.evaluate({"amount": np.array([0.0, 500.0, 9e9])}, 3)
    array([  5.,  15., 100.])
    """

    fixed: float = 0.0
    per: Mapping[str, float] = field(default_factory=dict)
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        # Sorted, so that the sum has one order whatever the order of keys in a request.
        per = {str(name): float(self.per[name]) for name in sorted(self.per)}
        object.__setattr__(self, "fixed", float(self.fixed))
        object.__setattr__(self, "per", per)
        bounds = [bound for bound in (self.min, self.max) if bound is not None]
        if not all(abs(number) <= LARGEST_COST for number in (self.fixed, *per.values(), *bounds)):
            raise ValueError(
                f"fixed cost, factors and bounds of a cost cell must be finite and at most {LARGEST_COST}"
            )
        if len(bounds) == 2 and bounds[0] > bounds[1]:
            raise ValueError(f"the minimum of a cost cell ({self.min}) is above its maximum ({self.max})")

    def __hash__(self) -> int:
        return hash((self.fixed, tuple(self.per.items()), self.min, self.max))

    @classmethod
    def of(cls, cost: CostCell | float) -> CostCell:
        """Take a cell as it is and a number as a fixed cost."""
        if isinstance(cost, CostCell):
            return cost
        if np.ndim(cost) > 0:
            raise ValueError("a cost is one number; costs of single rows read a column: CostCell(per={...})")
        return cls(fixed=float(cost))

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns this cell reads."""
        return frozenset(self.per)

    def evaluate(self, columns: Columns, n: int) -> NDArray[np.float64]:
        """(n,) costs of n rows; a missing or overflowing amount gives a cost that is not finite.

        Raises
        ------
        ValueError
            A column is absent, not numeric, or not of shape (n,).
        """
        cost = np.full(n, self.fixed)
        with np.errstate(over="ignore", invalid="ignore"):
            for name, factor in self.per.items():
                cost += factor * _numbers(columns, name, n)
        if self.min is not None:
            np.maximum(cost, self.min, out=cost)
        if self.max is not None:
            np.minimum(cost, self.max, out=cost)
        return cost

    def scaled(self, factor: float) -> CostCell:
        """Return the same cost in another currency: every number times `factor` (> 0)."""
        return CostCell(
            fixed=self.fixed * factor,
            per={name: value * factor for name, value in self.per.items()},
            min=None if self.min is None else self.min * factor,
            max=None if self.max is None else self.max * factor,
        )

    def to_json(self) -> float | dict[str, Any]:
        """Return a plain number when the cost is constant, else an object of the fields that are set."""
        if not self.per and self.min is None and self.max is None:
            return self.fixed
        fields = {"fixed": self.fixed, "per": dict(self.per), "min": self.min, "max": self.max}
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_json(cls, value: float | Mapping[str, Any]) -> CostCell:
        """Read what `to_json` wrote."""
        return cls(**value) if isinstance(value, Mapping) else cls(fixed=value)


def _numbers(columns: Columns, name: str, n: int) -> NDArray[np.float64]:
    if name not in columns:
        raise ValueError(f"the costs need the column {name!r}")
    column = np.asarray(columns[name])
    if column.dtype.kind not in "fiub":
        raise ValueError(f"the costs need numbers in the column {name!r}")
    if column.shape != (n,):
        raise ValueError(f"the cost column {name!r} has shape {column.shape}, not ({n},)")
    return column.astype(np.float64, copy=False)
