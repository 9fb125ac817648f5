"""Lists: newest first, a page at a time, with a cursor that stays right while rows are inserted."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import caller_of
from service.api.numerals import plain
from service.domain.errors import FieldError, MalformedError

MAX_LIMIT = 200
_MARK_BYTES = 9

Row = TypeVar("Row")
Item = TypeVar("Item", bound=BaseModel)


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    has_more: bool
    next: str | None = Field(default=None, description="Value of `after` for the next page.")


@dataclass(frozen=True)
class Slice:
    """
    Which part of a list is asked for: at most `limit` rows whose key is below `after`.

    Attributes
    ----------
    mark : bytes
        Tells the list from all others: cursors of another one are refused.
    """

    limit: int
    after: str | None
    mark: bytes

    @property
    def fetch(self) -> int:
        """Rows to fetch: one more than shown tells whether there are more."""
        return self.limit + 1

    @property
    def number(self) -> int | None:
        """The key, where a list is sorted by a number."""
        if self.after is None:
            return None
        if not self.after.isascii() or not self.after.isdigit() or len(self.after) > 9:
            raise _no_cursor()
        return int(self.after)


def _slice(
    request: Request,
    limit: Annotated[
        int, Field(ge=1, le=MAX_LIMIT), BeforeValidator(plain), Query(description="Items of a page.")
    ] = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> Slice:
    if after == "":
        raise _no_cursor()
    mark = _mark(request)
    return Slice(limit, None if after is None else _decode(after, mark), mark)


#: Parameter of every list handler.
ListSlice = Annotated[Slice, Depends(_slice)]


def page(
    request: Request,
    response: Response,
    part: Slice,
    rows: Sequence[Row],
    *,
    key: Callable[[Row], str],
    show: Callable[[Row], Item],
) -> Page[Item]:
    """
    Build a page out of `part.fetch` rows, newest first, and set its `Link` header.

    Parameters
    ----------
    key : callable
        The key a row is sorted by: its id, or another text that is unique.
    show : callable
        A row as it is answered.
    """
    shown = rows[: part.limit]
    if len(rows) <= part.limit:
        return Page(data=[show(row) for row in shown], has_more=False)
    cursor = _encode(key(shown[-1]), part.mark)
    query = urlencode({**request.query_params, "limit": part.limit, "after": cursor})
    response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return Page(data=[show(row) for row in shown], has_more=True, next=cursor)


def _mark(request: Request) -> bytes:
    """Name a list: whose it is, its path and its filters, in any order."""
    filters = sorted(item for item in request.query_params.items() if item[0] not in ("limit", "after"))
    named = repr((caller_of(request.scope).tenant, request.url.path, filters))
    return hashlib.sha256(named.encode()).digest()[:_MARK_BYTES]


def _encode(key: str, mark: bytes) -> str:
    return base64.urlsafe_b64encode(mark + key.encode()).decode().rstrip("=")


def _decode(cursor: str, mark: bytes) -> str:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        given = base64.b64decode(padded, altchars=b"-_", validate=True)
        key = given[_MARK_BYTES:].decode()
    except (binascii.Error, UnicodeError):
        raise _no_cursor() from None
    if given[:_MARK_BYTES] != mark or not key or "\0" in key:
        raise _no_cursor()
    return key


def _no_cursor() -> MalformedError:
    told = "must be `next` of a page of this list, with the same filters"
    fault = FieldError("/query/after", "cursor", told)
    return MalformedError("malformed", "`after` is not a cursor of this list", [fault])
