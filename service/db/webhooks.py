"""Queries over webhooks and their deliveries."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from service.db.engine import database_time, rows_of
from service.db.tables import DeliveryRow, WebhookRow
from service.domain.ids import new_id
from service.domain.webhooks import ALIAS_CHANGED, LEASE, Delivery, DeliveryStatus, EventType, Webhook, event


def add(session: Session, webhook: Webhook) -> None:
    """Insert a webhook."""
    session.add(WebhookRow(**asdict(webhook)))
    session.flush()


def find(session: Session, tenant: str, webhook_id: str) -> Webhook | None:
    """Find a tenant's webhook."""
    query = select(WebhookRow).where(WebhookRow.tenant_id == tenant, WebhookRow.id == webhook_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _webhook(row)


def list_webhooks(session: Session, tenant: str, limit: int, after: str | None) -> list[Webhook]:
    """List webhooks, newest first, with ids below `after`."""
    query = select(WebhookRow).where(WebhookRow.tenant_id == tenant)
    if after is not None:
        query = query.where(WebhookRow.id < after)
    return [_webhook(row) for row in session.scalars(query.order_by(WebhookRow.id.desc()).limit(limit))]


def remove(session: Session, webhook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    of_webhook = (DeliveryRow.tenant_id == webhook.tenant_id) & (DeliveryRow.webhook_id == webhook.id)
    session.execute(delete(DeliveryRow).where(of_webhook))
    session.execute(delete(WebhookRow).where(WebhookRow.id == webhook.id))


def announce(session: Session, tenant: str, kind: EventType, data: Mapping[str, Any]) -> None:
    """Put an event on its way to all who asked for it, in the transaction that makes it true."""
    wanted = select(WebhookRow).where(WebhookRow.tenant_id == tenant)
    subscribers = [row.id for row in session.scalars(wanted) if kind in row.events]
    if not subscribers:
        return
    body = json.dumps(event(new_id("evt"), kind, datetime.now(UTC), data))
    now = database_time(session)
    session.execute(
        insert(DeliveryRow),
        [
            {
                "id": new_id("dlv"),
                "tenant_id": tenant,
                "webhook_id": webhook_id,
                "event": kind,
                "body": body,
                "status": DeliveryStatus.PENDING,
                "attempts": 0,
                "next_at": now,
                "created_at": now,
            }
            for webhook_id in subscribers
        ],
    )


def announce_alias(
    session: Session, tenant: str, model: str, alias: str, *, version: int | None, reason: str
) -> None:
    """Announce that an alias points elsewhere; version None: it is gone."""
    data = {"model": model, "alias": alias, "version": version, "reason": reason}
    announce(session, tenant, ALIAS_CHANGED, data)


def list_deliveries(session: Session, webhook: Webhook, limit: int, after: str | None) -> list[Delivery]:
    """List deliveries of a webhook, newest first, with ids below `after`."""
    query = select(DeliveryRow).where(
        DeliveryRow.tenant_id == webhook.tenant_id, DeliveryRow.webhook_id == webhook.id
    )
    if after is not None:
        query = query.where(DeliveryRow.id < after)
    return [_delivery(row) for row in session.scalars(query.order_by(DeliveryRow.id.desc()).limit(limit))]


def has_due(session: Session, busy: Mapping[str, str], per_tenant: int) -> bool:
    """Whether `claim` would find a delivery."""
    return bool(session.scalar(select(exists().where(*_due(database_time(session), busy, per_tenant)))))


def claim(
    session: Session, most: int, busy: Mapping[str, str], per_tenant: int
) -> list[tuple[Delivery, Webhook]]:
    """
    Take deliveries that are due, one of each webhook; for a lease nobody else takes them.

    Parameters
    ----------
    busy : mapping of str to str
        Webhooks that have one under way already, and their tenants.
    per_tenant : int
        How many of a tenant may be under way at a time, so that its webhooks hold up no other's.
    """
    now, under_way = database_time(session), Counter(busy.values())
    place = func.row_number().over(
        partition_by=DeliveryRow.webhook_id, order_by=(DeliveryRow.next_at, DeliveryRow.id)
    )
    waiting = (
        select(
            DeliveryRow.id,
            DeliveryRow.tenant_id,
            DeliveryRow.attempts,
            DeliveryRow.next_at,
            place.label("place"),
        )
        .where(*_due(now, busy, per_tenant))
        .subquery()
    )
    rank = func.row_number().over(
        partition_by=waiting.c.tenant_id, order_by=(waiting.c.next_at, waiting.c.id)
    )
    first = select(waiting, rank.label("rank")).where(waiting.c.place == 1).subquery()
    due = select(first).where(first.c.rank <= per_tenant).order_by(first.c.next_at, first.c.id)
    claimed = list[str]()
    for one in session.execute(due).all():
        if len(claimed) == most:
            break
        if under_way[one.tenant_id] < per_tenant and _claimed(session, one.id, one.attempts, now):
            claimed.append(one.id)
            under_way[one.tenant_id] += 1
    both = select(DeliveryRow, WebhookRow).join(WebhookRow, WebhookRow.id == DeliveryRow.webhook_id)
    rows = session.execute(both.where(DeliveryRow.id.in_(claimed)))
    return [(_delivery(delivery), _webhook(webhook)) for delivery, webhook in rows]


def _due(now: datetime, busy: Mapping[str, str], per_tenant: int) -> tuple[ColumnElement[bool], ...]:
    full = [tenant for tenant, count in Counter(busy.values()).items() if count >= per_tenant]
    return (
        DeliveryRow.status == DeliveryStatus.PENDING,
        DeliveryRow.next_at <= now,
        DeliveryRow.webhook_id.not_in(list(busy)),
        DeliveryRow.tenant_id.not_in(full),
    )


def _claimed(session: Session, delivery_id: str, attempts: int, now: datetime) -> bool:
    untouched = update(DeliveryRow).where(DeliveryRow.id == delivery_id, DeliveryRow.attempts == attempts)
    values = {"attempts": attempts + 1, "next_at": now + LEASE}
    return rows_of(session.execute(untouched.values(**values))) == 1


def save(session: Session, after: Delivery) -> bool:
    """Write how a try ended; False when somebody else has begun the next one."""
    mine = update(DeliveryRow).where(
        DeliveryRow.id == after.id,
        DeliveryRow.attempts == after.attempts,
        DeliveryRow.status == DeliveryStatus.PENDING,
    )
    return rows_of(session.execute(mine.values(**asdict(after)))) == 1


def delete_finished(session: Session, before: datetime) -> int:
    """Delete deliveries that ended before a moment, and tell how many."""
    return rows_of(session.execute(delete(DeliveryRow).where(DeliveryRow.finished_at < before)))


def _webhook(row: WebhookRow) -> Webhook:
    return Webhook(**{field.name: getattr(row, field.name) for field in fields(Webhook)})


def _delivery(row: DeliveryRow) -> Delivery:
    return Delivery(**{field.name: getattr(row, field.name) for field in fields(Delivery)})
