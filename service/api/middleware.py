"""What happens around every request: its id, its log line and figures, its limits, its origin."""

import re
import time
from urllib.parse import unquote_to_bytes, urlsplit
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.deadlines import receive_in_time
from service.api.errors import unexpected
from service.api.figures import REQUEST_SECONDS, REQUESTS
from service.api.prediction_streams import is_streamed
from service.api.problems import problem
from service.api.telemetry import trace_id

#: Request ids of callers are taken over only in this form, so that no log line can be forged.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

MAX_HEADER_BYTES = 64 * 1024

#: Bodies that are neither tables nor rows: specs, costs, aliases.
MAX_DOCUMENT_BYTES = 1 << 20

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

log = structlog.get_logger("service.api")


class RequestContext:
    """Gives each request an id, a log line without values, its figures, and a 500 that says nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)
        if (trace := trace_id(Headers(scope=scope))) is not None:
            structlog.contextvars.bind_contextvars(trace_id=trace)
        started, status = time.perf_counter(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception as error:
            if status:  # the answer has begun: the connection can only be cut
                unexpected(Request(scope), error)
                raise
            await unexpected(Request(scope), error)(scope, receive, send_with_id)
        finally:
            _record(scope, status, time.perf_counter() - started)
            structlog.contextvars.clear_contextvars()


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex


def _record(scope: Scope, status: int, seconds: float) -> None:
    # The template of the route, never the path: ids would make endless series.
    route = getattr(scope.get("route"), "path_format", "unmatched")
    REQUESTS.labels(scope["method"], route, str(status)).inc()
    REQUEST_SECONDS.labels(scope["method"], route).observe(seconds)
    if not route.startswith(("/livez", "/readyz", "/metrics")):
        log.info("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 3))


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
        request = Request(scope)
        refusal = self._refusal(request)
        if refusal is not None:
            await problem(request, *refusal, headers={"Connection": "close"})(scope, receive, send)
            return
        await self.app(scope, _counted(receive, self._limit(request)), send)

    def _limit(self, request: Request) -> int:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        path = request.scope["path"]
        is_upload = path == "/v1/datasets" or (
            path in ("/v1/training-jobs", "/v1/batch-predictions") and media_type == "multipart/form-data"
        )
        is_upload = is_upload or (path.endswith("/versions") and media_type == "application/zip")
        if path.endswith("/predict") and is_streamed(request.headers):
            return max(self.max_upload_bytes, self.max_predict_bytes)
        if path.endswith(("/predict", "/infer")):
            return self.max_predict_bytes
        return self.max_upload_bytes if is_upload else MAX_DOCUMENT_BYTES

    def _refusal(self, request: Request) -> tuple[int, str, str] | None:
        if sum(len(name) + len(value) for name, value in request.scope["headers"]) > MAX_HEADER_BYTES:
            return 431, "headers_too_large", f"the headers are larger than {MAX_HEADER_BYTES} bytes"
        fault = _malformed(request)
        if fault is not None:
            return 400, "malformed", fault
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            return (
                415,
                "unsupported_media_type",
                "a compressed body is not read; Parquet is the compressed form",
            )
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._limit(request):
            return 413, "body_too_large", f"the body is larger than {self._limit(request)} bytes"
        return None


def _malformed(request: Request) -> str | None:
    path = request.scope["raw_path"]
    if b"%00" in path + request.scope["query_string"]:
        return "the address holds a NUL"
    if b"%" in path and not _is_utf8(unquote_to_bytes(path)):
        return "the path is not UTF-8"
    twice = [name for name in ("host", "origin") if len(request.headers.getlist(name)) > 1]
    return f"the header {twice[0]} comes twice" if twice else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _counted(receive: Receive, limit: int) -> Receive:
    """Cut off a body that grows beyond its limit without having said so, or that stops before its end."""
    received, is_over = 0, False

    async def receive_counted() -> Message:
        nonlocal received, is_over
        # After the body only the end of the connection is waited for, which may take its time.
        message = await (receive() if is_over else receive_in_time(receive))
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
            detail = _foreign(Headers(scope=scope))
            if detail is not None:
                await problem(Request(scope), 403, "foreign_origin", detail)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _foreign(headers: Headers) -> str | None:
    host = headers.get("host", "")
    if _hostname(f"//{host}") not in LOOPBACK_HOSTS:
        return "without API keys this service answers only to a loopback Host"
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        return "without API keys requests from other sites are refused"
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return "without API keys requests from other sites are refused"
    return None


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that do not close
        return None
