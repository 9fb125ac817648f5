"""Making, listing and revoking API keys."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy.orm import Session, sessionmaker

from service.db import api_keys, audit_log, idempotency
from service.domain.access import ApiKey, Scope, new_secret, sha256_of, token_of
from service.domain.errors import NotFoundError
from service.domain.ids import new_id
from service.domain.receipts import Receipt

Sessions = sessionmaker[Session]


def create_key(
    sessions: Sessions,
    tenant: str,
    name: str,
    scopes: Sequence[Scope],
    *,
    by: str,
    receipt: Receipt | None = None,
) -> tuple[ApiKey, str]:
    """
    Make a key, and its tenant with its first one.

    Returns
    -------
    ApiKey and str
        The key, and what is sent as bearer: it is shown once, for its secret is kept as a hash only.
    """
    secret = new_secret()
    key = ApiKey(
        id=new_id("key"),
        tenant_id=tenant,
        name=name,
        scopes=tuple(sorted(set(scopes))),
        secret_sha256=sha256_of(secret),
        created_at=datetime.now(UTC),
        created_by=by,
        revoked_at=None,
    )
    with sessions() as session:
        api_keys.add(session, key)
        audit_log.add(session, tenant, by, "api_key.create", _path(key), scopes=list(key.scopes))
        idempotency.sign(session, receipt, _path(key))
        session.commit()
    return key, token_of(key.id, secret)


def read_key(readers: Sessions, tenant: str, key_id: str) -> ApiKey:
    """Read one key."""
    with readers() as session:
        return _key(session, tenant, key_id)


def list_keys(readers: Sessions, tenant: str, limit: int, after: str | None = None) -> list[ApiKey]:
    """List the keys of a tenant, newest first, revoked ones too."""
    with readers() as session:
        return api_keys.list_keys(session, tenant, limit, after)


def revoke_key(sessions: Sessions, tenant: str, key_id: str, *, by: str) -> None:
    """Make a key useless; twice is safe. Other processes learn of it within five seconds."""
    with sessions() as session:
        key = _key(session, tenant, key_id)
        if key.revoked_at is None:
            api_keys.revoke(session, key, datetime.now(UTC))
            audit_log.add(session, tenant, by, "api_key.revoke", _path(key))
        session.commit()


def has_key(readers: Sessions) -> bool:
    """Whether there is any key, of whichever tenant."""
    with readers() as session:
        return api_keys.has_any(session)


def _key(session: Session, tenant: str, key_id: str) -> ApiKey:
    key = api_keys.find(session, tenant, key_id)
    if key is None:
        raise NotFoundError("API key", key_id)
    return key


def _path(key: ApiKey) -> str:
    return f"/v1/api-keys/{key.id}"
