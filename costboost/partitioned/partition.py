"""Some rows of a training set: they are binned and weighed here, and answered for with sums."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from costboost.kernels.fixed_point import largest_magnitude, sum_rounded
from costboost.learners.columns import BinnedColumns, greatest_code
from costboost.learners.ledger import Account, Elsewhere
from costboost.learners.stump import PreparedStump
from costboost.learners.tree import weighed_by
from costboost.learners.tree_growth import Cut, Limits, Mark, NodeRows, WeighedRows
from costboost.learners.value_groups import ColumnValues, Keys, keys_of_columns
from costboost.learners.weak import Labels

__all__ = ["Partition", "Rows", "Source", "Told"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Octets: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Rows:
    """Some rows as they are read.

    Parameters
    ----------
    X : array-like of shape (n, d)
        NaN is a missing value. All rows of a training set are float32, or all are float64.
    y : array-like of shape (n,)
    sample_cost, sample_weight : array-like, optional
        As in `fit`.
    """

    X: ArrayLike
    y: ArrayLike
    sample_cost: ArrayLike | None = None
    sample_weight: ArrayLike | None = None


#: Reads some rows where they are wanted.
Source: TypeAlias = Callable[[], Rows]


@dataclass(frozen=True)
class Told:
    """What a partition tells of its rows: everything but their columns."""

    n_columns: int
    dtype: np.dtype[Any]
    y: NDArray[Any]
    sample_cost: Floats | None
    sample_weight: Floats | None


class Partition:
    """Rows in one place.

    Its methods are asked for in the order of a fit: what it holds, cuts, bins, then weights round by round.

    Parameters
    ----------
    sources : sequence of callables
        Each returns a `Rows`; read here, once.

    Raises
    ------
    ValueError
        If rows differ in their number of columns or their type, some have costs or weights and others not,
        or a value is infinite.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        read = [source() for source in sources]
        tables = [
            check_array(
                rows.X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", ensure_min_samples=0
            )
            for rows in read
        ]
        if len({(table.shape[1], table.dtype) for table in tables}) != 1:
            raise ValueError("rows of a training set must have as many columns, of one type, everywhere")
        self._X = np.concatenate(tables) if len(tables) > 1 else tables[0]
        y = np.concatenate([np.asarray(rows.y) for rows in read])
        if y.shape != (len(self._X),):
            raise ValueError("there must be one label for each row")
        costs = _joined("sample_cost", [rows.sample_cost for rows in read])
        weights = _joined("sample_weight", [rows.sample_weight for rows in read])
        self._told = Told(self._X.shape[1], self._X.dtype, y, costs, weights)

    def told(self) -> Told:
        """Tell of the rows what is not in their columns."""
        return self._told

    # Where to cut

    def distinct(self, column: int, masses: Ints) -> tuple[Keys, Ints] | None:
        """Begin with a column; see `Values` for this and the next methods."""
        (keys,) = keys_of_columns(self._X[:, column : column + 1])
        self._values = ColumnValues(keys, masses)
        return self._values.distinct()

    def look(self, name: str, *args: Any) -> Any:
        """Pass over the values of the column once more, by a method of `Values`."""
        return getattr(self._values, name)(*args)

    def greatest_code(self, column: int) -> float:
        """Greatest code of a column of categories."""
        return greatest_code(self._X[:, column], column)

    def bin(self, cuts: tuple[Floats, ...], categories: Sequence[int]) -> None:
        """Keep the bins of the rows in place of their values."""
        self.columns = BinnedColumns.by_cuts(self._X, cuts, categories)
        del self._X, self._told
        vars(self).pop("_values", None)

    @cached_property
    def _elsewhere(self) -> Elsewhere:
        return Elsewhere.of(self.columns)

    # Weights by kinds of rows

    def open(self, counts: Ints, kinds: Octets, weights: Floats) -> None:
        """Open an account."""
        self._account = Account(self.columns, self._elsewhere, kinds.copy(), counts, weights.copy())

    def largest_weight(self) -> float:
        """Largest weight in the account."""
        return largest_magnitude(self._account.weights)

    def sum_of_weights(self, lift: float, scale: float) -> int:
        """Sum of the account's weights as integers."""
        return sum_rounded(self._account.weights, lift, scale)

    def part_by_column(self, column: int, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows of the account."""
        return self._account.part_by_column(column, sides)

    def part_by_leaf(self, marks: Sequence[Mark], sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows of the account by the leaves of the tree that has grown."""
        return self._account.part(self._grown.leaves(marks), sides)

    def multiply(self, factors: Floats) -> None:
        """Multiply the account's weights."""
        self._account.multiply(factors)

    def change(self, factors: Floats, anew: bool) -> tuple[int, Ints]:
        """Multiply the account's weights; return what `Account.change` does, and the sums."""
        return self._account.change(factors, anew=anew), self._account.sums

    # Trees

    def root_by_account(self, limits: Limits, positive: int) -> Ints | None:
        """Begin a tree under the account's weights; return its sums if they say more than the account's."""
        account = self._account
        codes = (account.counts[positive] > 0).astype(np.uint16)[account.kinds]
        labels = Labels(codes, np.arange(2), positive)
        self._grown = NodeRows(self.columns, weighed_by(account, labels), limits)
        sums = self._grown.root()
        return sums if self._grown.counted else None

    def root(self, limits: Limits, scale: float, n_classes: int, weights: Floats, codes: Any) -> Ints:
        """Begin a tree under these weights; return its sums."""
        weighed = WeighedRows(weights, scale, codes, n_classes)
        self._grown = NodeRows(self.columns, weighed, limits)
        return self._grown.root()

    def part_nodes(self, cuts: Sequence[Cut]) -> list[Ints]:
        """Part the rows of nodes; return the sums below each cut."""
        return [below for below, _ in self._grown.part(cuts)]

    def leaves(self, marks: Sequence[Mark]) -> Octets:
        """Say in which leaf each row is."""
        return self._grown.leaves(marks)

    # Stumps under weights that are sent

    def stump(self, name: str, *args: Any) -> Any:
        """Ask what a `PreparedStump` sees of these rows, by one of its methods."""
        return getattr(PreparedStump(self.columns, None), name)(*args)


def _joined(name: str, given: Sequence[ArrayLike | None]) -> Floats | None:
    known = [np.asarray(one, dtype=np.float64) for one in given if one is not None]
    if not known:
        return None
    if len(known) != len(given):
        raise ValueError(f"{name} must be there for all rows or for none")
    return np.concatenate(known)
