"""Clients that stop sending: a connection that owes bytes is closed, so that nobody can hold many."""

import asyncio
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: From the first byte of a request, or from the connection, to the end of its headers.
HEAD_SECONDS = 10.0
#: Between two pieces of a body.
STALL_SECONDS = 10.0
#: Key of a request's scope once all of its body has come.
WHOLE: Final = "costboost.whole"


class DeadlineProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with a time limit for headers and for what comes after an answer was given."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; those that belong to no request under way begin the next one, or are late."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Serve the request; from here on its body has deadlines of its own."""
        self._forget()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the whole body is here: it need not be waited for."""
        self.scope[WHOLE] = True  # type: ignore[typeddict-unknown-key]
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


async def receive_in_time(scope: Scope, receive: Receive) -> Message:
    """
    Receive the next piece of a body.

    Raises
    ------
    HTTPException
        It does not come (408).
    """
    if WHOLE in scope:
        return await receive()
    try:
        async with asyncio.timeout(STALL_SECONDS):
            return await receive()
    except TimeoutError:
        raise HTTPException(408, "the body stopped before its end", {"Connection": "close"}) from None
