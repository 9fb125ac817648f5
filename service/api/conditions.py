"""Conditional requests (RFC 9110, section 13): entity tags, `If-Match`, `If-None-Match`."""

import hashlib
import re
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from service.domain.errors import MalformedError, PreconditionFailedError, PreconditionRequiredError

#: Of what never changes.
IMMUTABLE = "private, max-age=31536000, immutable"
#: Of what can change: a cache must ask first.
REVALIDATE = "private, no-cache"

_OF_A_BODY = frozenset({"content-length", "content-type"})
_TAG = re.compile(r'(W/)?"[^"]*"')


def is_unchanged(request: Request, etag: str) -> bool:
    """Whether the caller already has this representation (`If-None-Match`, compared weakly)."""
    given = request.headers.get("if-none-match")
    return given is not None and (
        given.strip() == "*" or etag in (tag.removeprefix("W/") for tag in _tags(given))
    )


def revalidated(request: Request, answer: Response) -> Response:
    """
    Give each answer to a GET its tag, and 304 instead of it to a caller who has it already.

    What the handler tagged keeps its tag; of other documents the tag is the hash. A stream is left alone.
    """
    body = getattr(answer, "body", None)
    if request.method != "GET" or answer.status_code != 200 or not body:
        return answer
    if answer.headers.get("cache-control") == "no-store":
        return answer
    etag = answer.headers.setdefault("etag", f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    answer.headers.setdefault("cache-control", REVALIDATE)
    return unchanged(answer.headers) if is_unchanged(request, etag) else answer


def unchanged(headers: Mapping[str, str]) -> Response:
    """Answer that nothing has changed, with the headers that the whole answer would have."""
    kept = {name: value for name, value in headers.items() if name.lower() not in _OF_A_BODY}
    return Response(status_code=304, headers=kept)


def require_match(request: Request, etag: str) -> None:
    """
    Refuse to change what the caller has not read in its present revision.

    Raises
    ------
    PreconditionRequiredError
        `If-Match` is absent.
    MalformedError
        It is no list of quoted tags.
    PreconditionFailedError
        It names another revision, or a weak tag.
    """
    given = request.headers.get("if-match")
    if given is None:
        raise PreconditionRequiredError(
            "precondition_required", "send `If-Match` with the ETag that was read"
        )
    if given.strip() != "*" and not all(map(_TAG.fullmatch, _tags(given))):
        raise MalformedError(
            "malformed", '`If-Match` is an ETag in double quotes, as the answer had it: If-Match: "..."'
        )
    if given.strip() != "*" and etag not in _tags(given):
        raise PreconditionFailedError("precondition_failed", "it was changed since it was read")


def require_no_match(request: Request) -> None:
    """Refuse to make anew what the caller believes to exist: `If-Match` never holds for what is absent."""
    if "if-match" in request.headers:
        raise PreconditionFailedError("precondition_failed", "it does not exist, so `If-Match` cannot hold")


def require_absence(request: Request) -> None:
    """Refuse to replace what exists when the caller sent `If-None-Match: *`."""
    if request.headers.get("if-none-match", "").strip() == "*":
        raise PreconditionFailedError("precondition_failed", "it exists already")


def _tags(header: str) -> list[str]:
    return [tag.strip() for tag in header.split(",")]
