"""Queries over idempotency keys: one row for each request that named one, and what was answered to it."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Insert, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from service.db.engine import database_now, database_time, rows_of
from service.db.tables import IdempotencyRow
from service.domain.errors import InProgressError
from service.domain.receipts import Receipt

IN_PROGRESS = "a request with this key is still under way"


def reserve(session: Session, receipt: Receipt, tenant: str) -> bool:
    """Insert the row of a key; False when there is one."""
    values = {
        "id": receipt.id,
        "tenant_id": tenant,
        "owner": receipt.owner,
        "created_at": database_now(),
        "beat_at": database_now(),
    }
    made = _insert_unless_there(session).values(**values).returning(IdempotencyRow.id)
    return session.scalar(made) is not None


def find(session: Session, key_id: str) -> IdempotencyRow | None:
    """Find the row of a key, and hold it until the transaction ends."""
    query = select(IdempotencyRow).where(IdempotencyRow.id == key_id)
    return session.scalars(query.with_for_update()).one_or_none()


def take_over(session: Session, row: IdempotencyRow, receipt: Receipt) -> None:
    """Give a row to a new owner."""
    row.owner = receipt.owner
    row.beat_at = database_time(session)
    session.flush()


def forget(session: Session, row: IdempotencyRow) -> None:
    """Delete a row."""
    session.delete(row)
    session.flush()


def beat(session: Session, receipt: Receipt) -> None:
    """Say that the request still lives."""
    session.execute(update(IdempotencyRow).where(*_mine(receipt)).values(beat_at=database_now()))


def sign(session: Session, receipt: Receipt | None, location: str) -> None:
    """
    Write what was made, in the transaction that makes it: a retry then finds it, whatever is killed.

    Raises
    ------
    InProgressError
        Another request has taken the key over, so this one must make nothing.
    """
    if receipt is None:
        return
    signed = update(IdempotencyRow).where(*_mine(receipt), IdempotencyRow.location.is_(None))
    values = {"location": location, "fingerprint": receipt.fingerprint}
    if rows_of(session.execute(signed.values(**values))) != 1:
        raise InProgressError("idempotency_in_progress", IN_PROGRESS)


def keep(session: Session, receipt: Receipt, **answer: Any) -> None:
    """Write what was answered: status, headers and body."""
    kept = update(IdempotencyRow).where(*_mine(receipt))
    session.execute(kept.values(fingerprint=receipt.fingerprint, **answer))


def release(session: Session, receipt: Receipt) -> None:
    """Let the key be used again, unless something was made with it."""
    session.execute(delete(IdempotencyRow).where(*_mine(receipt), IdempotencyRow.location.is_(None)))


def delete_older(session: Session, age: timedelta) -> int:
    """Delete keys of an age, with what was answered, and tell how many."""
    oldest: datetime = database_time(session) - age
    return rows_of(session.execute(delete(IdempotencyRow).where(IdempotencyRow.created_at < oldest)))


def _mine(receipt: Receipt) -> tuple[Any, ...]:
    return IdempotencyRow.id == receipt.id, IdempotencyRow.owner == receipt.owner


def _insert_unless_there(session: Session) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(IdempotencyRow).on_conflict_do_nothing(index_elements=["id"])
    return postgresql.insert(IdempotencyRow).on_conflict_do_nothing(index_elements=["id"])
