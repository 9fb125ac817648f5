"""What a handler is given: the wiring of its application, its caller, and the key that makes a retry safe."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from service.api.access import caller_of
from service.domain.access import Caller
from service.domain.receipts import Receipt
from service.wiring import Wiring


async def _wiring(request: Request) -> Wiring:  # async: a sync dependency would cost a thread
    wiring: Wiring = request.app.state.wiring
    return wiring


async def _sender(request: Request) -> Caller:
    return caller_of(request.scope)


async def _tenant(request: Request) -> str:
    return caller_of(request.scope).tenant


async def _receipt(request: Request) -> Receipt | None:
    receipt: Receipt | None = request.scope["state"].get("receipt")
    return receipt


Wired = Annotated[Wiring, Depends(_wiring)]
Tenant = Annotated[str, Depends(_tenant)]
#: Where it matters who does it, beside whose it is.
Sender = Annotated[Caller, Depends(_sender)]
#: Of a POST with an `Idempotency-Key`: whatever it makes is signed with it.
Receipted = Annotated[Receipt | None, Depends(_receipt)]
