"""Work that is too large for the event loop: it is done in few threads, so that single rows do not wait."""

import os
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request

from service.domain.errors import UnavailableError

#: Bodies and batches up to this size are answered on the event loop: less work than handing them to a thread.
INLINE_BYTES = 16 * 1024
INLINE_ROWS = 32
#: Larger bodies that wait for a thread; more are told to come again.
MAX_WAITING = 64

Result = TypeVar("Result")


def batch_threads() -> anyio.CapacityLimiter:
    """Threads for larger bodies: few, so that they leave the processor to single rows."""
    return anyio.CapacityLimiter(max(1, (os.cpu_count() or 2) - 1))


async def in_thread(
    request: Request, work: Callable[..., Result], *arguments: object, is_begun: bool = False
) -> Result:
    """Do larger work in one of few threads, so that single rows do not wait behind it.

    What has begun waits; what is new is told to come again when many wait already. What nobody waits for any
    more is not done.

    Raises
    ------
    UnavailableError
        `busy`.
    ClientDisconnect
    """
    threads: anyio.CapacityLimiter = request.app.state.batches
    if not is_begun and threads.statistics().tasks_waiting >= MAX_WAITING:
        raise UnavailableError("busy", "too many large predictions are waiting already", retry_after=1)
    # Who has just sent all of a body is still there.
    may_have_gone = is_begun or threads.available_tokens < 1
    async with threads:
        if may_have_gone and await request.is_disconnected():
            raise ClientDisconnect
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=anyio.CapacityLimiter(1))
