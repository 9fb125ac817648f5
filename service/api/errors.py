"""From exceptions to problem+json; the only place that knows which error has which status code."""

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from service.api.problems import problem
from service.db.engine import is_outage
from service.domain.errors import (
    ConflictError,
    CostboostError,
    ForbiddenError,
    InProgressError,
    InvalidError,
    MalformedError,
    NotAcceptableError,
    NotFoundError,
    PreconditionFailedError,
    PreconditionRequiredError,
    TooLargeError,
    TooManyError,
    UnauthorizedError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from service.domain.faults import field_errors, refusal
from service.domain.storage import outage_of
from service.logs import frames

STATUS: dict[type[CostboostError], int] = {
    MalformedError: 400,
    UnauthorizedError: 401,
    ForbiddenError: 403,
    NotFoundError: 404,
    NotAcceptableError: 406,
    ConflictError: 409,
    InProgressError: 409,
    PreconditionFailedError: 412,
    TooLargeError: 413,
    UnsupportedMediaTypeError: 415,
    InvalidError: 422,
    PreconditionRequiredError: 428,
    TooManyError: 429,
    UnavailableError: 503,
}

#: Codes of what Starlette and FastAPI refuse by themselves.
_ROUTING_CODES = {
    400: "malformed",
    404: "not_found",
    405: "method_not_allowed",
    408: "body_stalled",
    413: "body_too_large",
    415: "unsupported_media_type",
}

RETRY_SECONDS = 5

#: What the database and the store fail with.
OUTAGES: tuple[type[Exception], ...] = (DBAPIError, PoolTimeoutError, OSError)

log = structlog.get_logger("service.api")


def install(app: FastAPI) -> None:
    """Give the application its error handlers."""
    app.add_exception_handler(CostboostError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _routing)
    for outage in OUTAGES:
        app.add_exception_handler(outage, _outage)
    app.add_exception_handler(ClientDisconnect, _disconnected)


def status_of(error: CostboostError) -> int:
    """Status code of an error: that of its nearest class in the table."""
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def unexpected(request: Request, error: Exception) -> Response:
    """Answer 500 and log where it happened; the message of the exception may hold values, so it stays out."""
    log.error("unexpected error", error=type(error).__name__, frames=frames(error.__traceback__))
    return problem(request, 500, "internal", "an unexpected error; the log has it under this request id")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, CostboostError)
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    if isinstance(error, UnavailableError):
        log.warning("unavailable", code=error.code, detail=error.detail)
    if isinstance(error, UnauthorizedError):
        headers["WWW-Authenticate"] = 'Bearer realm="costboost"'
    return problem(
        request,
        status_of(error),
        error.code,
        error.detail,
        errors=error.errors,
        errors_total=error.errors_total,
        headers=headers,
    )


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    return await _refused(request, refusal(field_errors(found, error.body)))


async def _routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers, detail = dict(error.headers or {}), error.detail
    if error.status_code == 404:
        detail = "there is nothing at this path; `/docs` lists the paths there are"
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
        detail = f"this path takes {headers['Allow']} alone"
    code = _ROUTING_CODES.get(error.status_code, "malformed")
    return problem(request, error.status_code, code, detail, headers=headers)


def _methods(request: Request) -> list[str]:
    """List the methods of the path; Starlette names only those of the first route that has it."""
    contexts = iter_route_contexts(request.app.routes)
    matching = (one for one in contexts if one.path_regex.match(request.url.path))
    found = {method for one in matching for method in one.methods or ()}
    return sorted(found | {"HEAD"} if "GET" in found else found)


async def _outage(request: Request, error: Exception) -> Response:
    told = unavailable_of(error)
    return unexpected(request, error) if told is None else await _refused(request, told)


def unavailable_of(error: Exception) -> UnavailableError | None:
    """What an error of `OUTAGES` is told as; None if it is no outage but a fault of ours."""
    if isinstance(error, OSError):
        return outage_of(error)
    if isinstance(error, DBAPIError) and not is_outage(error):
        return None
    if isinstance(error, DBAPIError) and _is_full(error):
        detail, code = "no space is left for the database", "storage_full"
    else:
        detail, code = "the database cannot be reached just now", "database_unavailable"
    return UnavailableError(code, detail, retry_after=RETRY_SECONDS)


def _is_full(error: DBAPIError) -> bool:
    """SQLite says it in words, PostgreSQL with its code (53100, disk_full)."""
    return "disk is full" in str(error.orig) or getattr(error.orig, "sqlstate", None) == "53100"


async def _disconnected(request: Request, error: Exception) -> Response:
    assert isinstance(error, ClientDisconnect)
    return problem(request, 400, "malformed", "the body ended before it was complete")
