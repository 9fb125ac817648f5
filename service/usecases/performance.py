"""What a model's decisions cost in the end, beside what was expected of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

import numpy as np
from sqlalchemy.orm import Session, sessionmaker

from service.db import outcomes as records
from service.db import registry
from service.domain.errors import NotFoundError
from service.domain.models import Model
from service.domain.outcomes import Outcome, Pair, Span, Window, floor, next_floor
from service.learning import Outcomes, RealisedCost, outcomes_of, outcomes_of_pairs

#: The newest decisions are looked at, at most so many.
MAX_OUTCOMES = 100_000
#: Days after the decision at which labels are counted.
MATURITIES = (1, 7, 30, 90)
DAY_SECONDS = 86_400.0


@dataclass(frozen=True)
class ByDecision:
    """Rows for which the rule chose one action; `realised_cost` is the mean of the labelled ones alone."""

    decision: str
    decisions: int
    let_through: int
    labelled: int
    expected_cost: float
    realised_cost: float | None

    @property
    def labelled_share(self) -> float:
        """Share of the decisions whose label is known."""
        return self.labelled / self.decisions


@dataclass(frozen=True)
class Maturity:
    """Decisions at least `days` old, with the labels that came within so many days."""

    days: int
    decisions: int
    labelled: int
    expected_cost: float | None
    realised_cost: RealisedCost | None


@dataclass(frozen=True)
class Part:
    """Decisions of one version in one stretch of time."""

    span: Span
    decisions: int
    labelled: int
    let_through: int
    expected_cost: float
    realised_cost: RealisedCost
    above_expected: RealisedCost
    by_decision: list[ByDecision]
    by_maturity: list[Maturity]


@dataclass(frozen=True)
class VersionPerformance:
    """One version: all of the time that was asked for, and window by window, the newest first."""

    version: int
    total: Part
    windows: list[Part]


@dataclass(frozen=True)
class Comparison:
    """Two versions on the same rows: how much more the challenger's decisions cost."""

    champion: int
    challenger: int
    pairs: int
    differing: int
    expected_difference: float
    difference: RealisedCost


@dataclass(frozen=True)
class Performance:
    """What is answered; `truncated`: the oldest decisions are left out, because there are too many."""

    span: Span
    truncated: bool
    versions: list[VersionPerformance]
    comparisons: list[Comparison]


def performance(
    readers: sessionmaker[Session], tenant: str, name: str, span: Span, window: Window
) -> Performance:
    """
    Compute what decisions cost, by version and window, and how challengers would have done.

    Raises
    ------
    NotFoundError
    """
    with readers() as session:
        model = registry.find_model(session, tenant, name)
        if model is None:
            raise NotFoundError("model", name)
        positives = _positives(session, model)
        found = records.outcomes(session, model, positives, span, MAX_OUTCOMES + 1)
        pairs = records.pairs(session, model, positives, span, MAX_OUTCOMES)
    kept = sorted(found[:MAX_OUTCOMES], key=lambda one: -one[0])  # stable: newest first within a version
    now = datetime.now(UTC)
    versions = [
        _version(number, [outcome for _, outcome in rows], span, window, now)
        for number, rows in groupby(kept, key=lambda one: one[0])
    ]
    return Performance(span, len(found) > MAX_OUTCOMES, versions, list(_comparisons(pairs)))


def _positives(session: Session, model: Model) -> dict[str, str | None]:
    versions = registry.list_versions(session, model, None, None)
    return {version.id: version.schema.get("positive_class") for version in versions}


def _version(
    number: int, decisions: Sequence[Outcome], span: Span, window: Window, now: datetime
) -> VersionPerformance:
    total = _part(decisions, span, now)
    if window == "all":
        return VersionPerformance(number, total, [])
    windows = [
        _part(list(part), span.within(begin, next_floor(begin, window)), now)
        for begin, part in groupby(decisions, key=lambda one: floor(one.decided_at, window))
    ]
    return VersionPerformance(number, total, windows)


def _part(decisions: Sequence[Outcome], span: Span, now: datetime) -> Part:
    rows = outcomes_of(decisions)
    realised, above = rows.realised(), rows.above_expected()
    assert realised is not None  # a part has rows
    assert above is not None
    return Part(
        span=span,
        decisions=len(rows),
        labelled=rows.labelled,
        let_through=rows.let_through,
        expected_cost=float(rows.expected_cost.mean()),
        realised_cost=realised,
        above_expected=above,
        by_decision=_by_decision(rows, [one.decision for one in decisions]),
        by_maturity=[_maturity(rows, days, now) for days in MATURITIES],
    )


def _by_decision(rows: Outcomes, chosen: list[str]) -> list[ByDecision]:
    names = np.array(chosen)
    found = []
    for name in sorted(set(chosen)):
        part = rows.where(names == name)
        found.append(
            ByDecision(
                decision=name,
                decisions=len(part),
                let_through=part.let_through,
                labelled=part.labelled,
                expected_cost=float(part.expected_cost.mean()),
                realised_cost=part.of_labelled(),
            )
        )
    return found


def _maturity(rows: Outcomes, days: int, now: datetime) -> Maturity:
    seconds = days * DAY_SECONDS
    old = rows.where(rows.decided <= now.timestamp() - seconds).known_after(seconds)
    expected = float(old.expected_cost.mean()) if len(old) else None
    return Maturity(days, len(old), old.labelled, expected, old.realised())


def _comparisons(pairs: Sequence[Pair]) -> Iterator[Comparison]:
    by_versions = sorted(pairs, key=lambda one: (-one.answered, -one.shadow))
    for (answered, shadow), part in groupby(by_versions, key=lambda one: (one.answered, one.shadow)):
        rows = outcomes_of_pairs(list(part))
        difference = rows.realised()
        assert difference is not None
        yield Comparison(
            champion=answered,
            challenger=shadow,
            pairs=len(rows),
            differing=int((rows.costs != 0.0).any(axis=1).sum()),
            expected_difference=float(rows.expected_cost.mean()),
            difference=difference,
        )
