"""Clients that stop sending or taking: their connection is closed, so that nobody can hold many."""

import asyncio
import os
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.api.one_write import OneWrite
from service.api.problems import problem

#: From the first byte of a request, or from the connection, to the end of its headers.
HEAD_SECONDS = 10.0
#: Between two pieces of a body.
STALL_SECONDS = 10.0
#: For a client to take what of its answer is ready.
TAKE_SECONDS = 60.0
#: For the next request of a connection to come, when the process stops.
LAST_SECONDS = 1.0
#: For what has come by then to be read: timers are looked at before sockets.
_READ_SECONDS: Final = 0.05
#: Key of a request's scope once all of its body has come.
WHOLE: Final = "costboost.whole"


class DeadlineProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with time limits for headers, for what comes after an answer, and for taking it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._untaken: asyncio.TimerHandle | None = None
        self._is_last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        self.transport = OneWrite(transport, self.loop)  # type: ignore[assignment]
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; those that belong to no request under way begin the next one, or are late."""
        super().data_received(data)
        # Afterwards, as headers mostly come whole: then nothing is waited for.
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect()

    def on_headers_complete(self) -> None:
        """Serve the request; from here on its body has deadlines of its own."""
        self._forget()
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Note that the whole body is here: it need not be waited for."""
        self.scope[WHOLE] = True  # type: ignore[typeddict-unknown-key]
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's own words say less
        """Refuse bytes that are no HTTP; after the head of an answer the connection can only be cut."""
        is_begun = self.cycle is not None and self.cycle.response_started
        if not is_begun or self.cycle.response_complete:
            self.transport.write(_refusal())
        self.transport.close()

    def shutdown(self) -> None:
        """End, after an answer that says so: to the request under way, or to one that may be on its way."""
        if self.cycle is not None and not self.cycle.response_started:
            super().shutdown()
            return
        self._is_last = True
        self._end_soon()

    def _end_soon(self) -> None:
        self.loop.call_later(LAST_SECONDS, self.loop.call_later, _READ_SECONDS, self._end_unasked)

    def _end_unasked(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_soon()
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait for a client that does not take its answer, but not for ever."""
        super().pause_writing()
        self._untaken = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has taken what was ready."""
        self._taken()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget()
        self._taken()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None


def _refusal() -> bytes:
    """Head and body of the problem that tells of it; there is no request that it could name."""
    state = {"request_id": os.urandom(16).hex()}
    request = Request({"type": "http", "path": "/", "query_string": b"", "headers": [], "state": state})
    detail = "no HTTP/1.1 that can be read: look at the address, the headers and the length of the body"
    answer = problem(request, 400, "malformed", detail, headers={"Connection": "close"})
    head = [b"HTTP/1.1 400 Bad Request", *(name + b": " + value for name, value in answer.raw_headers)]
    return b"\r\n".join([*head, b"", bytes(answer.body)])


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
