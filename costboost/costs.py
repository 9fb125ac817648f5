"""What decisions cost: named cells, constant or per row, and the regrets that boosters learn from.

The first index of every cost array is the true class, the second the action (without actions of their own,
the actions are the classes). A loss is positive, a benefit negative. Only differences within one true class
matter for a decision (Elkan 2001, section 1.2), so what must hold is stated on differences: costs are
*reasonable* when, for each true class, every wrong action is dearer than the right one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

CELLS = ("fn", "fp", "tp", "tn")
"""The names of the four cells of two classes: missed, false alarm, caught, left in peace."""

LARGEST_COST = 1e100
"""Costs beyond it are refused: sums and differences of a few smaller ones cannot overflow."""

# The class an action serves when none is given is found where every cost column holds this amount:
# large, so that per-row losses outweigh fixed handling fees, as they do for the rows that matter.
_TYPICAL_AMOUNT = 1e6

Columns: TypeAlias = Mapping[str, NDArray[Any]]


class UnreasonableCostsError(ValueError):
    """A wrong decision costs no more than the right one; `cells` names the cells at fault."""

    def __init__(self, message: str, cells: tuple[str, ...]) -> None:
        super().__init__(message)
        self.cells = cells

    def __reduce__(self) -> tuple[type[UnreasonableCostsError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.cells)


@dataclass(frozen=True, init=False)
class CostMatrix:
    """Constant, reasonable costs of K classes; rows are true classes, columns decisions.

    Parameters
    ----------
    cost_fn, cost_fp : float
        Cost of a missed positive and of a false alarm, in money per decision.
    cost_tp, cost_tn : float, default 0
        Cost of the two right decisions; a benefit is negative.

    Raises
    ------
    ValueError
        A cost is not finite, or a wrong decision is not dearer than the right one (the cells are named).

    Examples
    --------
    >>> costs = CostMatrix(cost_fn=9.0, cost_fp=1.0)
    >>> costs.threshold()
    0.1
    >>> costs.matrix
    array([[0., 1.],
           [9., 0.]])
    """

    rows: tuple[tuple[float, ...], ...]

    def __init__(self, *, cost_fn: float, cost_fp: float, cost_tp: float = 0.0, cost_tn: float = 0.0) -> None:
        rows = ((float(cost_tn), float(cost_fp)), (float(cost_fn), float(cost_tp)))
        object.__setattr__(self, "rows", rows)
        self._check()

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> CostMatrix:
        """Make a matrix from (K, K) costs, rows = true classes."""
        cells = np.asarray(matrix, dtype=np.float64)
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or cells.shape[0] < 2:
            raise ValueError(f"a cost matrix is K x K with K >= 2, not of shape {cells.shape}")
        made = object.__new__(cls)
        object.__setattr__(made, "rows", tuple(tuple(row) for row in cells.tolist()))
        made._check()
        return made

    @classmethod
    def balanced(cls, class_counts: ArrayLike) -> CostMatrix:
        """Make costs that give each class the same total: n_neg / n_pos to 1, for K classes n / (K n_k).

        Parameters
        ----------
        class_counts : array-like of shape (K,)
            Rows (or their summed weight) per class, all positive; for two classes the positive one is last.
        """
        counts = np.asarray(class_counts, dtype=np.float64)
        if counts.ndim != 1 or len(counts) < 2 or not np.all(counts > 0):
            raise ValueError("balanced costs need at least two classes, each with rows")
        if len(counts) == 2:
            return cls(cost_fn=float(counts[0] / counts[1]), cost_fp=1.0)
        wrong = counts.sum() / (len(counts) * counts)
        return cls.from_matrix(wrong[:, None] * (1.0 - np.eye(len(counts))))

    @property
    def matrix(self) -> NDArray[np.float64]:
        """(K, K) float64, read-only: cost of deciding column j when the class is row k."""
        cells = np.array(self.rows, dtype=np.float64)
        cells.flags.writeable = False
        return cells

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.rows)

    @property
    def cost_fn(self) -> float:
        """Cost of a missed positive."""
        return self._cell(1, 0)

    @property
    def cost_fp(self) -> float:
        """Cost of a false alarm."""
        return self._cell(0, 1)

    @property
    def cost_tp(self) -> float:
        """Cost of a positive that was caught."""
        return self._cell(1, 1)

    @property
    def cost_tn(self) -> float:
        """Cost of a negative that was left in peace."""
        return self._cell(0, 0)

    def threshold(self) -> float:
        """Probability above which the positive decision is cheaper (Elkan 2001, equation 2)."""
        false_alarm = self.cost_fp - self.cost_tn
        return false_alarm / (false_alarm + (self.cost_fn - self.cost_tp))

    def regrets(self) -> NDArray[np.float64]:
        """(K, K): what each decision costs more than the right one of its true class; the diagonal is 0."""
        cells = self.matrix
        return cells - cells.diagonal()[:, None]

    def class_regrets(self) -> NDArray[np.float64]:
        """(K,): mean regret over the wrong decisions of each true class."""
        mean: NDArray[np.float64] = self.regrets().sum(axis=1) / (self.n_classes - 1)
        return mean

    def _cell(self, true: int, decided: int) -> float:
        if self.n_classes != 2:
            raise ValueError(
                f"fn, fp, tp and tn name the cells of two classes; this matrix has {self.n_classes}"
            )
        return self.rows[true][decided]

    def _check(self) -> None:
        names = (("cost_tn", "cost_fp"), ("cost_fn", "cost_tp")) if self.n_classes == 2 else None
        for true, row in enumerate(self.rows):
            for decided, cost in enumerate(row):
                name = names[true][decided] if names else f"matrix[{true}][{decided}]"
                right = names[true][true] if names else f"matrix[{true}][{true}]"
                if not abs(cost) <= LARGEST_COST:
                    raise ValueError(f"{name} must be finite and at most {LARGEST_COST}, not {cost}")
                if decided != true and not cost > row[true]:
                    raise UnreasonableCostsError(
                        f"{name} ({cost}) must be greater than {right} ({row[true]}): "
                        "a wrong decision must cost more than the right one",
                        (name, right),
                    )


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
        return cost if isinstance(cost, CostCell) else cls(fixed=float(cost))

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


@dataclass(frozen=True)
class Action:
    """Something that can be done with a row, and the index of the class it serves (None: a review)."""

    name: str
    serves: int | None


@dataclass(frozen=True)
class Review:
    """A person looks at the row: pays `fee`, then decides rightly with the accuracy of its true class.

    Parameters
    ----------
    fee : float
        Money per reviewed row, >= 0.
    accuracy : tuple of float
        Probability of the right decision, one per class, in the order of the classes.
    capacity : int, optional
        Rows that can be reviewed per `per` (a name such as "day"; None: per file).
    shadow_price : float, default 0
        Least net benefit for which a review is worth its place.
    """

    fee: float
    accuracy: tuple[float, ...]
    capacity: int | None = None
    shadow_price: float = 0.0
    per: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "accuracy", tuple(float(share) for share in self.accuracy))
        for name, price in (("fee", self.fee), ("shadow_price", self.shadow_price)):
            if not 0 <= price <= LARGEST_COST:
                raise ValueError(f"the {name} of a review must be finite and not negative, not {price}")
        if not all(0 <= share <= 1 for share in self.accuracy):
            raise ValueError("the accuracy of a review must lie in [0, 1] for every class")
        if self.capacity is not None and self.capacity < 0:
            raise ValueError(f"the capacity of a review must not be negative, not {self.capacity}")


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
        _check_actions(self.actions, len(self.classes), self.review)
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
        return cls(tuple(classes), positive, _class_actions(classes), cells)

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
        return cls(tuple(classes), positive, _class_actions(classes), cells)

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
        ValueError
            A cell names an unknown class or action, or an action is the cheapest of no class.
        """
        names = [action if isinstance(action, str) else action.name for action in actions]
        reviews = {a.name for a in actions if isinstance(a, Action) and a.serves is None}
        priced = [name for name in names if name not in reviews]
        for true, name in costs:
            if true not in classes or name not in priced:
                raise ValueError(f"there is no cost cell for class {true!r} and action {name!r}")
        cells = tuple(tuple(CostCell.of(costs.get((true, name), 0.0)) for name in priced) for true in classes)
        served = _cheapest_for(cells)
        complete = tuple(
            a if isinstance(a, Action) else Action(a, _served_class(a, classes, served[priced.index(a)]))
            for a in actions
        )
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
        for true, row in enumerate(self.cells):
            if not any(cell.per for cell in row):
                self._check_row(true, [float(cell.evaluate({}, 1)[0]) for cell in row])

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

    def _check_row(self, true: int, row: Sequence[float]) -> None:
        priced = self._priced
        right = min(
            (i for i, a in enumerate(priced) if self.actions[a].serves == true),
            key=row.__getitem__,
            default=None,
        )
        if right is None:
            return
        for i, a in enumerate(priced):
            if self.actions[a].serves != true and not row[i] > row[right]:
                names = (self.cell_name(true, a), self.cell_name(true, priced[right]))
                raise UnreasonableCostsError(
                    f"{names[0]} ({row[i]}) must be greater than {names[1]} ({row[right]}): "
                    "a wrong decision must cost more than the right one",
                    names,
                )


def _class_actions(classes: Sequence[str]) -> tuple[Action, ...]:
    return tuple(Action(name, k) for k, name in enumerate(classes))


def _check_classes(classes: tuple[str, ...], positive: int | None) -> None:
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise ValueError(f"costs need at least two classes with different names, not {list(classes)}")
    if (len(classes) == 2) != (positive is not None):
        raise ValueError("two classes need a positive one, more than two have none")
    if positive not in (None, 0, 1):
        raise ValueError(f"the positive class is given by its index, 0 or 1, not {positive!r}")


def _check_actions(actions: tuple[Action, ...], n_classes: int, review: Review | None) -> None:
    names = [action.name for action in actions]
    if len(set(names)) != len(names):
        raise ValueError(f"actions need different names, not {names}")
    served = [action.serves for action in actions if action.serves is not None]
    if not served or not all(0 <= k < n_classes for k in served):
        raise ValueError("each action other than the review serves one of the classes")
    reviews = len(actions) - len(served)
    if reviews > 1 or reviews != (review is not None):
        raise ValueError("costs have at most one review action, given together with its fee and accuracy")
    if review is not None and len(review.accuracy) != n_classes:
        raise ValueError(f"the review needs an accuracy for each of the {n_classes} classes")


def _cheapest_for(cells: tuple[tuple[CostCell, ...], ...]) -> list[int | None]:
    """For each action the first class for which it is the cheapest."""
    names = {name for row in cells for cell in row for name in cell.per}
    typical = {name: np.array([_TYPICAL_AMOUNT]) for name in names}
    costs = np.array([[cell.evaluate(typical, 1)[0] for cell in row] for row in cells])
    cheapest = costs <= costs.min(axis=1, keepdims=True)
    return [int(column.argmax()) if column.any() else None for column in cheapest.T]


def _served_class(action: str, classes: Sequence[str], cheapest_for: int | None) -> int:
    if action in classes:
        return list(classes).index(action)
    if cheapest_for is None:
        raise ValueError(f"the action {action!r} is the cheapest for no class: say which class it is for")
    return cheapest_for


def _beats(costs: NDArray[np.float64], better: int, worse: int) -> bool:
    """Whether one action is nowhere dearer than another, and cheaper somewhere or equal and first."""
    gain = costs[:, worse] - costs[:, better]
    return bool(np.all(gain >= 0) and (np.any(gain > 0) or better < worse))


def unreasonable_rows(costs: NDArray[np.float64], serves: Sequence[int | None]) -> NDArray[np.bool_]:
    """Tell for which rows some wrong action is no dearer than the right one.

    Parameters
    ----------
    costs : ndarray of shape (n, K, A)
    serves : sequence of A class indices, None for a review

    Returns
    -------
    ndarray of shape (n,), bool

    Examples
    --------
    >>> unreasonable_rows(np.array([[[0.0, 5.0], [90.0, 5.0]], [[0.0, 5.0], [3.0, 5.0]]]), (0, 1))
    array([False,  True])
    """
    bad = np.zeros(len(costs), dtype=np.bool_)
    for true in range(costs.shape[1]):
        right, wrong = _right_and_wrong(serves, true)
        if right and wrong:
            bad |= ~(costs[:, true, wrong].min(axis=1) > costs[:, true, right].min(axis=1))
    return bad


def regrets(
    costs: NDArray[np.float64], serves: Sequence[int | None], y_codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """What a wrong decision costs more than the right one, row by row: the cost boosters learn from.

    Parameters
    ----------
    costs : ndarray of shape (K, A) or (n, K, A)
    serves : sequence of A class indices, None for a review
    y_codes : ndarray of shape (n,), int
        Index of the true class of each row.

    Returns
    -------
    ndarray of shape (n,), >= 0
        max(0, wrong - right) of the row's true class, the mean over its wrong actions when there are several.
        The right decision is the cheapest action that serves the class (of all, when none serves it).

    Examples
    --------
    >>> regrets(np.array([[0.0, 1.0], [9.0, 0.5]]), (0, 1), np.array([0, 1]))
    array([1. , 8.5])
    """
    if costs.ndim == 2:
        classes = np.arange(costs.shape[0])
        per_class = regrets(costs[None].repeat(len(classes), axis=0), serves, classes)
        return per_class[y_codes]
    own = costs[np.arange(len(y_codes)), y_codes]
    result = np.zeros(len(y_codes))
    for true in range(costs.shape[1]):
        rows = y_codes == true
        result[rows] = _mean_regret(own[rows], *_right_and_wrong(serves, true))
    return result


def _mean_regret(own: NDArray[np.float64], right: list[int], wrong: list[int]) -> NDArray[np.float64]:
    least = own[:, right or wrong].min(axis=1)
    total = np.zeros(len(own))
    # One action after the other, so that a row's sum does not depend on the number of rows.
    for a in wrong:
        total += np.maximum(own[:, a] - least, 0.0)
    return total / max(len(wrong), 1)


def _right_and_wrong(serves: Sequence[int | None], true: int) -> tuple[list[int], list[int]]:
    right = [a for a, served in enumerate(serves) if served == true]
    wrong = [a for a, served in enumerate(serves) if served is not None and served != true]
    return right, wrong
