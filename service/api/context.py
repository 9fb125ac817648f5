"""What a handler is given: the wiring of its application, its caller, and the key that makes a retry safe."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.types import Scope

from service.domain.access import DEFAULT_TENANT, Caller
from service.domain.receipts import Receipt
from service.wiring import Wiring

ANYONE = Caller(DEFAULT_TENANT, None)


def caller_of(scope: Scope) -> Caller:
    """Tell who sent a request; the route has made sure of it."""
    caller: Caller = scope.get("state", {}).get("caller", ANYONE)
    return caller


async def _wiring(request: Request) -> Wiring:  # async: a sync dependency would cost a thread
    wiring: Wiring = request.app.state.wiring
    return wiring


async def _tenant(request: Request) -> str:
    return caller_of(request.scope).tenant


async def _receipt(request: Request) -> Receipt | None:
    receipt: Receipt | None = request.scope["state"].get("receipt")
    return receipt


Wired = Annotated[Wiring, Depends(_wiring)]
Tenant = Annotated[str, Depends(_tenant)]
#: Of a POST with an `Idempotency-Key`: whatever it makes is signed with it.
Receipted = Annotated[Receipt | None, Depends(_receipt)]
