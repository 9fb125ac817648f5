"""What became known of decided rows: labels that come late, come twice, or are corrected."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from service.domain.datasets import Label
from service.domain.outcomes import Moment
from service.domain.wording import ONE_LINE, Telling

MAX_ITEMS = 10_000


class FeedbackItem(Telling):
    """What is known of one decision."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prediction_id: Annotated[str, Field(min_length=1, max_length=64, pattern=ONE_LINE)]
    label: Label = Field(description="The class that the row turned out to be of.")
    observed_at: Moment | None = Field(default=None, description="When this became known; now, if left out.")
    amount: float | None = Field(
        default=None,
        strict=True,
        allow_inf_nan=False,
        ge=-1e15,
        le=1e15,
        description="What the decision cost in the end, where that is known; instead of the cost cell.",
    )


class FeedbackBody(Telling):
    """Feedback on many decisions."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "example": {
                "items": [
                    {
                        "prediction_id": "pred_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
                        "label": "fraud",
                        "observed_at": "2026-02-11T08:00:00Z",
                        "amount": 480.0,
                    }
                ]
            }
        },
    )

    items: Annotated[list[FeedbackItem], Field(min_length=1, max_length=MAX_ITEMS)]


@dataclass(frozen=True)
class Feedback:
    """What is kept: the label that counts, or one that a later observation took the place of."""

    id: str
    tenant_id: str
    prediction_id: str
    label: str
    observed_at: datetime
    amount: float | None
    received_at: datetime
    superseded_at: datetime | None = None

    def says_as_much_as(self, other: "Feedback") -> bool:
        """Whether it tells nothing new."""
        return (self.label, self.amount) == (other.label, other.amount)


@dataclass
class Counts:
    """
    What became of the items.

    Attributes
    ----------
    accepted : int
        Kept, because nothing was known or because they correct what was.
    corrections : int
        Those of them that took the place of another label or amount.
    duplicates : int
        Known already.
    outdated : int
        They differ from what is known, but were observed earlier; what is known stays.
    unknown : int
        There is no decision record of this id, or no longer.
    """

    accepted: int = 0
    corrections: int = 0
    duplicates: int = 0
    outdated: int = 0
    unknown: int = 0


class Ledger:
    """Takes feedback in, item by item, and knows at each what counts so far."""

    def __init__(self, current: Mapping[str, Feedback]) -> None:
        self._current = dict(current)
        self._stored = frozenset(one.id for one in current.values())
        self.counts = Counts()
        self.superseded = set[str]()
        self.confirmed = dict[str, datetime]()
        self.added = dict[str, Feedback]()

    def take(self, new: Feedback) -> None:
        """Keep, skip or let it take the place of what is known of the same decision."""
        known = self._current.get(new.prediction_id)
        if known is not None and known.says_as_much_as(new):
            self.counts.duplicates += 1
            self._confirm(known, new.observed_at)
            return
        if known is not None and new.observed_at < known.observed_at:
            self.counts.outdated += 1
            return
        if known is not None:
            self.counts.corrections += 1
            self._supersede(known)
        self.counts.accepted += 1
        self._current[new.prediction_id] = new
        self.added[new.id] = new

    def _confirm(self, known: Feedback, observed_at: datetime) -> None:
        """Let it count from the later moment, so that the order in which both arrive changes nothing."""
        if observed_at <= known.observed_at:
            return
        confirmed = self._current[known.prediction_id] = replace(known, observed_at=observed_at)
        if known.id in self._stored:
            self.confirmed[known.id] = observed_at
        else:
            self.added[known.id] = confirmed

    def _supersede(self, known: Feedback) -> None:
        if known.id in self._stored:
            self.superseded.add(known.id)
        else:  # corrected within one request: only the last word is kept
            del self.added[known.id]
