"""A training set as the formulas see it: signs, weights, regrets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import CostMatrix
from costboost.kernels.fixed_point import total
from costboost.learners.weak import Labels, classes_of

__all__ = ["EQUAL_MISTAKES", "CostsOfMistakes", "Floats", "Problem", "read_costs"]

Floats: TypeAlias = NDArray[np.float64]
CostsOfMistakes: TypeAlias = (
    CostMatrix | NDArray[np.float64] | Sequence[Sequence[float]] | Literal["balanced"] | None
)

#: Relative differences up to this are rounding, and decide nothing.
_ROUNDING = 1e-12

#: The named costs of a user who gives none.
EQUAL_MISTAKES = {"cost_fn": 1.0, "cost_fp": 1.0, "cost_tp": 0.0, "cost_tn": 0.0}


@dataclass(frozen=True)
class Problem:
    """What a booster learns from.

    Parameters
    ----------
    labels : Labels
    weights : ndarray of shape (n,), float64
        The user's weights of the rows, sum 1.
    table : ndarray of shape (n, K) or (K, K), float64
        What each decision costs more than the right one, by row, or by class where costs are constant; 0 for
        the row's own class. An entry is negative where a wrong decision is cheaper than the right one.
    cells : ndarray of shape (n, 4) or (1, 4), float64
        With two classes the costs of a miss, a false alarm, a hit and a rightful rest (fn, fp, tp, tn).
    told : bool
        Whether the user gave costs; else every mistake costs 1.
    """

    labels: Labels
    weights: Floats
    table: Floats
    cells: Floats
    told: bool = True

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.labels.classes)

    @property
    def sign(self) -> Floats:
        """(n,): +1 for the positive class, else -1."""
        return self.labels.sign

    @property
    def constant(self) -> bool:
        """Whether costs depend on the class alone."""
        return len(self.cells) == 1

    @property
    def regrets(self) -> Floats:
        """(n, K): what each decision costs more than the right one, by row."""
        return self._by_row(self.table)

    @property
    def cost(self) -> Floats:
        """(n,) cost of getting each row wrong: its mean regret over the wrong decisions, at least 0."""
        summed: Floats = np.maximum(self.table, 0.0).sum(axis=1)
        return self._by_row(summed / (self.n_classes - 1))

    def _by_row(self, values: Floats) -> Floats:
        return values[self.labels.codes] if self.constant else values

    def cheapest_constant(self) -> int:
        """Class (by index) that is cheapest to decide for every row; the negative or first one on a tie.

        What differs by the rounding of weights alone is a tie.
        """
        priced = np.array([total(self.weights * self._by_row(column)) for column in self.table.T])
        cheap = priced <= priced.min() + _ROUNDING * np.abs(priced).max()
        negative = 1 - self.labels.positive
        return negative if self.n_classes == 2 and cheap[negative] else int(np.argmax(cheap))

    def class_means(self) -> tuple[float, float]:
        """Mean cost of the negatives and of the positives, rows counted by their weights."""
        cost, sign = self.cost, self.sign
        return _mean(cost, self.weights, sign < 0), _mean(cost, self.weights, sign > 0)

    def class_regrets(self) -> Floats:
        """(K, K) mean regrets: rows are true classes, columns decisions."""
        rows = [self.labels.codes == k for k in range(self.n_classes)]
        return np.array([[_mean(column, self.weights, own) for column in self.regrets.T] for own in rows])

    def take(self, rows: NDArray[np.intp]) -> "Problem":
        """Return the problem of some of the rows, at the same costs."""
        weights = self.weights[rows]
        return replace(
            self,
            labels=replace(self.labels, codes=self.labels.codes[rows]),
            weights=weights / total(weights),
            table=self.table if self.constant else self.table[rows],
            cells=self.cells if self.constant else self.cells[rows],
        )

    def against_the_rest(self, code: int) -> "Problem":
        """Return the problem of telling one class from all others.

        A row of the class keeps its cost; a row of another costs what deciding for the class costs it, which
        for constant costs is the mean over those rows.
        """
        own = self.labels.codes == code
        wrong = np.where(own, self.cost, self._by_row(self.table[:, code]))
        if self.constant:
            wrong[~own] = _mean(wrong, self.weights, ~own)
        if not (wrong[self.weights > 0] > 0).any():
            wrong = np.ones(len(wrong))  # nothing is at stake, yet the class must have a score
        labels = Labels(own.astype(np.uint16), np.array([0, 1]))
        cells = np.column_stack([wrong, wrong, np.zeros((len(wrong), 2))])
        table = np.zeros((len(wrong), 2))
        table[np.arange(len(wrong)), 1 - labels.codes] = wrong
        return replace(self, labels=labels, cells=cells, table=table)


def _mean(values: Floats, weights: Floats, rows: NDArray[np.bool_]) -> float:
    mass = total(weights[rows])
    return total((weights * values)[rows]) / mass if mass > 0 else 0.0


def read_costs(
    labels: Labels,
    weights: Floats,
    matrix: CostsOfMistakes,
    scalars: dict[str, float],
    sample_cost: ArrayLike | None,
) -> tuple[Floats, Floats]:
    """Bring every way of giving costs into a table of regrets and cells.

    Parameters
    ----------
    labels : Labels
    weights : ndarray of shape (n,)
    matrix : CostMatrix, array-like of shape (K, K), "balanced" or None
        Rows are true classes in the order of `labels.classes`; a `CostMatrix` has the positive one last.
    scalars : dict
        cost_fn, cost_fp, cost_tp, cost_tn; used if there is no matrix.
    sample_cost : array-like of shape (n,), (n, 4) or (n, K), or None
        Goes before all others. (n,): cost of getting the row wrong; (n, 4), two classes: fn, fp, tp, tn;
        (n, K), more classes: cost of each decision for the row.

    Returns
    -------
    table : ndarray of shape (n, K), or (K, K) if costs are constant
    cells : ndarray of shape (n, 4), or (1, 4) if costs are constant

    Raises
    ------
    ValueError
        If costs are not finite, unreasonable (constant ones), of the wrong shape or all zero.
    """
    if sample_cost is not None:
        table, cells = _row_costs(labels, np.asarray(sample_cost, dtype=np.float64))
    else:
        costs = _constant_costs(labels, weights, matrix, scalars)
        table, cells = costs.regrets(), _cells_of(costs)
        if len(labels.classes) == 2 and labels.positive == 0:
            table = np.ascontiguousarray(table[::-1, ::-1])
    costly: NDArray[np.bool_] = np.any(table > 0, axis=1)
    if not costly.all():
        weighed = weights > 0  # a row without weight costs nothing
        costly = costly[weighed if sample_cost is not None else np.unique(labels.codes[weighed])]
    if not costly.any():
        raise ValueError("all costs are zero: no mistake costs anything")
    return table, cells


def _positive_last(labels: Labels) -> NDArray[np.uint16]:
    """Codes with the positive class as 1, the order of the named cells."""
    return labels.codes if len(labels.classes) > 2 or labels.positive == 1 else 1 - labels.codes


def _cells_of(costs: CostMatrix) -> Floats:
    if costs.n_classes > 2:
        return np.zeros((1, 4))
    return np.array([[costs.cost_fn, costs.cost_fp, costs.cost_tp, costs.cost_tn]])


def _constant_costs(
    labels: Labels, weights: Floats, matrix: CostsOfMistakes, scalars: dict[str, float]
) -> CostMatrix:
    n_classes = len(labels.classes)
    if isinstance(matrix, str):
        if matrix != "balanced":
            raise ValueError(f"cost_matrix must be a matrix or 'balanced', not {matrix!r}")
        codes = _positive_last(labels)
        counts = [total(weights[codes == k]) for k in range(n_classes)]
        return CostMatrix.balanced(np.array(counts))
    if matrix is None:
        return _named_costs(n_classes, scalars)
    if isinstance(matrix, CostMatrix):
        costs = matrix
    else:
        cells = np.asarray(matrix, dtype=np.float64)
        costs = CostMatrix.from_matrix(
            cells[::-1, ::-1] if n_classes == 2 and labels.positive == 0 else cells
        )
    if costs.n_classes != n_classes:
        raise ValueError(f"cost_matrix is for {costs.n_classes} classes, y has {n_classes} classes")
    return costs


def _named_costs(n_classes: int, scalars: dict[str, float]) -> CostMatrix:
    if n_classes == 2:
        return CostMatrix(
            cost_fn=scalars["cost_fn"],
            cost_fp=scalars["cost_fp"],
            cost_tp=scalars["cost_tp"],
            cost_tn=scalars["cost_tn"],
        )
    if scalars != EQUAL_MISTAKES:
        raise ValueError(
            "cost_fn, cost_fp, cost_tp and cost_tn are for two classes; use cost_matrix for more"
        )
    return CostMatrix.from_matrix(1.0 - np.eye(n_classes))


def _row_costs(labels: Labels, costs: Floats) -> tuple[Floats, Floats]:
    n, n_classes = len(labels.codes), len(labels.classes)
    shapes: list[tuple[int, ...]] = [(n,), (n, 4 if n_classes == 2 else n_classes)]
    if costs.shape not in shapes:
        raise ValueError(f"sample_cost must have shape {shapes[0]} or {shapes[1]}, not {costs.shape}")
    if not np.isfinite(costs).all():
        raise ValueError("sample_cost must be finite")
    if costs.ndim == 1:
        return _equal_mistakes(labels, costs)
    own = labels.codes[:, None]
    if n_classes > 2:
        return costs - np.take_along_axis(costs, own, axis=1), np.zeros((n, 4))
    miss, alarm = costs[:, 0] - costs[:, 2], costs[:, 1] - costs[:, 3]
    regrets = np.zeros((n, 2))
    wrong = np.where(labels.sign > 0, miss, alarm)
    regrets[np.arange(n), 1 - labels.codes] = wrong
    return regrets, costs


def _equal_mistakes(labels: Labels, costs: Floats) -> tuple[Floats, Floats]:
    """Every wrong decision of a row costs the same."""
    if (costs < 0).any():
        raise ValueError("sample_cost of shape (n,) must not be negative")
    regrets = np.repeat(costs[:, None], len(labels.classes), axis=1)
    regrets[np.arange(len(costs)), labels.codes] = 0.0
    return regrets, np.column_stack([costs, costs, np.zeros((len(costs), 2))])


def labels_of(y: NDArray[Any], pos_label: Any) -> Labels:
    """Find the classes of y.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or `pos_label` is not one of two.
    """
    classes, codes = classes_of(y)
    if len(classes) < 2:
        raise ValueError(f"the labels hold {len(classes)} class; a classifier needs at least two classes")
    if pos_label is None:
        return Labels(codes, classes)
    if len(classes) > 2:
        raise ValueError("pos_label is for two classes")
    if pos_label not in classes.tolist():
        raise ValueError(f"pos_label {pos_label!r} is not one of the classes {classes.tolist()}")
    return Labels(codes, classes, positive=classes.tolist().index(pos_label))
