"""`Idempotency-Key`: a POST that creates is done once, and a retry gets the answer of the first time."""

import asyncio
import re
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.access import caller_of
from service.api.fingerprints import fingerprint_of
from service.domain.errors import FieldError, MalformedError, pointer
from service.domain.receipts import Receipt
from service.usecases import idempotency
from service.usecases.idempotency import Kept
from service.wiring import Wiring

HEADER: Final = "idempotency-key"
REPLAYED: Final = (b"idempotency-replayed", b"true")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
#: These say that the same request may be answered otherwise in a moment.
_PASSING: Final = (408, 429)
#: Of the moment or of the connection, not of the answer.
_NOT_KEPT: Final = frozenset({"content-length", "date", "connection", "x-request-id"})
#: What the router writes into a scope; a request made here is routed anew.
_ROUTED: Final = frozenset({"route", "endpoint", "path_params", "fastapi", "fastapi_inner_astack"})

#: The header in the OpenAPI document.
PARAMETER: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Makes a retry safe: for 24 hours the same key and body get the first answer again.",
}

_OF_THE_CALLER: Final = frozenset({b"host", b"accept", b"authorization"})

log = structlog.get_logger("service.idempotency")


async def answer_once(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """
    Let `app` answer, unless a request with the same key was answered before.

    The key is reserved before the body is read, so that of two requests at a time one is refused at once.
    """
    wiring: Wiring = scope["app"].state.wiring
    name = _key_id(scope)
    found = await anyio.to_thread.run_sync(
        idempotency.reserve, wiring.sessions, caller_of(scope).tenant, name
    )
    body = _Body(scope, receive)
    if isinstance(found, Kept):
        await body.read()
        found.require_same(body.fingerprint)
        await _replay(found, scope, send)
    else:
        body.receipt = scope["state"]["receipt"] = found
        await _answer(app, scope, body, send, wiring)


def is_keyed(scope: Scope) -> bool:
    """Whether the request names a key."""
    return HEADER in Headers(scope=scope)


def _key_id(scope: Scope) -> str:
    given = Headers(scope=scope).getlist(HEADER)
    if len(given) != 1 or not _KEY.fullmatch(given[0]):
        detail = "one key of 1 to 255 printable ASCII characters without spaces, such as a UUID"
        fault = FieldError(pointer("header", "Idempotency-Key"), "malformed", detail)
        raise MalformedError("malformed", "the idempotency key is no key", [fault])
    caller = caller_of(scope)
    target = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
    return idempotency.key_id(caller.tenant, caller.key_id or "", scope["method"], target, given[0])


async def _answer(app: ASGIApp, scope: Scope, body: "_Body", send: Send, wiring: Wiring) -> None:
    assert body.receipt is not None
    answer = _Captured()
    beating = asyncio.create_task(_beat(wiring, body.receipt))
    try:
        await app(scope, body, answer)
        with suppress(HTTPException):  # the rest of a body that is too large
            await body.read()
        await _settle(wiring, body, answer)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(DBAPIError, PoolTimeoutError):
            await anyio.to_thread.run_sync(idempotency.release, wiring.sessions, body.receipt)
        raise
    finally:
        beating.cancel()
    for message in answer.messages:
        await send(message)


async def _settle(wiring: Wiring, body: "_Body", answer: "_Captured") -> None:
    """Keep the answer, or let the key be used again where another try may succeed."""
    assert body.receipt is not None
    is_final = answer.status < 500 and answer.status not in _PASSING and body.receipt.fingerprint is not None
    try:
        if is_final:
            await anyio.to_thread.run_sync(
                idempotency.keep, wiring.sessions, body.receipt, answer.status, answer.headers, answer.kept
            )
        else:
            await anyio.to_thread.run_sync(idempotency.release, wiring.sessions, body.receipt)
    except (DBAPIError, PoolTimeoutError) as error:
        # What was made is signed for: once the key counts as abandoned, a retry is led to it.
        log.warning("an answer could not be kept", error=type(error).__name__)


async def _beat(wiring: Wiring, receipt: Receipt) -> None:
    while True:
        await asyncio.sleep(idempotency.BEAT_SECONDS)
        with suppress(DBAPIError, PoolTimeoutError):
            await anyio.to_thread.run_sync(idempotency.beat, wiring.sessions, receipt)


async def _replay(kept: Kept, scope: Scope, send: Send) -> None:
    body, headers = kept.body, [(name.encode(), value.encode("latin-1")) for name, value in kept.headers]
    status = kept.status or scope["route"].status_code
    if body is None and kept.location is not None:
        read = await _read(scope, kept.location)
        body = read.body
        headers = [(b"content-type", b"application/json"), (b"location", kept.location.encode())]
        if read.status != 200:
            status, headers = read.status, [(b"content-type", read.headers["content-type"].encode())]
    sent = body or b""
    headers += [REPLAYED, (b"content-length", str(len(sent)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sent})


async def _read(scope: Scope, location: str) -> "_Captured":
    """Answer a GET of what was made, within the application."""
    inner = {name: value for name, value in scope.items() if name not in _ROUTED}
    inner |= {"method": "GET", "path": location, "raw_path": location.encode(), "query_string": b""}
    inner["headers"] = [(name, value) for name, value in scope["headers"] if name in _OF_THE_CALLER]
    answer = _Captured()
    await scope["app"].router(inner, _nothing, answer)
    return answer


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class _Body:
    """The body on its way to the handler: its fingerprint is taken as it passes."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._hash = fingerprint_of(Headers(scope=scope).get("content-type", ""))
        self._is_over = False
        self.fingerprint: str | None = None
        self.receipt: Receipt | None = None

    async def __call__(self) -> Message:
        message = await self._receive()
        if self._is_over:
            return message
        self._is_over = message["type"] != "http.request" or not message.get("more_body", False)
        if message["type"] == "http.request":
            self._hash.update(message.get("body", b""))
            if self._is_over:
                self.fingerprint = self._hash.hexdigest()
                if self.receipt is not None:
                    self.receipt.fingerprint = self.fingerprint
        return message

    async def read(self) -> None:
        """Read what the handler left."""
        while not self._is_over:
            await self()


class _Captured:
    """An answer, held back until it is kept."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int:
        """Status code; that of a fault where nothing was answered."""
        return int(self.messages[0]["status"]) if self.messages else 500

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to the answer itself."""
        given = Headers(raw=self.messages[0]["headers"]) if self.messages else Headers()
        return {name: value for name, value in given.items() if name not in _NOT_KEPT}

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(message.get("body", b"") for message in self.messages)

    @property
    def kept(self) -> bytes | None:
        """The body, unless it says itself that it must not be kept: it holds a secret."""
        return None if self.headers.get("cache-control") == "no-store" else self.body
