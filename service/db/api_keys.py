"""Queries over API keys."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from service.db.tables import ApiKeyRow
from service.domain.access import ApiKey


def add(session: Session, key: ApiKey) -> None:
    """Insert a new key."""
    session.add(ApiKeyRow(**asdict(key) | {"scopes": list(key.scopes)}))
    session.flush()


def fetch(session: Session, key_id: str) -> ApiKey | None:
    """Find a key of any tenant; it is what tells the tenant."""
    row = session.scalars(select(ApiKeyRow).where(ApiKeyRow.id == key_id)).one_or_none()
    return None if row is None else _value(row)


def find(session: Session, tenant: str, key_id: str) -> ApiKey | None:
    """Find a tenant's key."""
    query = select(ApiKeyRow).where(ApiKeyRow.tenant_id == tenant, ApiKeyRow.id == key_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(row)


def list_keys(session: Session, tenant: str, limit: int, after: str | None = None) -> list[ApiKey]:
    """List a tenant's keys, newest first, with ids below `after`."""
    query = select(ApiKeyRow).where(ApiKeyRow.tenant_id == tenant).order_by(ApiKeyRow.id.desc())
    rows = session.scalars((query if after is None else query.where(ApiKeyRow.id < after)).limit(limit))
    return [_value(row) for row in rows]


def revoke(session: Session, key: ApiKey, at: datetime) -> None:
    """Write that a key is no longer one."""
    revoked = update(ApiKeyRow).where(ApiKeyRow.id == key.id, ApiKeyRow.revoked_at.is_(None))
    session.execute(revoked.values(revoked_at=at))


def has_any(session: Session) -> bool:
    """Whether there is a key of any tenant that is not revoked."""
    return bool(session.scalar(select(exists().where(ApiKeyRow.revoked_at.is_(None)))))


def _value(row: ApiKeyRow) -> ApiKey:
    given: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(ApiKey)}
    return ApiKey(**given | {"scopes": tuple(row.scopes)})
