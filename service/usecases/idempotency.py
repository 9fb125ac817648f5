"""Keys that make a retry safe: the first request with a key works, later ones get its answer."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from sqlalchemy.orm import Session, sessionmaker

from service.db import idempotency
from service.db.engine import database_time
from service.db.idempotency import IN_PROGRESS
from service.db.tables import IdempotencyRow
from service.domain.errors import InProgressError, InvalidError
from service.domain.receipts import Receipt

Sessions = sessionmaker[Session]

#: How long an answer is kept.
KEPT = timedelta(hours=24)
#: Silence after which the request that reserved a key counts as dead, with its process.
LEASE = timedelta(seconds=30)
BEAT_SECONDS = 8.0


@dataclass(frozen=True)
class Kept:
    """
    What was answered to the first request with a key.

    Attributes
    ----------
    fingerprint : str or None
        Of its body.
    location : str or None
        Path of what it made.
    status : int or None
        None where its process died after it had made something and before it could answer.
    headers : list of (name, value)
    body : bytes or None
        None where it must not be kept, or was not: the answer is then read at `location`.
    """

    fingerprint: str | None
    location: str | None
    status: int | None
    headers: Sequence[tuple[str, str]]
    body: bytes | None

    def require_same(self, fingerprint: str | None) -> None:
        """Refuse another body under the same key."""
        if self.fingerprint != fingerprint:
            raise InvalidError(
                "idempotency_mismatch", "this key came with another body before; take a new key for it"
            )


def key_id(*scope: str) -> str:
    """Name a key within its scope: tenant, API key, method, path with query, key."""
    return hashlib.sha256(json.dumps(scope).encode()).hexdigest()


def reserve(sessions: Sessions, tenant: str, name: str) -> Receipt | Kept:
    """
    Reserve a key for this request, or find what was answered to an earlier one.

    Raises
    ------
    InProgressError
        `idempotency_in_progress`: the earlier one is still under way.
    """
    receipt = Receipt(name, uuid4().hex)
    with sessions.begin() as session:
        while not idempotency.reserve(session, receipt, tenant):
            row = idempotency.find(session, name)
            if row is None:
                continue  # it was released between the two statements
            now = database_time(session)
            if now - row.created_at > KEPT:
                idempotency.forget(session, row)
                continue
            if row.status is None and now - row.beat_at <= LEASE:
                raise InProgressError("idempotency_in_progress", IN_PROGRESS)
            if row.status is not None or row.location is not None:
                return _kept(row)
            idempotency.take_over(session, row, receipt)
            break
    return receipt


def beat(sessions: Sessions, receipt: Receipt) -> None:
    """Say that the request still lives."""
    with sessions.begin() as session:
        idempotency.beat(session, receipt)


def keep(
    sessions: Sessions, receipt: Receipt, status: int, headers: Mapping[str, str], body: bytes | None
) -> None:
    """Keep an answer for those who ask again."""
    with sessions.begin() as session:
        idempotency.keep(session, receipt, status=status, headers=dict(headers), body=body)


def release(sessions: Sessions, receipt: Receipt) -> None:
    """Let the key be used again, because the request came to nothing."""
    with sessions.begin() as session:
        idempotency.release(session, receipt)


def _kept(row: IdempotencyRow) -> Kept:
    return Kept(row.fingerprint, row.location, row.status, tuple((row.headers or {}).items()), row.body)
