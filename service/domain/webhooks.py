"""Webhooks: who is told what by a signed POST, and how often it is tried."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from service.domain.wording import Telling, custom

JOB_FINISHED: Final = "training_job.finished"
BATCH_FINISHED: Final = "batch_prediction.finished"
INTAKE_FINISHED: Final = "intake_job.finished"
ALIAS_CHANGED: Final = "alias.changed"
EventType = Literal[
    "training_job.finished", "batch_prediction.finished", "intake_job.finished", "alias.changed"
]

#: Pauses between tries; after the last one a delivery has failed. All together about 19 hours.
PAUSES = tuple(timedelta(seconds=s) for s in (10, 40, 160, 640, 2_560, 10_240, 21_600, 32_400))
#: A try takes less; who claimed a delivery and is not back by then died.
LEASE = timedelta(seconds=60)

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


def _plain_address(url: str) -> str:
    if any(not "!" <= letter <= "~" for letter in url):
        raise custom("address", "must be an address of printable ASCII characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise custom("address", "must be an address such as https://hooks.example/costboost") from None
    if parts.scheme not in ("https", "http"):
        raise custom("address", "must begin with https://")
    if parts.fragment or "@" in parts.netloc or port == 0:
        raise custom("address", "must have no user, no fragment and a port that can be reached")
    if not _HOST.fullmatch(parts.netloc.removesuffix(f":{port}")):
        raise custom("address", "must name a host")
    return url


#: An http(s) address without user and fragment; what may be reached is decided when it is posted to.
Address = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_plain_address)]


class WebhookBody(Telling):
    """Whom to tell what."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "example": {"url": "https://hooks.example/costboost", "events": ["training_job.finished"]}
        },
    )

    url: Address = Field(description="https, and an address that everybody can reach.")
    events: Annotated[list[EventType], Field(min_length=1, max_length=10)] = Field(
        default=[JOB_FINISHED, BATCH_FINISHED, INTAKE_FINISHED, ALIAS_CHANGED],
        description="What to tell; everything, if left out.",
    )


@dataclass(frozen=True)
class Webhook:
    """A subscription."""

    id: str
    tenant_id: str
    url: str
    events: Sequence[str]
    secret: str
    created_at: datetime


class DeliveryStatus(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True)
class Delivery:
    """
    One event on its way to one webhook.

    Attributes
    ----------
    body : str
        JSON; the same bytes at each try.
    attempts : int
        Tries begun.
    next_at : datetime
        When it is tried next, or, while somebody tries, when they are given up.
    last_status : int or None
        Status code of the last answer.
    last_error : str or None
        Code of why the last try failed.
    """

    id: str
    tenant_id: str
    webhook_id: str
    event: str
    body: str
    status: str
    attempts: int
    next_at: datetime
    last_status: int | None
    last_error: str | None
    created_at: datetime
    finished_at: datetime | None

    def told(self, at: datetime, answer: int) -> "Delivery":
        """End it, or try again, by what was answered: 2xx is success."""
        if 200 <= answer < 300:
            done = DeliveryStatus.DELIVERED
            return replace(self, status=done, last_status=answer, last_error=None, finished_at=at)
        return replace(self._postponed(at), last_status=answer, last_error="refused")

    def missed(self, at: datetime, code: str) -> "Delivery":
        """Try again after nobody answered, or fail."""
        return replace(self._postponed(at), last_status=None, last_error=code)

    def _postponed(self, at: datetime) -> "Delivery":
        if self.attempts > len(PAUSES):
            return replace(self, status=DeliveryStatus.FAILED, finished_at=at)
        return replace(self, next_at=at + PAUSES[self.attempts - 1])


def new_secret() -> str:
    """Make what a webhook's deliveries are signed with: 256 random bits."""
    return f"whsec_{secrets.token_urlsafe(32)}"


def signature(secret: str, timestamp: int, body: str) -> str:
    """Sign a delivery: `t=<seconds>,v1=<hex HMAC-SHA256 of "<seconds>.<body>">`."""
    signed = hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={signed}"


def event(event_id: str, kind: EventType, at: datetime, data: Mapping[str, Any]) -> dict[str, Any]:
    """Put an event into the form in which it is posted."""
    return {"id": event_id, "type": kind, "created_at": at.isoformat().replace("+00:00", "Z"), "data": data}
