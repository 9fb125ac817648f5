"""Costs of actions for true classes, constant or per row, as a training job or a request gives them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.actions import Action, Review, check_actions, class_actions, serving_actions
from costboost.cost_cells import Columns, CostCell
from costboost.costs import UnreasonableCostsError


@dataclass(frozen=True)
class CostSpec:
    """Costs of every action for every true class, constant or per row.

    Parameters
    ----------
    classes : tuple of str
        Names of the K classes.
    positive : int or None
        Index of the positive class of two; None for more.
    actions : tuple of Action
        In order: an exact tie goes to the first. One of them may be a review.
    cells : tuple of K tuples of CostCell
        cells[k][a]: cost when the class is k, for the actions other than the review, in their order.
    review : Review, optional
        Needed exactly when an action serves no class.

    Examples
    --------
    >>> spec = CostSpec.binary(fn=CostCell(per={"amount": 1.0}), fp=CostCell(fixed=5.0))
    >>> spec.evaluate({"amount": np.array([500.0])}, 1)
    array([[[  0.,   5.],
            [500.,   0.]]])
    """

    classes: tuple[str, ...]
    positive: int | None
    actions: tuple[Action, ...]
    cells: tuple[tuple[CostCell, ...], ...]
    review: Review | None = None

    def __post_init__(self) -> None:
        _check_classes(self.classes, self.positive)
        check_actions(self.actions, len(self.classes), self.review)
        shape = (len(self.classes), len(self._priced))
        if len(self.cells) != shape[0] or any(len(row) != shape[1] for row in self.cells):
            raise ValueError(f"{shape[0]} classes and {shape[1]} actions need {shape[0]} x {shape[1]} costs")

    @classmethod
    def binary(
        cls,
        fn: CostCell | float,
        fp: CostCell | float,
        tp: CostCell | float = 0.0,
        tn: CostCell | float = 0.0,
        *,
        classes: Sequence[str] = ("0", "1"),
        positive: int = 1,
    ) -> CostSpec:
        """Make the costs of two classes from their four named cells."""
        cells = ((CostCell.of(tn), CostCell.of(fp)), (CostCell.of(fn), CostCell.of(tp)))
        if positive == 0:
            cells = ((cells[1][1], cells[1][0]), (cells[0][1], cells[0][0]))
        return cls(tuple(classes), positive, class_actions(classes), cells)

    @classmethod
    def from_matrix(
        cls,
        matrix: Sequence[Sequence[CostCell | float]] | NDArray[np.float64],
        classes: Sequence[str],
        positive: int | None = None,
    ) -> CostSpec:
        """Make costs whose actions are the classes from a (K, K) matrix, rows = true classes."""
        cells = tuple(tuple(CostCell.of(cost) for cost in row) for row in matrix)
        if positive is None and len(classes) == 2:
            positive = 1
        return cls(tuple(classes), positive, class_actions(classes), cells)

    @classmethod
    def from_actions(
        cls,
        classes: Sequence[str],
        actions: Sequence[Action | str],
        costs: Mapping[tuple[str, str], CostCell | float],
        *,
        review: Review | None = None,
        positive: int | None = None,
    ) -> CostSpec:
        """Make costs from actions and from cells named (true class, action); a cell not named costs 0.

        An action given by name serves the class of the same name, else the first class for which it is the
        cheapest action (per-row cells are compared at a large amount).

        Raises
        ------
        UnservedActionsError
            An action given by name is the cheapest of no class (a ValueError; `actions` names them).
        ValueError
            A cell names an unknown class or action.
        """
        names = [action if isinstance(action, str) else action.name for action in actions]
        reviews = {a.name for a in actions if isinstance(a, Action) and a.serves is None}
        priced = [name for name in names if name not in reviews]
        for true, name in costs:
            if true not in classes or name not in priced:
                raise ValueError(f"there is no cost cell for class {true!r} and action {name!r}")
        cells = tuple(tuple(CostCell.of(costs.get((true, name), 0.0)) for name in priced) for true in classes)
        complete = serving_actions(actions, classes, dict(zip(priced, zip(*cells, strict=True), strict=True)))
        if positive is None and len(classes) == 2:
            positive = 1
        return cls(tuple(classes), positive, complete, cells, review)

    @property
    def serves(self) -> tuple[int | None, ...]:
        """Class index each action serves, None for a review."""
        return tuple(action.serves for action in self.actions)

    @cached_property
    def columns(self) -> frozenset[str]:
        """Names of all columns the costs read."""
        return frozenset().union(*(cell.columns for row in self.cells for cell in row))

    @property
    def per_row(self) -> bool:
        """Whether any cell reads a column of the row."""
        return bool(self.columns)

    def evaluate(self, columns: Columns | None = None, n: int = 1) -> NDArray[np.float64]:
        """Costs of each action for each true class.

        Parameters
        ----------
        columns : mapping of name to array of shape (n,), optional
            Needed when `per_row`.
        n : int
            Number of rows.

        Returns
        -------
        ndarray of shape (K, A) when the costs are constant (read-only), else (n, K, A)

        Raises
        ------
        ValueError
            A column is absent, not numeric, or of another length.
        """
        return self._evaluate(columns or {}, n) if self.per_row else self._constant

    def check(self) -> None:
        """Refuse constant costs that are all zero or unreasonable.

        The rows of true classes without per-row cells are checked; a class that no action serves sets no
        condition.

        Raises
        ------
        UnreasonableCostsError
            A wrong decision is not dearer than the right one (a ValueError; `cells` names them).
        ValueError
            All costs are zero.
        """
        if not self.per_row and not self._constant.any():
            raise ValueError("all costs are zero: no decision would cost less than another")
        for true, wrong, right in self.unreasonable_cells():
            costs = self._constant_row(true)
            names = (self.cell_name(true, wrong), self.cell_name(true, right))
            raise UnreasonableCostsError(
                f"{names[0]} ({costs[wrong]}) must be greater than {names[1]} ({costs[right]}): "
                "a wrong decision must cost more than the right one",
                names,
            )

    def unreasonable_cells(self) -> tuple[tuple[int, int, int], ...]:
        """Each wrong decision that costs no more than the right one, where no cost reads a column.

        Returns
        -------
        tuple of (class index, index of the wrong action, index of the right action)
        """
        found = list[tuple[int, int, int]]()
        for true, row in enumerate(self.cells):
            if not any(cell.per for cell in row):
                found += self._unreasonable_cells_of(true)
        return tuple(found)

    def dominated_actions(self) -> tuple[str, ...]:
        """Names of actions that another one beats for every true class; () when costs are per row."""
        if self.per_row:
            return ()
        costs = self._constant
        beaten = [
            name
            for a, name in enumerate(action.name for action in self.actions)
            if any(_beats(costs, other, a) for other in range(costs.shape[1]) if other != a)
        ]
        return tuple(beaten)

    def scaled(self, factor: float) -> CostSpec:
        """Return the same costs in another currency: every amount of money times `factor` (> 0)."""
        if not (math.isfinite(factor) and factor > 0):
            raise ValueError(f"the factor must be positive and finite, not {factor}")
        review = self.review and replace(
            self.review, fee=self.review.fee * factor, shadow_price=self.review.shadow_price * factor
        )
        cells = tuple(tuple(cell.scaled(factor) for cell in row) for row in self.cells)
        return replace(self, cells=cells, review=review)

    def reordered(self, classes: Sequence[str]) -> CostSpec:
        """Return the same costs with the classes in another order; the order of actions stays."""
        if sorted(classes) != sorted(self.classes):
            raise ValueError(f"{list(classes)} are not the classes of these costs, {list(self.classes)}")
        old = [self.classes.index(name) for name in classes]
        actions = tuple(
            replace(a, serves=None if a.serves is None else old.index(a.serves)) for a in self.actions
        )
        positive = None if self.positive is None else old.index(self.positive)
        review = self.review and replace(self.review, accuracy=tuple(self.review.accuracy[k] for k in old))
        return CostSpec(tuple(classes), positive, actions, tuple(self.cells[k] for k in old), review)

    def cell_name(self, true: int, action: int) -> str:
        """`fn`, `fp`, `tp` or `tn` when two actions serve two classes, else "true class x action"."""
        served = self.actions[action].serves
        if self.positive is not None and sorted(self.serves, key=str) == [0, 1]:
            hit = "t" if served == true else "f"
            return hit + ("p" if served == self.positive else "n")
        return f"{self.classes[true]} x {self.actions[action].name}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        review = self.review
        return {
            "classes": list(self.classes),
            "positive": self.positive,
            "actions": [{"name": action.name, "serves": action.serves} for action in self.actions],
            "cells": [[cell.to_json() for cell in row] for row in self.cells],
            "review": None if review is None else {**vars(review), "accuracy": list(review.accuracy)},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CostSpec:
        """Read what `to_dict` wrote."""
        review = data.get("review")
        return cls(
            classes=tuple(data["classes"]),
            positive=data["positive"],
            actions=tuple(Action(action["name"], action["serves"]) for action in data["actions"]),
            cells=tuple(tuple(CostCell.from_json(cell) for cell in row) for row in data["cells"]),
            review=None if review is None else Review(**{**review, "accuracy": tuple(review["accuracy"])}),
        )

    @property
    def _priced(self) -> list[int]:
        return [a for a, action in enumerate(self.actions) if action.serves is not None]

    @cached_property
    def _constant(self) -> NDArray[np.float64]:
        costs: NDArray[np.float64] = self._evaluate({}, 1)[0]
        costs.flags.writeable = False
        return costs

    def _evaluate(self, columns: Columns, n: int) -> NDArray[np.float64]:
        costs = np.empty((n, len(self.classes), len(self.actions)))
        priced = self._priced
        for true, row in enumerate(self.cells):
            for a, cell in zip(priced, row, strict=True):
                costs[:, true, a] = cell.evaluate(columns, n)
        if self.review is not None:
            accuracy, known = np.array(self.review.accuracy), costs[:, :, priced]
            right, wrong = accuracy * known.min(axis=2), (1.0 - accuracy) * known.max(axis=2)
            costs[:, :, self.serves.index(None)] = self.review.fee + right + wrong + self.review.shadow_price
        return costs

    def _constant_row(self, true: int) -> dict[int, float]:
        """Cost of each action but the review, by the index of the action."""
        costs = (float(cell.evaluate({}, 1)[0]) for cell in self.cells[true])
        return dict(zip(self._priced, costs, strict=True))

    def _unreasonable_cells_of(self, true: int) -> list[tuple[int, int, int]]:
        costs = self._constant_row(true)
        serving = [a for a in costs if self.actions[a].serves == true]
        if not serving:
            return []
        right = min(serving, key=costs.__getitem__)
        wrong = (a for a in costs if self.actions[a].serves != true)
        return [(true, a, right) for a in wrong if not costs[a] > costs[right]]


def _check_classes(classes: tuple[str, ...], positive: int | None) -> None:
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError(f"costs need at least two classes with different names, not {list(classes)}")
    if (len(classes) == 2) != (positive is not None):
        raise ValueError("two classes need a positive one, more than two have none")
    if positive not in (None, 0, 1):
        raise ValueError(f"the positive class is given by its index, 0 or 1, not {positive!r}")


def _beats(costs: NDArray[np.float64], better: int, worse: int) -> bool:
    """Whether one action is nowhere dearer than another, and cheaper somewhere or equal and first."""
    gain = costs[:, worse] - costs[:, better]
    return bool(np.all(gain >= 0) and (np.any(gain > 0) or better < worse))
