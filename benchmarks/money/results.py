"""Finished folds, put together to what the page shows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costboost.metrics.undefined import UndefinedMetricError
from costboost.reliability import calibration_line

from .contestants import CONSTANT, contestants
from .statistics import Estimate, Ranks, geometric_mean, mean_ranks, resampled, summary
from .store import Done, Store, Task

__all__ = ["Case", "Results"]

Floats = NDArray[np.float64]

#: Positives from which on a calibration line says something.
ENOUGH_POSITIVES = 500


@dataclass(frozen=True)
class Case:
    """A set at one variant of its costs."""

    name: str
    variant: str

    def __str__(self) -> str:
        return self.name if self.variant == "own" else f"{self.name}, {self.variant}"


class Results:
    """What is done of the tasks.

    Parameters
    ----------
    store : Store
    tasks : sequence of Task
    """

    def __init__(self, store: Store, tasks: Sequence[Task]) -> None:
        self.store, self.tasks = store, tasks
        grouped: dict[tuple[str, str, int], list[Task]] = {}
        for task in tasks:
            grouped.setdefault((task.name, task.contestant, task.seed), []).append(task)
        done = {key: store.read(tasks) for key, tasks in grouped.items()}
        #: (set, contestant) -> its seeds that are whole.
        self.done: dict[tuple[str, str], list[Done]] = {}
        for (name, contestant, _), one in done.items():
            if one is not None:
                self.done.setdefault((name, contestant), []).append(one)

    @cached_property
    def failed(self) -> dict[str, str]:
        """Why folds failed, by what they are of."""
        found = {task.key: self.store.lines.get(task.key, {}).get("failed") for task in self.tasks}
        return {key: why for key, why in found.items() if why}

    @property
    def sets(self) -> list[str]:
        """Sets of which anything is done, in their order."""
        return sorted({name for name, _ in self.done})

    @property
    def names(self) -> list[str]:
        """Contestants of whom anything is done, in their order."""
        found = {contestant for _, contestant in self.done}
        return [name for name in contestants() if name in found]

    def of(self, family: str) -> list[str]:
        """Contestants of a family, of whom anything is done."""
        return [name for name in self.names if contestants()[name].family == family]

    def cases(self, name: str) -> list[Case]:
        """A set at each variant of its costs."""
        rules = next(self.done[name, one][0].charged for one in self.names if (name, one) in self.done)
        return [Case(name, variant) for variant in dict.fromkeys(rule.split("/")[0] for rule in rules)]

    def seeds(self, name: str, contestant: str) -> int:
        """Number of seeds that are whole."""
        return len(self.done.get((name, contestant), []))

    def has_many_classes(self, name: str) -> bool:
        """Whether a set has more than two classes."""
        first = next(done[0] for (of, _), done in self.done.items() if of == name)
        return int(first.y.max()) > 1

    @property
    def ranked(self) -> list[str]:
        """Defaults and peers that are done on every set of two classes."""
        two = [name for name in self.sets if not self.has_many_classes(name)]
        wanted = [*self.of("default"), *self.of("peer")]
        return [one for one in wanted if all(self.seeds(name, one) for name in two)]

    def positives(self, name: str) -> int:
        """Rows of the rarest class."""
        y = next(self.done[name, one][0].y for one in self.names if (name, one) in self.done)
        return int(np.bincount(y).min())

    def charged(self, case: Case, contestant: str, rule: str | None = None) -> Floats | None:
        """(n,) cost of each row, the mean over the seeds; None where the contestant has no such rule."""
        key = f"{case.variant}/{rule or contestants()[contestant].rule}"
        found = [one.charged.get(key) for one in self.done.get((case.name, contestant), [])]
        known = [one for one in found if one is not None]
        return np.mean(known, axis=0) if known else None

    @cached_property
    def _totals(self) -> dict[tuple[Case, str, str], Floats]:
        """(1 + draws,) totals of every contestant under every rule, on the same drawn rows."""
        totals: dict[tuple[Case, str, str], Floats] = {}
        for name in self.sets:
            columns = {}
            for case in self.cases(name):
                for one in self.names:
                    for rule in ("a", "b", "c", "own"):
                        each = self.charged(case, one, rule)
                        if each is not None:
                            columns[case, one, rule] = each
            drawn = resampled(np.column_stack(list(columns.values())), seed=self.sets.index(name))
            totals |= dict(zip(columns, drawn.T, strict=True))
        return totals

    def total(self, case: Case, contestant: str, rule: str | None = None) -> Floats | None:
        """Replicates of what all rows of a case cost; the first is the figure."""
        return self._totals.get((case, contestant, rule or contestants()[contestant].rule))

    def ratio(self, case: Case, contestant: str, other: str, rule: str | None = None) -> Floats | None:
        """Replicates of the cost of one over that of another; None if either is missing or costs nothing.

        NaN where one of them costs nothing on the rows that were drawn.
        """
        ours, theirs = self.total(case, contestant, rule), self.total(case, other)
        if ours is None or theirs is None or min(ours[0], theirs[0]) <= 0:
            return None
        known = (ours > 0) & (theirs > 0)
        ratio: Floats = np.divide(ours, theirs, out=np.full(len(ours), np.nan), where=known)
        return ratio

    def mean_ratio(
        self, contestant: str, other: str, names: Sequence[str], rule: str | None = None
    ) -> tuple[Estimate, int] | None:
        """Geometric mean over sets of the cost relative to another, and over how many sets."""
        ratios = {}
        for name in names:
            found = [self.ratio(case, contestant, other, rule) for case in self.cases(name)]
            known = [one for one in found if one is not None]
            if known:
                ratios[name] = known
        return (summary(geometric_mean(ratios)), len(ratios)) if ratios else None

    def best_peer(self, names: Sequence[str], other: str) -> str | None:
        """The peer of the least geometric mean, among those with all the sets that most peers have."""
        means = {peer: self.mean_ratio(peer, other, names) for peer in self.of("peer")}
        known = {peer: mean for peer, mean in means.items() if mean is not None}
        most = max((n for _, n in known.values()), default=0)
        whole = {peer: mean.value for peer, (mean, n) in known.items() if n == most}
        return min(whole, key=lambda peer: whole[peer], default=None)

    def best_peer_of(self, case: Case) -> str | None:
        """The peer that turned out cheapest on a case."""
        totals = {peer: self.total(case, peer) for peer in self.of("peer")}
        known = {peer: float(total[0]) for peer, total in totals.items() if total is not None}
        return min(known, key=lambda peer: known[peer], default=None)

    def savings(self, case: Case, contestant: str) -> Estimate | None:
        """Share of the cost of the cheapest constant decision that is saved."""
        ours, constant = self.total(case, contestant), self.total(case, CONSTANT)
        if ours is None or constant is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return summary(1.0 - ours / constant)

    def ranks(self, wanted: Sequence[str], names: Sequence[str]) -> Ranks | None:
        """Mean ranks of contestants over the sets on which all of them are done."""
        costs = {}
        for name in names:
            cases = [{one: self.total(case, one) for one in wanted} for case in self.cases(name)]
            if all(total is not None for case in cases for total in case.values()):
                costs[name] = [
                    {one: float(t[0]) for one, t in case.items() if t is not None} for case in cases
                ]
        return mean_ranks(costs) if len(costs) > 1 and len(wanted) > 1 else None

    def calibration(self, name: str, contestant: str) -> tuple[float, float] | None:
        """Slope and intercept over the pooled folds of a two-class set; the mean over the seeds."""
        lines = []
        for one in self.done.get((name, contestant), []):
            if one.probabilities is None or one.probabilities.shape[1] > 2:
                return None
            try:
                line = calibration_line(one.y == 1, one.probabilities[:, 1], np.ones(len(one.y)))
            except UndefinedMetricError:
                return None
            lines.append((line["slope"], line["intercept"]))
        slope, intercept = np.mean(lines, axis=0).tolist() if lines else (math.nan, math.nan)
        return (slope, intercept) if lines else None

    def cpu(self, name: str, contestant: str, part: str) -> float | None:
        """Seconds of CPU of one fold, the mean over folds and seeds."""
        spent = [one.cpu[part] for one in self.done.get((name, contestant), []) if part in one.cpu]
        return float(np.mean(spent)) if spent else None
