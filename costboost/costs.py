"""What decisions cost: named cells, constant or per row, and the regrets that boosters learn from.

The first index of every cost array is the true class, the second the action (without actions of their own,
the actions are the classes). A loss is positive, a benefit negative. Only differences within one true class
matter for a decision (Elkan 2001, section 1.2), so what must hold is stated on differences: costs are
*reasonable* when, for each true class, every wrong action is dearer than the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST_COST = 1e100
"""Costs beyond it are refused: sums and differences of a few smaller ones cannot overflow."""


class UnreasonableCostsError(ValueError):
    """A wrong decision costs no more than the right one; `cells` names the cells at fault.

    Examples
    --------
    >>> try:
    ...     CostMatrix(cost_fn=1, cost_fp=1, cost_tp=2)
    ... except UnreasonableCostsError as error:
    ...     error.cells
    ('cost_fn', 'cost_tp')
    """

    def __init__(self, message: str, cells: tuple[str, ...]) -> None:
        super().__init__(message)
        self.cells = cells

    def __reduce__(self) -> tuple[type[UnreasonableCostsError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.cells)


def _constant(name: str, cost: float) -> float:
    if np.ndim(cost) > 0:
        raise ValueError(f"{name} is one number for all rows; costs of single rows go to fit as sample_cost")
    return float(cost)


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

    def __init__(
        self,
        *,
        cost_fn: float,
        cost_fp: float,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
        **others: Never,
    ) -> None:
        if others:
            raise TypeError(f"costs are named cost_fn, cost_fp, cost_tp and cost_tn, not {', '.join(others)}")
        cells = {"cost_tn": cost_tn, "cost_fp": cost_fp, "cost_fn": cost_fn, "cost_tp": cost_tp}
        tn, fp, fn, tp = (_constant(name, cost) for name, cost in cells.items())
        rows = ((tn, fp), (fn, tp))
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


def costs_of_true_class(costs: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Cost of each action for the class that each row has.

    Parameters
    ----------
    costs : ndarray of shape (K, A) or (n, K, A), float64
    y : ndarray of shape (n,), int

    Returns
    -------
    ndarray of shape (n, A), float64

    Examples
    --------
    >>> costs_of_true_class(np.array([[0.0, 1.0], [9.0, 0.0]]), np.array([1, 0]))
    array([[9., 0.],
           [0., 1.]])
    """
    own: NDArray[np.float64] = costs[y] if costs.ndim == 2 else costs[np.arange(len(y)), y]
    return own


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
