"""Who may call which route: each route has a tag, and each tag the scopes that open it."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import anyio.to_thread
from starlette.types import Scope as AsgiScope

from service.api.rates import Rates
from service.api.raw_headers import header, headers_of
from service.domain.access import ANYONE, SCOPES, Caller, Scope
from service.domain.errors import ForbiddenError, UnauthorizedError
from service.usecases.access import KeyRing

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

#: Tag of a route -> scopes of which one is needed: to read (GET), and to do anything else.
#: A tag that is not listed is for `admin` alone.
OPENED_BY: Final[dict[str, tuple[tuple[Scope, ...], tuple[Scope, ...]]]] = {
    "datasets": (("data", "train"), ("data",)),
    "cost-specs": (("data", "train", "predict"), ("data", "train")),
    "algorithms": (SCOPES, SCOPES),
    "training-jobs": (("train",), ("train",)),
    "models": (("registry", "train"), ("registry",)),
    "predictions": (("predict", "feedback"), ("predict",)),
    "simulations": (("predict", "train"), ("predict", "train")),
    "batch-predictions": (("predict",), ("predict",)),
    "inference": (("predict",), ("predict",)),
    "performance": (("feedback", "registry"), ("feedback",)),
    "webhooks": (("admin",), ("admin",)),
    "subjects": (("admin",), ("admin",)),
    "api-keys": (("admin",), ("admin",)),
    "audit-log": (("admin",), ("admin",)),
}


def opened_by(*scopes: Scope) -> Callable[[Endpoint], Endpoint]:
    """Mark a handler whose route is opened by other scopes than its tag says."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.opened_by = scopes  # type: ignore[attr-defined]
        return endpoint

    return mark


def scopes_of(endpoint: Callable[..., Any] | None, tags: list[str], method: str) -> tuple[Scope, ...] | None:
    """Tell the scopes of which one is needed; None where no key is."""
    marked: tuple[Scope, ...] | None = getattr(endpoint, "opened_by", None)
    if marked is not None:
        return marked
    if tags == ["probes"]:
        return None
    to_read, to_change = OPENED_BY.get(tags[0] if tags else "", (("admin",), ("admin",)))
    return to_read if method == "GET" else to_change


async def admit(scope: AsgiScope, scopes: tuple[Scope, ...] | None) -> None:
    """
    Find out who asks, before anything of the body is read.

    Raises
    ------
    UnauthorizedError
        The key is missing or not valid.
    ForbiddenError
        It lacks the scope.
    TooManyError
        It sends too many requests.
    """
    needs_key: bool = scope["app"].state.needs_keys
    # Where none is needed, one that is sent counts all the same: who sends it means its tenant and scopes.
    if scopes is not None and (needs_key or header(scope, b"authorization") is not None):
        await admit_key(scope, scopes, _token(scope))


async def admit_key(scope: AsgiScope, scopes: tuple[Scope, ...], key: str) -> None:
    """
    Find out who asks by the key that was sent, whichever way it came.

    Raises
    ------
    UnauthorizedError
    ForbiddenError
    TooManyError
    """
    keys: KeyRing = scope["app"].state.keys
    caller = await _caller(keys, key)
    scope["state"]["caller"] = caller
    rates: Rates | None = scope["app"].state.rates
    if rates is not None:
        rates.take(caller.actor)
    if not caller.may(scopes):
        raise ForbiddenError("insufficient_scope", f"this needs a key with the scope {' or '.join(scopes)}")


def caller_of(scope: AsgiScope) -> Caller:
    """Tell who sent a request that was admitted."""
    caller: Caller = scope.get("state", {}).get("caller", ANYONE)
    return caller


async def _caller(keys: KeyRing, token: str) -> Caller:
    caller = keys.cached(token)
    return caller if caller is not None else await anyio.to_thread.run_sync(keys.load, token)


def _token(scope: AsgiScope) -> str:
    given = headers_of(scope, b"authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not token.strip():
        raise UnauthorizedError("unauthorized", "send `Authorization: Bearer` with an API key")
    return token.strip()
