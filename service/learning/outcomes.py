"""Outcomes as arrays, and what they cost in the end by the library's estimator."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from costboost.realised import RealisedCost, realised_cost
from service.domain.outcomes import Outcome, Pair

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What is known of n decisions of one version, or of n pairs.

    Attributes
    ----------
    costs : ndarray of shape (n, K)
        Of the decision under each class.
    expected_cost, reveal : ndarray of shape (n,)
    label : ndarray of shape (n,), int
        -1 where it is not known.
    decided : ndarray of shape (n,)
        Seconds since the epoch.
    delay : ndarray of shape (n,)
        Seconds from the decision to its label; infinite where there is none.
    """

    costs: Floats
    expected_cost: Floats
    reveal: Floats
    label: NDArray[np.intp]
    decided: Floats
    delay: Floats

    def __len__(self) -> int:
        return len(self.label)

    @property
    def labelled(self) -> int:
        """How many labels are known."""
        return int((self.label >= 0).sum())

    @property
    def let_through(self) -> int:
        """How many refused rows chance let through."""
        return int(((self.reveal > 0.0) & (self.reveal < 1.0)).sum())

    def where(self, rows: NDArray[np.bool_]) -> Self:
        """Keep some rows."""
        return replace(self, **{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def known_after(self, seconds: float) -> Self:
        """Forget labels that came later than this after the decision."""
        return replace(self, label=np.where(self.delay <= seconds, self.label, -1))

    def realised(self) -> RealisedCost | None:
        """Estimate the mean cost of a row; None without rows."""
        return realised_cost(self.costs, self.label, self.reveal) if len(self) else None

    def above_expected(self) -> RealisedCost | None:
        """Estimate how much more a row cost than was expected of it; None without rows."""
        if not len(self):
            return None
        return realised_cost(self.costs - self.expected_cost[:, None], self.label, self.reveal)

    def of_labelled(self) -> float | None:
        """Give the mean cost of the rows whose label is known, whoever they are; None without any."""
        known = self.label >= 0
        cost = self.costs[known, self.label[known]]
        return float(cost.mean()) if cost.size else None


def outcomes_of(decisions: Sequence[Outcome]) -> Outcomes:
    """Gather the decisions of one version."""
    delays = [
        np.inf if one.observed_at is None else (one.observed_at - one.decided_at).total_seconds()
        for one in decisions
    ]
    decided = [one.decided_at.timestamp() for one in decisions]
    return _gathered(decisions, decided, delays)


def outcomes_of_pairs(pairs: Sequence[Pair]) -> Outcomes:
    """Gather pairs of the same two versions."""
    return _gathered(pairs, [0.0] * len(pairs), [0.0] * len(pairs))


def _gathered(rows: Sequence[Outcome | Pair], decided: list[float], delays: list[float]) -> Outcomes:
    classes = sorted(rows[0].costs)
    codes = {name: code for code, name in enumerate(classes)}
    return Outcomes(
        costs=np.array([[one.costs[name] for name in classes] for one in rows], dtype=np.float64),
        expected_cost=np.array([one.expected_cost for one in rows], dtype=np.float64),
        reveal=np.array([one.reveal for one in rows], dtype=np.float64),
        label=np.array([codes.get(one.label or "", -1) for one in rows], dtype=np.intp),
        decided=np.array(decided, dtype=np.float64),
        delay=np.array(delays, dtype=np.float64),
    )
