"""Reading what was done."""

from sqlalchemy.orm import Session, sessionmaker

from service.db import audit_log
from service.domain.audit import AuditEntry


def list_entries(
    readers: sessionmaker[Session], tenant: str, limit: int, after: str | None
) -> list[AuditEntry]:
    """List what was done in a tenant, newest first."""
    with readers() as session:
        return audit_log.list_entries(session, tenant, limit, after)
