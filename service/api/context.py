"""What a handler is given: the wiring of its application and the tenant of its caller."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from service.wiring import Wiring

#: Until there are API keys, everything belongs to one tenant.
DEFAULT_TENANT = "default"


async def _wiring(request: Request) -> Wiring:  # async: a sync dependency would cost a thread
    wiring: Wiring = request.app.state.wiring
    return wiring


async def _tenant() -> str:
    return DEFAULT_TENANT


Wired = Annotated[Wiring, Depends(_wiring)]
Tenant = Annotated[str, Depends(_tenant)]
