"""Weights by kinds of rows: what the formula and the weak learner treat alike is reckoned with at once."""

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._problem import Floats
from costboost.boosting._rounds import Round, RowByRow, Rule, StopReason, Weighing
from costboost.kernels.elementary import exp_array
from costboost.kernels.fixed_point import total
from costboost.learners.stump import PreparedStump
from costboost.learners.tree import PreparedTree
from costboost.learners.value_groups import number_distinct
from costboost.learners.weak import Hypothesis, Labels, PreparedLearner

__all__ = ["KindByKind", "Kinds", "weighing_of"]

Octets = NDArray[np.uint8]

#: The cells, without and with the answer +1, to which a side adds that is answered 0 or 1.
_CELLS = np.eye(2, dtype=np.int64)
#: Kinds up to which a table of them pays.
_MOST_KINDS = 64


@dataclass(frozen=True)
class Kinds:
    """Kinds of rows.

    Parameters
    ----------
    names : tuple of str
        What tells them apart: attributes of a rule.
    rows : ndarray of shape (n,), uint8
        The kind of each row.
    firsts : ndarray of shape (k,), intp
        A row of each kind.
    """

    names: tuple[str, ...]
    rows: NDArray[np.uint8]
    firsts: NDArray[np.intp]

    @classmethod
    def of(cls, rule: Rule, n: int) -> "Kinds | None":
        """Find the kinds of n rows; None if the rule does not work on kinds, or there are too many."""
        names = rule.kinds()
        if names is None:
            return None
        rows, count = None, 1
        for array in (getattr(rule, name) for name in names):
            if array is None:
                continue
            numbered = number_distinct(array, _MOST_KINDS)
            if numbered is None:
                return None
            rows, count = numbered if rows is None else _joined(rows, *numbered)
            if count > _MOST_KINDS:
                return None
        rows = np.zeros(n, dtype=np.uint8) if rows is None else rows
        firsts = np.array([np.argmax(rows == kind) for kind in range(count)])
        return cls(names, rows, firsts)

    def by_cell(self, rule: Rule) -> Rule:
        """Return the formula for cells: each kind with the answer -1, then with +1."""
        arrays = {name: getattr(rule, name) for name in self.names}
        cells = np.repeat(self.firsts, 2)
        chosen = {name: array[cells] for name, array in arrays.items() if array is not None}
        return replace(cast(Any, rule), **chosen)  # type: ignore[no-any-return]


def _joined(rows: Octets, numbers: Octets, distinct: int) -> tuple[Octets, int]:
    """Number the pairs of two numbers that occur."""
    pairs = rows * np.uint16(distinct) + numbers
    present = np.bincount(pairs) > 0
    ranks = (np.cumsum(present) - 1).astype(np.uint8)
    return ranks[pairs], int(np.count_nonzero(present))


def weighing_of(rule: Rule, learner: PreparedLearner, labels: Labels, rng: np.random.Generator) -> Weighing:
    """Choose how rows are weighed: kind by kind where rule and learner allow it, else row by row."""
    if (
        isinstance(learner, PreparedStump | PreparedTree)
        and learner.keeps_ledger
        and len(labels.classes) == 2
    ):
        kinds = Kinds.of(rule, len(labels.codes))
        if kinds is not None:
            # The formula for cells takes the place of that for rows, whose arrays need not stay.
            initial, rule = rule.start(), kinds.by_cell(rule)
            return KindByKind(rule, initial, learner, labels, kinds)
    return RowByRow(rule, learner, labels, rng)


class KindByKind:
    """Weights that are multiplied by one factor for all rows of a kind that get one answer.

    The formula is asked about cells in place of rows: the rows of a kind that get one answer. It reads their
    masses as it would read the weights of rows.
    """

    def __init__(self, rule: Rule, initial: Floats, learner: Any, labels: Labels, kinds: Kinds) -> None:
        self.rule, self.learner, self.labels, self.kinds = rule, learner, labels, kinds
        self.response = np.tile([-1.0, 1.0], len(kinds.firsts))
        # What `before_round` does to a weight is done at the end of the round before.
        self.shares = rule.before_round(np.ones(len(self.response))).reshape(-1, 2)
        start = initial.copy()
        for kind in np.flatnonzero(self.shares[:, 0] != 1.0):
            start[kinds.rows == kind] *= self.shares[kind, 0]
        start /= total(start)
        signs = np.where(labels.codes[kinds.firsts] == labels.positive, 1, -1)
        self.ledger = learner.ledger(kinds.rows, signs, start)

    def play(self) -> tuple[Hypothesis, Round | StopReason]:
        """Fit a hypothesis and judge it."""
        stump, masses, self.answers = self.learner.fit_ledger(self.ledger, self.labels)
        self.masses = (masses @ _CELLS[self.answers]).reshape(-1) / self.ledger.mass
        return Hypothesis(stump, np.empty(0)), self.rule.judge(self.masses, self.response)

    def restart(self) -> bool:
        """Return False: no such rule has other weights."""
        return False

    def reweigh(self, verdict: Round, *, record: bool) -> dict[str, Any]:
        """Give the rows their next weights; return what `history_` records of the round, if asked."""
        exponent = np.zeros(len(self.masses)) if verdict.exponent is None else verdict.exponent
        recorded = self._entering(verdict, exponent) if record else {}
        answers = self.answers
        self.ledger.reweigh(exponent.reshape(-1, 2)[:, answers], self.shares[:, answers])
        return recorded | {"D_next": self._leaving()} | self._by_row(verdict.values) if record else {}

    def _entering(self, verdict: Round, exponent: Floats) -> dict[str, Any]:
        weights = self.ledger.accounts.weights
        D = weights / total(weights)
        Z = total(D * exp_array(exponent)[self._cells()])
        h = self.response[self.answers][self.ledger.accounts.sides_of_rows()]
        return {"D": D, "h": h, "alpha": verdict.alpha, "eps": verdict.error, "Z": Z}

    def _leaving(self) -> Floats:
        """Weights without what already belongs to the next round."""
        shares = self.shares[self.kinds.rows, 0]
        weights = self.ledger.accounts.weights
        left: Floats = np.divide(weights, shares, out=np.zeros(len(shares)), where=shares > 0)
        left /= total(left)
        return left

    def _by_row(self, values: dict[str, Any]) -> dict[str, Any]:
        cells, shape = self._cells(), np.shape(self.masses)
        return {name: value[cells] if np.shape(value) == shape else value for name, value in values.items()}

    def _cells(self) -> NDArray[np.intp]:
        """(n,): the cell of each row."""
        side = self.ledger.accounts.sides_of_rows()
        cells: NDArray[np.intp] = 2 * self.kinds.rows.astype(np.intp) + self.answers[side]
        return cells
