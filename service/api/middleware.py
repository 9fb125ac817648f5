"""What happens around every request: its id, its log line and figures, its limits, its origin."""

import os
import re
import time
from functools import lru_cache
from urllib.parse import unquote_to_bytes, urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.deadlines import receive_in_time
from service.api.errors import unexpected
from service.api.figures import REQUEST_SECONDS, REQUESTS
from service.api.prediction_streams import is_streamed
from service.api.problems import problem
from service.api.raw_headers import header, headers_of
from service.api.telemetry import trace_id
from service.logs import write_line

#: Request ids of callers are taken over only in this form, so that no log line can be forged.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

MAX_HEADER_BYTES = 64 * 1024

#: Bodies that are neither tables nor rows: specs, costs, aliases.
MAX_DOCUMENT_BYTES = 1 << 20

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

#: Answers and their seconds, by what tells them apart: finding a figure by its labels takes longer than to
#: count in it.
_answers = lru_cache(maxsize=4096)(REQUESTS.labels)
_seconds = lru_cache(maxsize=1024)(REQUEST_SECONDS.labels)


class RequestContext:
    """Gives each request an id, a log line without values, its figures, and a 500 that says nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        ids = _ids(scope)
        scope.setdefault("state", {})["request_id"] = ids["request_id"]
        structlog.contextvars.bind_contextvars(**ids)
        given_id = b"x-request-id", ids["request_id"].encode()
        started, status = time.perf_counter(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                others = [one for one in message.get("headers", ()) if one[0] != b"x-request-id"]
                message["headers"] = [*others, given_id]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception as error:
            if status:  # the answer has begun: the connection can only be cut
                unexpected(Request(scope), error)
                raise
            await unexpected(Request(scope), error)(scope, receive, send_with_id)
        finally:
            _record(scope, status, time.perf_counter() - started, ids)
            structlog.contextvars.clear_contextvars()


def _ids(scope: Scope) -> dict[str, str]:
    """Ids that the lines of a request have: its own, and that of its trace if there is one."""
    given = header(scope, b"x-request-id")
    is_sound = given is not None and _REQUEST_ID.fullmatch(given) is not None
    ids = {"request_id": given if given is not None and is_sound else os.urandom(16).hex()}
    if (trace := trace_id(header(scope, b"traceparent"))) is not None:
        ids["trace_id"] = trace
    return ids


def _record(scope: Scope, status: int, seconds: float, ids: dict[str, str]) -> None:
    # The template of the route, never the path: ids would make endless series.
    method, route = scope["method"], getattr(scope.get("route"), "path_format", "unmatched")
    _answers(method, route, str(status)).inc()
    _seconds(method, route).observe(seconds)
    if not route.startswith(("/livez", "/readyz", "/metrics")):
        write_line(
            "request",
            {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 3), **ids},
        )


class RequestLimits:
    """Refuses what must not reach a handler: giant headers, compressed or endless bodies, odd paths."""

    def __init__(self, app: ASGIApp, max_upload_bytes: int, max_predict_bytes: int) -> None:
        self.app = app
        self.max_upload_bytes = max_upload_bytes
        self.max_predict_bytes = max_predict_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit(scope)
        refusal = _refusal(scope, limit)
        if refusal is not None:
            await problem(Request(scope), *refusal, headers={"Connection": "close"})(scope, receive, send)
            return
        await self.app(scope, _counted(scope, receive, limit), send)

    def _limit(self, scope: Scope) -> int:
        path: str = scope["path"]
        if path.endswith("/predict") and is_streamed(scope):
            return max(self.max_upload_bytes, self.max_predict_bytes)
        if path.endswith(("/predict", "/infer")):
            return self.max_predict_bytes
        media_type = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
        is_upload = path in ("/v1/datasets", "/ui/datasets") or (
            path in ("/v1/training-jobs", "/v1/batch-predictions") and media_type == "multipart/form-data"
        )
        # What is imported under another type is refused for its type, not for its size.
        is_upload = is_upload or path.endswith("/versions")
        return self.max_upload_bytes if is_upload else MAX_DOCUMENT_BYTES


def _refusal(scope: Scope, limit: int) -> tuple[int, str, str] | None:
    if sum([len(name) + len(value) for name, value in scope["headers"]]) > MAX_HEADER_BYTES:
        return 431, "headers_too_large", f"the headers are larger than {MAX_HEADER_BYTES} bytes"
    fault = _malformed(scope)
    if fault is not None:
        return 400, "malformed", fault
    codings = [*headers_of(scope, b"content-encoding"), *headers_of(scope, b"transfer-encoding")]
    if any(coding.lower() not in ("identity", "chunked") for coding in codings):
        detail = "a compressed body is not read; Parquet is the compressed form"
        return 415, "unsupported_media_type", detail
    length = header(scope, b"content-length") or "0"
    if length.isdigit() and int(length) > limit:
        return 413, "body_too_large", f"the body is larger than {limit} bytes"
    return None


def _malformed(scope: Scope) -> str | None:
    path = scope["raw_path"]
    if b"%00" in path or b"%00" in scope["query_string"]:
        return "the address holds a NUL"
    if b"%" in path and not _is_utf8(unquote_to_bytes(path)):
        return "the path is not UTF-8"
    for name in (b"host", b"origin", b"content-type"):
        if len(headers_of(scope, name)) > 1:
            return f"the header {name.decode()} comes twice"
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _counted(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Cut off a body that grows beyond its limit without having said so, or that stops before its end."""
    received, is_over = 0, False

    async def receive_counted() -> Message:
        nonlocal received, is_over
        # After the body only the end of the connection is waited for, which may take its time.
        message = await (receive() if is_over else receive_in_time(scope, receive))
        is_over = not message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, f"the body is larger than {limit} bytes", {"Connection": "close"})
        return message

    return receive_counted


class OriginGuard:
    """
    Protects a service without API keys from web pages open in the same machine's browser.

    The Host must be a loopback name (against DNS rebinding), and a request that a browser sends from another
    site is refused (against cross-site posts).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            detail = _foreign(scope)
            if detail is not None:
                await problem(Request(scope), 403, "foreign_origin", detail)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _foreign(scope: Scope) -> str | None:
    host = header(scope, b"host") or ""
    if not _is_loopback(host):
        return "without API keys this service answers only to a loopback Host"
    origin = header(scope, b"origin")
    if origin is not None and origin.partition("://")[2] != host:
        return "without API keys requests from other sites are refused"
    if header(scope, b"sec-fetch-site") not in (None, "none", "same-origin"):
        return "without API keys requests from other sites are refused"
    return None


@lru_cache(maxsize=64)
def _is_loopback(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK_HOSTS
    except ValueError:  # brackets that do not close
        return False
