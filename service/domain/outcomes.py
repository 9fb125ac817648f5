"""Decisions beside what became known of them: what performance is computed from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

from service.domain.wording import custom

_RFC_3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.]\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _within_reason(moment: datetime) -> datetime:
    # At the ends of the calendar another time zone would lie outside of it.
    if not _EARLIEST <= moment < _LATEST:
        raise custom("out_of_range", "must lie between the years 1970 and 2200")
    return moment


def _written(given: Any) -> Any:
    # A number would be taken for seconds, and a year for some minutes after 1970.
    if not isinstance(given, datetime) and not (isinstance(given, str) and _RFC_3339.fullmatch(given)):
        raise custom("not_a_moment", "must be a time with its zone, such as 2026-01-05T09:30:00Z")
    return given


#: A moment with its time zone.
Moment = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_within_reason)]

#: Of records whose row chance let through, though the rule refused it.
CONTROL = "control"

Window = Literal["day", "week", "month", "all"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time: its begin belongs to it, its end does not."""

    since: datetime
    until: datetime

    def within(self, begin: datetime, end: datetime) -> "Span":
        """Give what it has in common with another one."""
        return Span(max(self.since, begin), min(self.until, end))


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    One decision of a version.

    Attributes
    ----------
    decision : str
        The action that the rule chose, answered or not.
    expected_cost : float
        What was expected of it.
    costs : mapping of class to money
        What it costs under each class.
    reveal : float
        1 where the label comes by itself; of a refused row the probability with which it was let through if
        it was, else 0.
    label, observed_at
        None where nothing is known yet.
    """

    decided_at: datetime
    decision: str
    expected_cost: float
    costs: Mapping[str, float]
    reveal: float
    label: str | None
    observed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pair:
    """
    A row that two versions decided: one answered, the other was its shadow.

    Attributes
    ----------
    costs : mapping of class to money
        How much more the other's decision costs under each class, at the cost cells of who answered.
    expected_cost : float
        How much more it was expected to cost by who answered.
    """

    answered: int
    shadow: int
    costs: Mapping[str, float]
    expected_cost: float
    reveal: float
    label: str | None


def floor(moment: datetime, window: Window) -> datetime:
    """Begin of the day, the week (on Monday) or the month, in UTC."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if window == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if window == "month" else day


def next_floor(begin: datetime, window: Window) -> datetime:
    """Begin of the window after the one that begins there."""
    days = {"day": 1, "week": 7, "month": 32}[window]
    return floor(begin + timedelta(days=days), window)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a version said about a row, and what the row was: what drift is computed from.

    Attributes
    ----------
    probabilities : mapping of class to probability
    row : mapping or None
        The row itself, where the model keeps rows.
    reveal, label
        As of an `Outcome`.
    """

    version_id: str
    probabilities: Mapping[str, float]
    row: Mapping[str, Any] | None
    reveal: float
    label: str | None
