"""Queries over the audit log: entries are added in the transaction of what they tell, and only read after."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.db.tables import AuditRow
from service.domain.audit import AuditEntry
from service.domain.ids import new_id


def add(session: Session, tenant: str, actor: str, action: str, target: str, **details: Any) -> None:
    """Write who did what, in the transaction that does it."""
    session.add(
        AuditRow(
            id=new_id("aud"),
            tenant_id=tenant,
            at=datetime.now(UTC),
            actor=actor,
            action=action,
            target=target,
            details=details,
        )
    )
    session.flush()


def list_entries(session: Session, tenant: str, limit: int, after: str | None) -> list[AuditEntry]:
    """List a tenant's entries, newest first, with ids below `after`."""
    query = select(AuditRow).where(AuditRow.tenant_id == tenant).order_by(AuditRow.id.desc()).limit(limit)
    rows = session.scalars(query if after is None else query.where(AuditRow.id < after))
    return [
        AuditEntry(**{field.name: getattr(row, field.name) for field in fields(AuditEntry)}) for row in rows
    ]
