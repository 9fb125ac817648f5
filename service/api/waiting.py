"""`Prefer` (RFC 7240): an answer that waits for the end of a job, but not for ever, or one that does not."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from service.usecases.jobs import JobView

View = TypeVar("View", bound=JobView[Any])

LONGEST_WAIT = 60.0
#: A job that waits or runs is worth a look again after so many seconds.
RETRY_SECONDS = 1


def preferred_wait(request: Request) -> float | None:
    """Seconds that the caller would wait; a preference that is not understood is ignored."""
    for preference in request.headers.get("prefer", "").split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        text = value.strip().strip('"')
        if name.strip().lower() == "wait" and text.isascii() and text.isdigit():
            return min(float(text[:9]), LONGEST_WAIT)
    return None


def prefers_async(request: Request) -> bool:
    """Whether the caller would rather have a job than wait."""
    preferences = request.headers.get("prefer", "").split(",")
    return any(one.partition(";")[0].strip().lower() == "respond-async" for one in preferences)


async def read_waiting(request: Request, response: Response, read: Callable[[], View]) -> View:
    """Read a job, waiting as long as the caller would; say how long that was, and when to look again."""
    seconds = preferred_wait(request)
    view = await _wait_for_end(request, read, seconds or 0.0)
    if seconds is not None:
        response.headers["Preference-Applied"] = f"wait={seconds:g}"
    if not view.job.status.done:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return view


async def _wait_for_end(request: Request, read: Callable[[], View], seconds: float) -> View:
    """Read a job until it is done, the time is over, or nobody waits any more."""
    end = time.monotonic() + seconds
    pause = 0.05
    while True:
        view = await anyio.to_thread.run_sync(read)
        left = end - time.monotonic()
        is_over = view.job.status.done or left <= 0 or request.app.state.stopping
        if is_over or await request.is_disconnected():
            return view
        await anyio.sleep(min(pause, left))
        pause = min(2 * pause, 0.5)
