"""Weak learners whose rows lie in several places: what these add up is merged, and all else is as ever."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels.fixed_point import total_of
from costboost.learners.ledger import Accounts, Ledger
from costboost.learners.stump import PreparedStump
from costboost.learners.tree import PreparedTree
from costboost.learners.tree_growth import Cut, Limits, Mark, RowsOfNodes, WeighedRows
from costboost.learners.weak import Labels
from costboost.partitioned.roster import Roster

__all__ = ["PartitionedStump", "PartitionedTree"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]


@dataclass(frozen=True)
class PartitionedStump(PreparedStump):
    """A stump learner; the codes of `columns` are those of no row."""

    roster: Roster = field(kw_only=True)

    def _account(self, kinds: Octets, counts: Ints, weights: Floats) -> Accounts:
        return _MergedAccounts(self.roster, kinds, counts, weights)

    def signed_sums(self, signed: Ints) -> Ints:
        """Sum of the rows' signed weights in each bin of each column."""
        sums: Ints = self.roster.sums("stump", "signed_sums", rows=[signed])
        return sums

    def class_sums(self, n_classes: int, masses: Ints, codes: NDArray[np.uint16]) -> Ints:
        """(bins, K): sum of the rows' weights in each bin of each column, by class."""
        sums: Ints = self.roster.sums("stump", "class_sums", n_classes, rows=[masses, codes])
        return sums

    def lean(self, column: int, index: int, masses: Ints) -> int:
        """Weight above a cut less the weight below it."""
        return int(self.roster.sums("stump", "lean", column, index, rows=[masses]))

    def bins(self, column: int) -> NDArray[Any]:
        """(n,): the bin of each row."""
        return np.concatenate(self.roster.ask("stump", "bins", column))


@dataclass(frozen=True)
class PartitionedTree(PreparedTree):
    """A tree learner; the codes of `columns` are those of no row."""

    roster: Roster = field(kw_only=True)

    def _account(self, kinds: Octets, counts: Ints, weights: Floats) -> Accounts:
        return _MergedAccounts(self.roster, kinds, counts, weights)

    def _node_rows(self, weighed: WeighedRows, limits: Limits) -> RowsOfNodes:
        return _MergedNodes(self.roster, limits, weighed=weighed)

    def _ledger_rows(self, ledger: Ledger, labels: Labels, limits: Limits) -> RowsOfNodes:
        sums = ledger.sums if labels.positive == 1 else np.ascontiguousarray(ledger.sums[:, ::-1])
        return _MergedNodes(self.roster, limits, sums=sums, positive=labels.positive)


class _MergedAccounts:
    """Accounts of several places; see `Accounts`."""

    def __init__(self, roster: Roster, kinds: Octets, counts: Ints, weights: Floats) -> None:
        self.roster = roster
        self.sums: Ints = np.zeros((0, len(counts)), dtype=np.int64)
        roster.ask("open", counts, rows=[kinds, weights])

    @property
    def n_rows(self) -> int:
        return sum(self.roster.sizes)

    def total(self) -> float:
        largest = max(self.roster.ask("largest_weight"))
        return total_of(self.n_rows, largest, lambda *by: int(self.roster.sums("sum_of_weights", *by)))

    def part_by_column(self, column: int, sides: Octets) -> tuple[Ints, Ints]:
        return _by_place(self.roster.ask("part_by_column", column, sides))

    def part(self, codes: Any, sides: Octets) -> tuple[Ints, Ints]:
        """Part the rows by the leaves that marks tell."""
        return _by_place(self.roster.ask("part_by_leaf", codes.marks, sides))

    def multiply(self, factors: Floats) -> None:
        self.roster.ask("multiply", factors)

    def change(self, factors: Floats, *, anew: bool) -> int:
        changed, sums = zip(*self.roster.ask("change", factors, anew), strict=True)
        self.sums = sum(sums)
        return sum(changed)


def _by_place(parted: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Add up masses and counts."""
    masses, counts = (sum(own) for own in zip(*parted, strict=True))
    return masses, counts


@dataclass(frozen=True)
class _Marked:
    """Leaves of rows that stay where these are."""

    marks: Sequence[Mark]


class _MergedNodes:
    """Rows of nodes in several places; see `RowsOfNodes`.

    Under weights that are sent, or under those of the accounts, whose `sums` are known.
    """

    def __init__(
        self,
        roster: Roster,
        limits: Limits,
        *,
        weighed: WeighedRows | None = None,
        sums: Ints | None = None,
        positive: int = 1,
    ) -> None:
        self.roster, self.limits, self.weighed, self.positive = roster, limits, weighed, positive
        self._sums: dict[int, Ints] = {} if sums is None else {0: sums}

    @property
    def n_rows(self) -> int:
        return sum(self.roster.sizes)

    def root(self) -> Ints:
        if self.weighed is None:
            counted = self.roster.ask("root_by_account", self.limits, self.positive)
            if counted[0] is not None:
                self._sums[0] = sum(counted)
        else:
            rows: list[NDArray[Any]] = [self.weighed.weights, self.weighed.classes]
            self._sums[0] = self.roster.sums(
                "root", self.limits, self.weighed.scale, self.weighed.n_classes, rows=rows
            )
        return self._sums[0]

    def part(self, cuts: Sequence[Cut]) -> list[tuple[Ints, Ints]]:
        parted = []
        for cut, *own in zip(cuts, *self.roster.ask("part_nodes", cuts), strict=True):
            below, whole = sum(own), self._sums.pop(cut.node)
            self._sums[cut.below], self._sums[cut.below + 1] = below, whole - below
            parted.append((below, whole - below))
        return parted

    def leaves(self, marks: Sequence[Mark]) -> Any:
        """(n,): the number of each row's leaf; under the accounts' weights, what parts them by it."""
        if self.weighed is None:
            return _Marked(marks)
        return np.concatenate(self.roster.ask("leaves", marks))
