"""Queries over cost specs."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from service.db.tables import CostSpecRow
from service.domain.cost_specs import CostSpec
from service.domain.costs import COSTS


def add_cost_spec(session: Session, spec: CostSpec) -> None:
    """Insert a new revision; a revision that is there already raises IntegrityError."""
    session.add(
        CostSpecRow(
            id=spec.id,
            tenant_id=spec.tenant_id,
            name=spec.name,
            revision=spec.revision,
            currency=spec.currency,
            spec=COSTS.dump_python(spec.costs, mode="json"),
            created_at=spec.created_at,
        )
    )
    session.flush()


def next_revision(session: Session, tenant: str, name: str) -> int:
    """Number that follows the newest revision of a name; 1 for a new one.

    Until the transaction ends nobody else is given a number of this name: on SQLite one transaction writes
    at a time, on PostgreSQL there is a lock for the name.
    """
    if session.get_bind().dialect.name == "postgresql":
        key = func.hashtextextended(f"cost-spec/{tenant}/{name}", 0)
        session.execute(select(func.pg_advisory_xact_lock(key)))
    of_name = (CostSpecRow.tenant_id == tenant) & (CostSpecRow.name == name)
    newest = session.scalar(select(func.max(CostSpecRow.revision)).where(of_name))
    return (newest or 0) + 1


def find_cost_spec(session: Session, tenant: str, spec_id: str) -> CostSpec | None:
    """Find a tenant's cost spec."""
    query = select(CostSpecRow).where(CostSpecRow.tenant_id == tenant, CostSpecRow.id == spec_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(row)


def newest_revision(session: Session, tenant: str, name: str) -> CostSpec | None:
    """Find the newest revision of a name."""
    query = select(CostSpecRow).where(CostSpecRow.tenant_id == tenant, CostSpecRow.name == name)
    row = session.scalars(query.order_by(CostSpecRow.revision.desc()).limit(1)).one_or_none()
    return None if row is None else _value(row)


def list_cost_specs(session: Session, tenant: str, limit: int, after: str | None) -> list[CostSpec]:
    """List a tenant's cost specs, newest first, with ids below `after`."""
    query = select(CostSpecRow).where(CostSpecRow.tenant_id == tenant)
    if after is not None:
        query = query.where(CostSpecRow.id < after)
    rows = session.scalars(query.order_by(CostSpecRow.id.desc()).limit(limit))
    return [_value(row) for row in rows]


def _value(row: CostSpecRow) -> CostSpec:
    return CostSpec(
        id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        revision=row.revision,
        currency=row.currency,
        costs=COSTS.validate_python(row.spec),
        created_at=row.created_at,
    )
