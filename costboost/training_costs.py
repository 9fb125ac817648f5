"""What each row of a training set costs under each label, and the form in which boosters take it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix, costs_of_true_class

#: Whether a booster learns from the mean regret of each class, or from the costs of each row.
TrainCosts = Literal["class_mean", "row"]

# Beyond this many times the largest regret, the cost of right decisions would drown the regrets' digits.
_LARGEST_BASE = 1e6


@dataclass(frozen=True, eq=False)
class TrainingCosts:
    """Costs of n rows whose true classes are known.

    Attributes
    ----------
    labelled : ndarray of shape (n, K), float64
        Cost of deciding each class for the row, by the cheapest action that serves it.
    y : ndarray of shape (n,), int
        True class of each row.
    weight : ndarray of shape (n,), float64
        Weight of each row in class means.
    """

    labelled: NDArray[np.float64]
    y: NDArray[np.intp]
    weight: NDArray[np.float64]

    @classmethod
    def of_spec(
        cls,
        spec: CostSpec,
        columns: Mapping[str, NDArray[Any]],
        y: NDArray[np.intp],
        weight: NDArray[np.float64],
    ) -> "TrainingCosts":
        """Costs as a cost spec gives them.

        Raises
        ------
        ValueError
            If a cost column is missing, or a row's cost is not finite.
        """
        own = costs_of_true_class(spec.evaluate(columns, len(y)), y)
        return cls(_finite(_by_label(own, spec.serves, len(spec.classes))), y, weight)

    @classmethod
    def of_samples(
        cls,
        sample_cost: ArrayLike,
        y: NDArray[np.intp],
        weight: NDArray[np.float64],
        n_classes: int,
        positive: int | None,
    ) -> "TrainingCosts":
        """Costs given row by row.

        Parameters
        ----------
        sample_cost : array-like of shape (n,), (n, 4) or (n, K)
            The cost of a wrong decision; or the cells fn, fp, tp, tn (two classes); or the cost of deciding
            each class.
        y, weight
            As in the attributes.
        n_classes : int
        positive : int or None
            Index of the positive class of two.
        """
        given = _finite(np.asarray(sample_cost, dtype=np.float64))
        n = len(y)
        labelled = np.zeros((n, n_classes))
        if given.shape == (n,):
            labelled[:] = given[:, None]
            labelled[np.arange(n), y] = 0.0
        elif given.shape == (n, 4) and positive is not None:
            true_positive = y == positive
            labelled[:, positive] = np.where(true_positive, given[:, 2], given[:, 1])
            labelled[:, 1 - positive] = np.where(true_positive, given[:, 0], given[:, 3])
        elif given.shape == (n, n_classes):
            labelled = given
        else:
            raise ValueError(f"sample_cost of shape {given.shape} is none of (n,), (n, 4) and (n, K)")
        return cls(labelled, y, weight)

    def class_means(self) -> NDArray[np.float64]:
        """(K, K): mean cost of deciding each class (column) for the rows of each class."""
        n_classes = self.labelled.shape[1]
        return np.array(
            [[self._mean(self.labelled[:, j], k) for j in range(n_classes)] for k in range(n_classes)]
        )

    def class_regrets(self) -> NDArray[np.float64]:
        """(K, K): mean regret of deciding each class for the rows of each class; positive off the diagonal.

        Where no row of a class has a regret, the smallest of the other means stands in: costs cannot say 0.

        Raises
        ------
        ValueError
            If no row at all has a regret.
        """
        excess, n_classes = self._excess(), self.labelled.shape[1]
        means = np.array([[self._mean(excess[:, j], k) for j in range(n_classes)] for k in range(n_classes)])
        if not (means > 0).any():
            raise ValueError("no wrong decision costs more than the right one in any row")
        wrong = ~np.eye(n_classes, dtype=np.bool_)
        return np.where(wrong & (means <= 0), means[means > 0].min(), means)

    def matrix(self) -> CostMatrix:
        """The class means for a booster, in units of the largest regret; class 1 of two is positive."""
        regrets = self.class_regrets()
        unit = float(regrets.max())
        right = without_currency(self.class_means().diagonal(), unit)
        base = right if np.abs(right).max() <= _LARGEST_BASE else np.zeros_like(right)
        return CostMatrix.from_matrix(base[:, None] + without_currency(regrets, unit))

    def rows(self) -> NDArray[np.float64]:
        """The costs of each row for a booster, in units of the largest mean regret of a class.

        Shape (n, 4), fn, fp, tp, tn, for two classes (1 is positive; the cells of the other class are 0),
        else (n, K).
        """
        labelled = without_currency(self.labelled, float(self.class_regrets().max()))
        if labelled.shape[1] > 2:
            return labelled
        positive, flagged, left = self.y == 1, labelled[:, 1], labelled[:, 0]
        own = [(left, positive), (flagged, ~positive), (flagged, positive), (left, ~positive)]
        return np.column_stack([np.where(rows, cost, 0.0) for cost, rows in own])

    def recoded(self, codes: NDArray[np.intp]) -> "TrainingCosts":
        """The same costs when class k is given the code codes[k]."""
        return replace(self, labelled=self.labelled[:, np.argsort(codes)], y=codes[self.y])

    def of_rows(self, rows: NDArray[np.intp]) -> "TrainingCosts":
        """The same costs for some of the rows."""
        return replace(self, labelled=self.labelled[rows], y=self.y[rows], weight=self.weight[rows])

    def _excess(self) -> NDArray[np.float64]:
        right = self.labelled[np.arange(len(self.y)), self.y]
        excess: NDArray[np.float64] = np.maximum(self.labelled - right[:, None], 0.0)
        return excess

    def _mean(self, values: NDArray[np.float64], k: int) -> float:
        own, weight = values[self.y == k], self.weight[self.y == k]
        # From the first value on, so that the mean of equal values is that value to the bit.
        return float(own[0] + (weight * (own - own[0])).sum() / weight.sum())


def without_currency(costs: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """Costs in units of one of them, to 12 digits: costs in another currency train the same model to the bit.

    Parameters
    ----------
    costs : ndarray, float64
    unit : float
        Positive, in the same currency.

    Examples
    --------
    >>> bool(without_currency(np.array([0.7]), 0.3) == without_currency(np.array([700.0]), 300.0))
    True
    """
    mantissa, exponent = np.frexp(costs / unit)
    rounded: NDArray[np.float64] = np.ldexp(np.rint(mantissa * 2.0**40), exponent - 40)
    return rounded


def _by_label(own: NDArray[np.float64], serves: Sequence[int | None], n_classes: int) -> NDArray[np.float64]:
    """(n, K) from (n, A): the cheapest action that serves each class, the dearest of all where none does."""
    priced = [a for a, served in enumerate(serves) if served is not None]
    labelled = np.empty((len(own), n_classes))
    for k in range(n_classes):
        serving = [a for a in priced if serves[a] == k]
        labelled[:, k] = own[:, serving].min(axis=1) if serving else own[:, priced].max(axis=1)
    return labelled


def _finite(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    bad = np.flatnonzero(~np.isfinite(costs.reshape(len(costs), -1)).all(axis=1))
    if bad.size:
        raise ValueError(f"the cost of row {bad[0]} is not finite ({bad.size} such rows)")
    return costs
