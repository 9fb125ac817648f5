"""The body of an error: `application/problem+json` (RFC 9457) with a code, a request id and pointers."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from service.domain.errors import MAX_LISTED_ERRORS, FieldError
from service.domain.problems.registry import PROBLEMS

MEDIA_TYPE = "application/problem+json"

#: A pointer quotes names of submitted fields; a longer one is cut.
MAX_POINTER = 256


class Fault(BaseModel):
    """One fault at one place of the request."""

    pointer: str = Field(description="RFC 6901 pointer into the body; `/query/…`, `/path/…` outside of it.")
    code: str
    detail: str
    line: int | None = Field(
        default=None, description="Line of an uploaded text table; the header is line 1."
    )
    column: str | None = None


class ProblemDetails(BaseModel):
    """What every refusal looks like (`application/problem+json`, RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "/problems/invalid",
                "title": "Invalid request",
                "status": 422,
                "detail": "/costs/fn: must be a finite number",
                "instance": "/v1/training-jobs",
                "code": "invalid",
                "request_id": "7f6c9a54e2b04b1f9d6c3d1f5a0b8e21",
                "errors": [
                    {"pointer": "/costs/fn", "code": "finite_number", "detail": "must be a finite number"}
                ],
                "errors_total": 1,
            }
        }
    )

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    errors: list[Fault] | None = None
    errors_total: int | None = None


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[FieldError] = (),
    headers: Mapping[str, str] | None = None,
    errors_total: int | None = None,
) -> Response:
    """Build the answer to a request that is refused; under `/v2` in the form of the protocol there."""
    if request.url.path.startswith("/v2/"):
        told = msgspec.json.encode({"error": _told(detail, errors, errors_total)})
        return Response(told + b"\n", status, headers, "application/json")
    content: dict[str, Any] = {
        "type": f"/problems/{code}",
        "title": PROBLEMS[code].title if code in PROBLEMS else code.replace("_", " ").capitalize(),
        "status": status,
        "detail": _told(detail, errors, errors_total),
        "instance": request.url.path,
        "code": code,
        "request_id": request.scope.get("state", {}).get("request_id", ""),
    }
    if errors:
        content["errors"] = faults_of(errors)
        content["errors_total"] = len(errors) if errors_total is None else errors_total
    return Response(msgspec.json.encode(content) + b"\n", status, headers, MEDIA_TYPE)


def _told(detail: str, errors: Sequence[FieldError], total: int | None) -> str:
    """Say it all in one sentence where there is one fault only: many show nothing but `detail`."""
    if len(errors) != 1 or total not in (None, 1) or detail == errors[0].detail:
        return detail
    fault = errors[0]
    return f"{fault.place[:MAX_POINTER]}: {fault.detail}" if fault.place else fault.detail


def faults_of(errors: Sequence[FieldError]) -> list[dict[str, Any]]:
    """List the first single faults, as plain JSON."""
    return [_fault(error) for error in errors[:MAX_LISTED_ERRORS]]


def _fault(error: FieldError) -> dict[str, Any]:
    fault: dict[str, Any] = {
        "pointer": error.pointer[:MAX_POINTER],
        "code": error.code,
        "detail": error.detail,
    }
    if error.line is not None:
        fault["line"] = error.line
    if error.column is not None:
        fault["column"] = error.column[:MAX_POINTER]
    return fault


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Give the OpenAPI entry of the problems a route may answer."""
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    return {
        status: {"description": DESCRIPTIONS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


DESCRIPTIONS: dict[int, str] = {
    400: "Malformed request",
    401: "No valid API key",
    403: "Not allowed",
    404: "Not found",
    406: "Not acceptable",
    408: "The body stopped before its end",
    409: "In the wrong state",
    412: "Another revision than `If-Match` names",
    413: "Too large",
    415: "Unsupported media type",
    422: "Understood but invalid",
    428: "`If-Match` is required",
    429: "Too many; see `Retry-After`",
    503: "Not available just now; see `Retry-After`",
}
