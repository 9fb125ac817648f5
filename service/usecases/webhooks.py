"""Telling others by signed posts: subscriptions, and deliveries that are tried until they arrive."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import structlog
from sqlalchemy.orm import Session, sessionmaker

from service.db import idempotency, webhooks
from service.db.engine import database_time
from service.domain.errors import FieldError, InvalidError, NotFoundError
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from service.domain.webhooks import Delivery, Webhook, WebhookBody, new_secret, signature
from service.outbound import NotPostedError, Outbound

Sessions = sessionmaker[Session]

#: Deliveries that one worker has under way, each of another webhook: who answers slowly holds up no one else.
MOST = 8
#: How many of these may be of one tenant.
PER_TENANT = 4

_REFUSED: Final = {
    "not_https": "must begin with https://",
    "not_public": "must be an address that everybody can reach",
}

log = structlog.get_logger("service.webhooks")


def create(
    sessions: Sessions, outbound: Outbound, tenant: str, wish: WebhookBody, *, receipt: Receipt | None
) -> Webhook:
    """Subscribe an address to events.

    Raises
    ------
    InvalidError
        `not_https` or `not_public`: nothing would ever be posted there.
    """
    code = outbound.refusal(wish.url)
    if code is not None:
        detail = _REFUSED[code]
        raise InvalidError("invalid", detail, [FieldError("/url", code, detail)])
    webhook = Webhook(
        id=new_id("wh"),
        tenant_id=tenant,
        url=wish.url,
        events=sorted(set(wish.events)),
        secret=new_secret(),
        created_at=datetime.now(UTC),
    )
    with sessions.begin() as session:
        webhooks.add(session, webhook)
        idempotency.sign(session, receipt, f"/v1/webhooks/{webhook.id}")
    return webhook


def read(readers: Sessions, tenant: str, webhook_id: str) -> Webhook:
    """Read a webhook."""
    with readers() as session:
        return _found(session, tenant, webhook_id)


def list_webhooks(readers: Sessions, tenant: str, limit: int, after: str | None) -> list[Webhook]:
    """List webhooks, newest first."""
    with readers() as session:
        return webhooks.list_webhooks(session, tenant, limit, after)


def remove(sessions: Sessions, tenant: str, webhook_id: str) -> None:
    """Delete a webhook with what was to be delivered to it."""
    with sessions.begin() as session:
        webhooks.remove(session, _found(session, tenant, webhook_id))


def list_deliveries(
    readers: Sessions, tenant: str, webhook_id: str, limit: int, after: str | None
) -> list[Delivery]:
    """List what was delivered to a webhook, or is to be, newest first."""
    with readers() as session:
        return webhooks.list_deliveries(session, _found(session, tenant, webhook_id), limit, after)


def due(
    sessions: Sessions, readers: Sessions, most: int = MOST, busy: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[Delivery, Webhook]]:
    """Claim deliveries that are due, one of each webhook that is not busy; `busy`: webhook to tenant."""
    with readers() as session:
        if not most or not webhooks.has_due(session, busy, PER_TENANT):
            return []
    with sessions.begin() as session:
        return webhooks.claim(session, most, busy, PER_TENANT)


def deliver(sessions: Sessions, outbound: Outbound, delivery: Delivery, webhook: Webhook) -> None:
    """Try a claimed delivery once, and write how it ended."""
    answer, code = _posted(outbound, delivery, webhook)
    with sessions.begin() as session:
        now = database_time(session)
        after = delivery.missed(now, code) if answer is None else delivery.told(now, answer)
        webhooks.save(session, after)
    log.info(
        "webhook tried",
        delivery=delivery.id,
        attempt=delivery.attempts,
        status=after.status,
        answer=answer,
        error=after.last_error,
    )


def _posted(outbound: Outbound, delivery: Delivery, webhook: Webhook) -> tuple[int | None, str]:
    try:
        return outbound.post(webhook.url, delivery.body.encode(), _headers(delivery, webhook)), ""
    except NotPostedError as error:
        return None, error.code


def _headers(delivery: Delivery, webhook: Webhook) -> Mapping[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "costboost",
        "Costboost-Event": delivery.event,
        "Costboost-Delivery": delivery.id,
        "Costboost-Signature": signature(webhook.secret, int(time.time()), delivery.body),
    }


def _found(session: Session, tenant: str, webhook_id: str) -> Webhook:
    webhook = webhooks.find(session, tenant, webhook_id)
    if webhook is None:
        raise NotFoundError("webhook", webhook_id)
    return webhook
