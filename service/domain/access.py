"""Who asks, and what they may do: API keys, their scopes, and the caller that a key stands for."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

#: Of a service without API keys, everything belongs to one tenant.
DEFAULT_TENANT: Final = "default"

Scope = Literal["data", "train", "predict", "feedback", "registry", "admin"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

#: Characters of the name of an API key, at most.
MAX_KEY_NAME: Final = 128

_TOKEN = re.compile(r"cb_([0-9a-f-]{36})_([0-9a-f]{64})")


@dataclass(frozen=True)
class ApiKey:
    """A key of a tenant; its secret is known to whoever was given it, and here only by its hash."""

    id: str
    tenant_id: str
    name: str
    scopes: tuple[Scope, ...]
    secret_sha256: str
    created_at: datetime
    created_by: str
    revoked_at: datetime | None

    @property
    def caller(self) -> "Caller":
        """Who asks with this key."""
        return Caller(self.tenant_id, self.id, frozenset(self.scopes))


@dataclass(frozen=True)
class Caller:
    """
    Who sends a request.

    Attributes
    ----------
    tenant : str
        To whom everything belongs that the request makes or sees.
    key_id : str or None
        The API key; None where none is needed and none was sent.
    scopes : frozenset of str
        What the key may do.
    """

    tenant: str
    key_id: str | None
    scopes: frozenset[Scope]

    @property
    def actor(self) -> str:
        """Who it is in the audit log."""
        return self.key_id or "local"

    def may(self, scopes: Collection[Scope]) -> bool:
        """Whether one of the scopes is held; `admin`, who could make a key with any, may do everything."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)


#: Who asks without a key where none is needed.
ANYONE: Final = Caller(DEFAULT_TENANT, None, frozenset(SCOPES))


def new_secret() -> str:
    """Make the secret of a key: 256 bits."""
    return secrets.token_hex(32)


def token_of(key_id: str, secret: str) -> str:
    """Write a key as it is sent: `cb_<id>_<secret>`."""
    return f"cb_{key_id.removeprefix('key_')}_{secret}"


def read_token(token: str) -> tuple[str, str] | None:
    """Split a key that was sent into id and secret; None when it is none."""
    found = _TOKEN.fullmatch(token)
    return None if found is None else (f"key_{found[1]}", found[2])


def sha256_of(secret: str) -> str:
    """Hash a secret; it is as long as its hash, so nothing slower is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret(secret: str, sha256: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(sha256_of(secret), sha256)
