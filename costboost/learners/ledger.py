"""The account a learner keeps of its rows' weights, so that a round pays only for what has changed.

Rows of one kind that lie on one side of a stump, or get one answer of a tree, have their weights
multiplied by one factor. Weights are float64; what is added up are the integers rint(w · scale), so that
the sums are the same to the bit whether they are added up anew or brought up to date, in whatever order.
The scale is a power of two that stays as it is while the total lies within bounds; then weights are set
anew. When, and to what, depends on the integer sums alone: so the whole course is the same for every
order of the rows.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.kernels.fixed_point import total
from costboost.kernels.ledger import (
    TILE,
    add_changes,
    find_frequent,
    join_tables,
    list_elsewhere,
    multiply_weights,
    relate_factors,
    sum_sides,
)
from costboost.learners.columns import BinnedColumns

__all__ = ["ABOVE", "BELOW", "MISSING", "SCALE", "Account", "Accounts", "Elsewhere", "Ledger"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]

#: Sides of a cut.
BELOW, ABOVE, MISSING = range(3)
_SIDES = 3

#: Binary logarithm of the total after it was set anew, at most, and of its bounds.
_FRESH, _LEAST, _MOST = 57, 54, 61
#: A weight w counts as the integer rint(w · SCALE).
SCALE = 2.0**_FRESH
#: Beyond this an exponential, or a product with it, might be no number.
_LARGEST_EXPONENT = 300.0
#: A factor above this could make much of a weight that counts as little or nothing.
_LARGEST_FACTOR = 2.0**20
#: Share of rows above which adding all weights up anew is the faster way.
_MANY = 0.35
#: Share of rows in one bin from which the others are listed.
_MOSTLY = 0.6
#: Rows from which additions to one bin wait for one another long enough to let four tables take turns.
_ROWS_FOR_TABLES = 20_000


@dataclass(frozen=True)
class Elsewhere:
    """Of columns with a bin that most rows share, the rows in other bins.

    Parameters
    ----------
    frequent : ndarray of shape (d,), int64
        That bin; -1 if there is none.
    starts : ndarray of shape (d, tiles + 1), int64
    rows : ndarray, uint16
    bins : ndarray, uint8
        As `add_changes` reads them.
    """

    frequent: Ints
    starts: Ints
    rows: NDArray[np.uint16]
    bins: Octets

    @classmethod
    def of(cls, columns: BinnedColumns) -> "Elsewhere":
        """Look for such columns."""
        d, n = columns.codes.shape
        frequent = np.full(d, -1, dtype=np.int64)
        starts = np.full((d, -(-n // TILE) + 1), -1, dtype=np.int64)
        size = 0
        for j, codes in enumerate(columns.codes):
            best, count = find_frequent(codes, np.zeros(len(columns.cuts[j]) + 2, dtype=np.int64))
            if count > _MOSTLY * n:
                frequent[j], starts[j, 0] = best, size
                size += n - int(count)
        rows, bins = np.empty(size, dtype=np.uint16), np.empty(size, dtype=np.uint8)
        for j, codes in enumerate(columns.codes):
            if frequent[j] >= 0:
                list_elsewhere(codes, int(frequent[j]), starts[j], rows, bins)
        return cls(frequent, starts, rows, bins)


class Accounts(Protocol):
    """Weights of rows and their sums per bin, in one place or in many: it does what a ledger decides."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def sums(self) -> Ints:
        """(bins, a): what each bin of each column holds in each account."""
        ...

    def total(self) -> float:
        """Sum of the weights, in whatever order."""
        ...

    def part_by_column(self, column: int, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows by their bins of a column; see `Account.part`."""
        ...

    def part(self, codes: Octets, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows; see `Account.part`."""
        ...

    def multiply(self, factors: Floats) -> None:
        """Multiply weights by the factor of their kind and side, and leave the sums as they are."""
        ...

    def change(self, factors: Floats, *, anew: bool) -> int:
        """Multiply weights and bring the sums up to date; see `Account.change`."""
        ...


class Account:
    """Weights of the rows of two classes and their sums per bin, here.

    Parameters
    ----------
    columns : BinnedColumns
        Of at most 255 bins.
    elsewhere : Elsewhere
    kinds : ndarray of shape (n,), uint8
        Rows of a kind are of one class and weighed alike.
    counts : ndarray of shape (a, k), int64
        By what the weight of a row of each kind is multiplied in each of the accounts.
    weights : ndarray of shape (n,), float64, >= 0
        Kept and changed.

    Attributes
    ----------
    sums : ndarray of shape (bins, a), int64
        All 0 until the first change.
    """

    def __init__(
        self, columns: BinnedColumns, elsewhere: Elsewhere, kinds: Octets, counts: Ints, weights: Floats
    ) -> None:
        self.columns, self.elsewhere, self.kinds, self.counts = columns, elsewhere, kinds, counts
        self.weights = weights
        tables = 4 if len(kinds) >= _ROWS_FOR_TABLES else 1
        bins, accounts = int(columns.starts[-1]), len(counts)
        self.sums = np.zeros((bins, accounts), dtype=np.int64)
        self._wholes = np.zeros(accounts, dtype=np.int64)
        self._tables = np.zeros((tables, accounts, bins), dtype=np.int64)
        self._codes, self._sides = columns.codes[0], np.zeros(256, dtype=np.uint8)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.kinds)

    def total(self) -> float:
        """Sum of the weights, in whatever order."""
        return total(self.weights)

    def part_by_column(self, column: int, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows by their bins of a column."""
        return self.part(self.columns.codes[column], sides)

    def part(self, codes: Octets, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows, until they are parted otherwise.

        Parameters
        ----------
        codes : ndarray of shape (n,)
            A column of bins, or the leaf of each row.
        sides : ndarray by code
            `BELOW`, `ABOVE` or `MISSING`.

        Returns
        -------
        masses, counts : ndarrays of shape (k, 3), int64
            Integer weight, and number, of the rows of each kind on each side.
        """
        self._codes, self._sides = codes, sides
        masses, counts = np.zeros((2, self.counts.shape[1], _SIDES), dtype=np.int64)
        sum_sides(
            codes, sides, _SIDES, self.kinds, self.weights, SCALE, masses.reshape(-1), counts.reshape(-1)
        )
        return masses, counts

    def sides_of_rows(self) -> Octets:
        """(n,): the side that each row was parted to last."""
        sides: Octets = self._sides[self._codes]
        return sides

    def multiply(self, factors: Floats) -> None:
        """Multiply weights by the factor of their kind and side, (k, 3), and leave the sums as they are."""
        multiply_weights(self._codes, self._sides, _SIDES, self.kinds, factors.reshape(-1), self.weights)

    def change(self, factors: Floats, *, anew: bool) -> int:
        """Multiply weights and bring the sums up to date.

        Parameters
        ----------
        factors : ndarray of shape (k, 3)
            By kind and side.
        anew : bool
            Add up all weights, not only what changes: the faster way where most do.

        Returns
        -------
        int
            What the integer weight of all rows is if `anew`, else what it has changed by.
        """
        elsewhere = self.elsewhere
        mass = add_changes(
            self.columns.codes,
            self.columns.starts,
            elsewhere.starts,
            elsewhere.rows,
            elsewhere.bins,
            self._codes,
            self._sides,
            _SIDES,
            self.kinds,
            self.counts,
            factors.reshape(-1),
            SCALE,
            anew,
            self.weights,
            self._tables,
            self._wholes,
        )
        join_tables(self._tables, self.columns.starts, elsewhere.frequent, self._wholes, self.sums)
        return mass


class Ledger:
    """Decides how weights are multiplied and when they are set anew.

    Parameters
    ----------
    accounts : Accounts
        Newly opened, of rows that do not all weigh 0.

    Attributes
    ----------
    is_searched : bool
        Whether the next hypothesis is searched for. As long as it is not, nobody asks for sums per bin, and
        weights alone are kept up to date.
    """

    def __init__(self, accounts: Accounts) -> None:
        self.accounts, self.is_searched, self._lags = accounts, True, False
        self._mass = 0
        self._masses, self._counts = np.zeros((2, 0, _SIDES), dtype=np.int64)
        self._set_anew(np.ones((256, _SIDES)))

    @property
    def mass(self) -> int:
        """Integer weight of all rows."""
        return self._mass

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.accounts.n_rows

    @property
    def sums(self) -> Ints:
        """(bins, a): what each bin of each column holds in each account."""
        return self.accounts.sums

    def part_by_column(self, column: int, sides: Octets) -> Ints:
        """Part the rows by their bins of a column; return the integer weight of each kind on each side."""
        return self._parted(*self.accounts.part_by_column(column, sides))

    def part(self, codes: Octets, sides: Octets) -> Ints:
        """Part the rows, as `Account.part`; return the integer weight of each kind on each side, (k, 3)."""
        return self._parted(*self.accounts.part(codes, sides))

    def _parted(self, masses: Ints, counts: Ints) -> Ints:
        self._masses, self._counts = masses, counts
        if self._lags:
            self._mass = int(masses.sum())
        return masses

    def reweigh(self, exponents: Floats, shares: Floats) -> None:
        """Multiply weights by ``share · exp(exponent)``, up to one factor for all, by kind and side.

        Parameters
        ----------
        exponents, shares : ndarrays of shape (k, 3)
            Of the sides that rows were parted by last.
        """
        factors = np.empty(exponents.shape)
        greatest, projected, touched = relate_factors(
            exponents.reshape(-1),
            shares.reshape(-1),
            self._masses.reshape(-1),
            self._counts.reshape(-1),
            _LARGEST_EXPONENT,
            factors.reshape(-1),
        )
        if greatest > _LARGEST_FACTOR or not 2.0**_LEAST < projected < 2.0**_MOST:
            self.accounts.multiply(factors / greatest)
            self._set_anew(factors)
        else:
            self._change(factors, anew=self._lags or touched > _MANY * self.n_rows)

    def _set_anew(self, like: Floats) -> None:
        """Bring the sum of the weights into (1/2, 1] by a power of two and add everything up."""
        _, exponent = math.frexp(self.accounts.total())
        self._change(np.full(like.shape, math.ldexp(1.0, -exponent)), anew=True)

    def _change(self, factors: Floats, *, anew: bool) -> None:
        if not self.is_searched:
            self.accounts.multiply(factors)
            self._lags = True
            return
        mass = self.accounts.change(factors, anew=anew)
        self._mass, self._lags = mass if anew else self._mass + mass, False
