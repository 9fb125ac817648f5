"""Telling who asks: keys are looked up by their public id, and kept for a few seconds."""

import threading
import time
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from service.db import api_keys
from service.domain.access import ApiKey, Caller, is_secret, read_token, sha256_of
from service.domain.errors import UnauthorizedError

#: A key looked up longer ago is looked up again; so long a revoked one may live on in another process.
FRESH_SECONDS = 4.0
MAX_KEYS = 10_000
#: Compared with where there is no key, so that the answer takes as long.
_NO_SECRET = sha256_of("")

log = structlog.get_logger("service.access")


@dataclass(frozen=True)
class _Known:
    key: ApiKey
    checked: float


class KeyRing:
    """
    The API keys in use.

    `cached` never waits and may be called on the event loop; `load` reads the database, so it belongs into a
    thread.
    """

    def __init__(self, readers: sessionmaker[Session]) -> None:
        self._readers = readers
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def cached(self, token: str) -> Caller | None:
        """
        Tell who a key stands for, if that is at hand, fresh and right.

        Nothing is refused here but what is no key at all: a wrong secret is looked up as an unknown key is,
        so that how long a refusal takes does not tell whether the key is in use.

        Raises
        ------
        UnauthorizedError
        """
        key_id, secret = _parts(token)
        known = self._known.get(key_id)
        if known is None or time.monotonic() - known.checked > FRESH_SECONDS:
            return None
        return _caller(known.key, secret)

    def load(self, token: str) -> Caller:
        """
        Look a key up.

        Raises
        ------
        UnauthorizedError
            There is no such key, its secret is another, or it was revoked; which of them is not told.
        """
        key_id, secret = _parts(token)
        try:
            with self._readers() as session:
                key = api_keys.fetch(session, key_id)
        except (DBAPIError, PoolTimeoutError) as error:
            # While the database is away nobody can revoke a key either: the last look is the best there is.
            known = self._known.get(key_id)
            if known is None:
                raise
            log.warning("a key cannot be looked up; the last look stays", error=type(error).__name__)
            return _admitted(known.key, secret)
        self._remember(key_id, key)
        return _admitted(key, secret)

    def forget(self, key_id: str) -> None:
        """Look a key up again, because this process has just revoked it."""
        with self._lock:
            self._known.pop(key_id, None)

    def _remember(self, key_id: str, key: ApiKey | None) -> None:
        with self._lock:
            if key is None:
                self._known.pop(key_id, None)
                return
            if len(self._known) >= MAX_KEYS:
                self._known.clear()
            self._known[key_id] = _Known(key, time.monotonic())


def _parts(token: str) -> tuple[str, str]:
    parts = read_token(token)
    if parts is None:
        raise _refused()
    return parts


def _admitted(key: ApiKey | None, secret: str) -> Caller:
    caller = _caller(key, secret)
    if caller is None:
        raise _refused()
    return caller


def _caller(key: ApiKey | None, secret: str) -> Caller | None:
    is_right = is_secret(secret, _NO_SECRET if key is None else key.secret_sha256)
    return key.caller if key is not None and key.revoked_at is None and is_right else None


def _refused() -> UnauthorizedError:
    return UnauthorizedError("unauthorized", "this API key is not valid here")
