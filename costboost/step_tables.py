"""Sums of step functions of single columns, over rows.

A row alone goes through plain Python, a few rows through numpy, many through a compiled kernel; all add
function after function, so they agree to the bit.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost import kernels

__all__ = ["StepFunction", "StepTables"]

#: So many rows are summed one by one before the compiler is there.
_FEW = 64
#: More rows are taken so many at a time: a few columns of them fit in the cache.
_BLOCK = 4096

Floats = NDArray[np.float64]
#: float64 or float32.
Rows = NDArray[Any]
Groups = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StepFunction:
    """What one column adds to the scores: constant between neighbouring cuts.

    Attributes
    ----------
    feature : int
        The column.
    cuts : ndarray of shape (B,), float64
        Rising and finite; a value equal to a cut lies below it.
    values : ndarray of shape (B + 2, K'), float64
        For each interval from the lowest on; the last row is for a missing value.
    """

    feature: int
    cuts: Floats
    values: Floats

    def places(self, x: NDArray[Any]) -> NDArray[np.intp]:
        """(n,): row of `values` for each value of the column."""
        below = np.searchsorted(self.cuts, x.astype(np.float64, copy=False), side="left")
        return np.where(np.isnan(x), len(self.values) - 1, below)


@dataclass(frozen=True, eq=False)
class StepTables:
    """Step functions whose values are added up in their order.

    Parameters
    ----------
    functions : tuple of StepFunction
    n_features : int
        Columns a row must have.
    n_outputs : int
        Number of scores K'.
    """

    functions: tuple[StepFunction, ...]
    n_features: int
    n_outputs: int

    def sums(self, X: Rows, group: Groups, start: Floats) -> Floats:
        """Sums of the functions in groups.

        Parameters
        ----------
        X : ndarray of shape (n, n_features), float64 or float32
            NaN is a missing value; infinite values lie beyond all cuts.
        group : ndarray of shape (F,), int64
            Group of each function, in [0, G).
        start : ndarray of shape (G, K'), float64

        Returns
        -------
        ndarray of shape (n, G, K'), float64
            For each row, group and score the start and what the functions of the group add to it.

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        self._check_rows(X)
        if kernels.pay_for(len(X)):
            return self._sums_compiled(X, group, start)
        if len(X) <= _FEW:
            rows = [self.sums_of_row(row, group, start.tolist()) for row in X.tolist()]
            return np.array(rows, dtype=np.float64).reshape(len(X), *start.shape)
        out = np.empty((len(X), *start.shape))
        for first in range(0, len(X), _BLOCK):
            block = out[first : first + _BLOCK]
            block[:] = start
            for function, place in zip(self.functions, group.tolist(), strict=True):
                own = np.ascontiguousarray(X[first : first + _BLOCK, function.feature])
                block[:, place] += function.values[function.places(own)]
        return out

    def sums_of_row(self, row: Sequence[float], group: Groups, sums: list[list[float]]) -> list[list[float]]:
        """Add the values of one row of Python floats to its sums (G, K'); equal to the bit to `sums`."""
        for (feature, cuts, steps), place in zip(self._lists, group.tolist(), strict=True):
            own, total = row[feature], sums[place]
            step = bisect_left(cuts, own) if own == own else -1  # noqa: PLR0124 - NaN
            for k, values in enumerate(steps):
                total[k] += values[step]
        return sums

    def sum_of_row(self, row: Sequence[float], total: float) -> float:
        """Do the same for one score of one group, which is what a service is asked for most."""
        for feature, cuts, values in self._single_lists:
            own = row[feature]
            total += values[bisect_left(cuts, own) if own == own else -1]  # noqa: PLR0124 - NaN
        return total

    def mass(self, X: Rows, weight: Floats) -> list[Floats]:
        """For each function the weight of the rows that lie on each of its steps, added in their order."""
        self._check_rows(X)
        if not kernels.pay_for(len(X)):
            return [
                np.bincount(one.places(X[:, one.feature]), weight, len(one.values)).astype(np.float64)
                for one in self.functions
            ]
        from costboost.kernels.steps import weigh_steps  # noqa: PLC0415 - loads the compiler
        from costboost.kernels.tiles import as_laid_out  # noqa: PLC0415

        layout = self._layout
        mass = np.zeros(layout.first_step[-1])
        weigh_steps(*as_laid_out(X), *layout.of(X), weight, mass)
        return np.split(mass, layout.first_step[1:-1]) if self.functions else []

    def _check_rows(self, X: Rows) -> None:
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")

    def _sums_compiled(self, X: Rows, group: Groups, start: Floats) -> Floats:
        from costboost.kernels.steps import add_steps  # noqa: PLC0415 - loads the compiler
        from costboost.kernels.tiles import as_laid_out  # noqa: PLC0415

        totals = np.empty((len(X), start.size))
        place, begin = group * self.n_outputs, start.reshape(-1)
        add_steps(*as_laid_out(X), *self._layout.of(X), self._layout.values, place, begin, totals)
        return totals.reshape(len(X), *start.shape)

    @cached_property
    def _lists(self) -> list[tuple[int, list[float], list[list[float]]]]:
        """Column, cuts and, for each score, values of each function, as Python's own numbers."""
        return [(one.feature, one.cuts.tolist(), one.values.T.tolist()) for one in self.functions]

    @cached_property
    def _single_lists(self) -> list[tuple[int, list[float], list[float]]]:
        return [(feature, cuts, steps[0]) for feature, cuts, steps in self._lists]

    @cached_property
    def _layout(self) -> "_Layout":
        return _Layout.of_functions(self.functions, self.n_outputs)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The functions as the kernels take them, see `add_steps`."""

    feature: NDArray[np.int64]
    first_cut: NDArray[np.int64]
    cuts: Floats
    first_step: NDArray[np.int64]
    values: Floats

    @classmethod
    def of_functions(cls, functions: Sequence[StepFunction], n_outputs: int) -> "_Layout":
        from costboost.kernels.steps import FEW_CUTS, GROUP, STRIDE  # noqa: PLC0415 - loads the compiler

        cuts = [np.zeros(0)]
        for one in functions:
            unit = STRIDE if one.cuts.size <= FEW_CUTS else GROUP
            cuts.append(np.concatenate([one.cuts, np.full(-one.cuts.size % unit, np.inf)]))
        steps = [np.zeros((0, n_outputs)), *(one.values for one in functions)]
        return cls(
            np.array([one.feature for one in functions], dtype=np.int64),
            np.cumsum([own.size for own in cuts], dtype=np.int64),
            np.concatenate(cuts),
            np.cumsum([len(own) for own in steps], dtype=np.int64),
            np.ascontiguousarray(np.concatenate(steps).T),
        )

    def of(self, X: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Columns, cuts and steps for rows of the type of X."""
        cuts = self._single_cuts if X.dtype == np.float32 else self.cuts
        return self.feature, self.first_cut, cuts, self.first_step

    @cached_property
    def _single_cuts(self) -> NDArray[np.float32]:
        """The cuts rounded down: a float32 lies above one if and only if it lies above the cut itself."""
        with np.errstate(over="ignore"):
            near = self.cuts.astype(np.float32)
        return np.where(near > self.cuts, np.nextafter(near, np.float32(-np.inf)), near)
