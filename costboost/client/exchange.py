"""Requests as values, and plans: what to ask in which order, whoever sends it.

A plan is a generator. It yields what is to be done (a `Request` to send, a `Pause` to make) and is sent what
came of it. `Client` carries plans out in the calling thread, `AsyncClient` on an event loop, and so each
operation, retries and paging among them, is written once.
"""

import functools
import json
import logging
import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

import httpx2

from costboost.client.errors import ApiError, UnreachableError

#: Says at INFO why a request is sent again.
log = logging.getLogger("costboost.client")

P = ParamSpec("P")
T = TypeVar("T")

#: Answers that say: later, perhaps.
_PASSING = frozenset({429, 503})
#: Of a request that is still under way, as after a broken connection.
_IN_PROGRESS = "idempotency_in_progress"
#: Items of a page.
_PAGE = 100
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 60.0


@dataclass(frozen=True)
class File:
    """A file as it is sent: its bytes, or where they are read from with each try."""

    content: bytes | Path
    media_type: str


@dataclass(frozen=True)
class Request:
    """A request to send.

    Attributes
    ----------
    content : bytes, optional
        The body; or it is a form of `fields` and one `file`, with the name of its part.
    repeatable : bool
        Whether sending it twice does no more than sending it once.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    file: tuple[str, File] | None = None
    repeatable: bool = True

    @contextmanager
    def body(self) -> Iterator[dict[str, Any]]:
        """What httpx calls the body, with the file open."""
        if self.file is None:
            yield {"content": self.content}
            return
        name, file = self.file
        with ExitStack() as opened:
            content: Any = file.content
            called = "table"
            if isinstance(content, Path):
                called, content = content.name, opened.enter_context(content.open("rb"))
            yield {"data": self.fields, "files": {name: (called, content, file.media_type)}}


@dataclass(frozen=True)
class Pause:
    """Time to let pass."""

    seconds: float


#: What came of a request; None after a pause.
Outcome: TypeAlias = httpx2.Response | httpx2.TransportError | None
Plan: TypeAlias = Generator[Request | Pause, Outcome, T]


def keyed() -> dict[str, str]:
    """Headers of a POST that creates something: all tries with this key create one."""
    return {"Idempotency-Key": uuid.uuid4().hex}


def as_json(
    method: str, path: str, body: Any, headers: Mapping[str, str] | None = None, *, repeatable: bool = True
) -> Request:
    """A request with a JSON body."""
    content = json.dumps(body, allow_nan=False).encode()
    typed = {"Content-Type": "application/json", **(headers or {})}
    return Request(method, path, headers=typed, content=content, repeatable=repeatable)


def ask(request: Request, retries: int) -> Plan[httpx2.Response]:
    """Send a request until it is answered for good.

    Raises
    ------
    ApiError
        The answer is a problem that waiting does not mend, or there were no more retries.
    UnreachableError
        There was no answer.
    """
    pause = _FIRST_PAUSE
    for left in range(retries, -1, -1):
        outcome = yield request
        if isinstance(outcome, httpx2.Response) and outcome.status_code < 400:
            return outcome
        if left == 0 or not _is_worth_another(request, outcome):
            raise _error_of(outcome)
        # Many clients that were refused at one moment shall not all come back at one.
        seconds = _told_pause(outcome) or pause * random.uniform(0.5, 1.0)  # noqa: S311  no secret
        log.info("%s; trying again in %.1f s", _met(outcome), seconds)
        yield Pause(seconds)
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise AssertionError("the last try has returned or raised")


def _is_worth_another(request: Request, outcome: Outcome) -> bool:
    if isinstance(outcome, httpx2.Response):
        return outcome.status_code in _PASSING or problem_of(outcome).get("code") == _IN_PROGRESS
    # What never reached the service can be sent again whatever it is.
    return request.repeatable or isinstance(outcome, httpx2.ConnectError | httpx2.ConnectTimeout)


def _told_pause(outcome: Outcome) -> float | None:
    """Seconds of `Retry-After`, which may also be a date."""
    told = outcome.headers.get("retry-after", "") if isinstance(outcome, httpx2.Response) else ""
    if told.isascii() and told.isdigit():
        return min(float(told[:9]), _LONGEST_PAUSE)
    try:
        seconds = (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), _LONGEST_PAUSE)


def _error_of(outcome: Outcome) -> ApiError | UnreachableError:
    if isinstance(outcome, httpx2.Response):
        return ApiError(outcome.status_code, problem_of(outcome), outcome.headers.get("x-request-id", ""))
    assert outcome is not None
    met = f"{_met(outcome)}: {outcome}"
    error = UnreachableError(f"no answer from {outcome.request.url} ({met}): does the service run there?")
    error.__cause__ = outcome
    return error


def _met(outcome: Outcome) -> str:
    if isinstance(outcome, httpx2.Response):
        return f"status {outcome.status_code}"
    return type(outcome).__name__


def problem_of(answer: httpx2.Response) -> Mapping[str, Any]:
    """The problem of an answer; of a proxy that answers otherwise, an empty one."""
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list of the service, and how one of its items is read."""

    path: str
    read: Callable[[Mapping[str, Any]], T]
    params: Mapping[str, Any] = field(default_factory=dict)

    def page(self, after: str | None, retries: int) -> Plan[tuple[list[T], str | None]]:
        """One page, and where the next one begins; None after the last."""
        told = {name: value for name, value in self.params.items() if value is not None}
        cursor = {} if after is None else {"after": after}
        answer = yield from ask(Request("GET", self.path, {**told, "limit": _PAGE, **cursor}), retries)
        document = answer.json()
        return [self.read(one) for one in document["data"]], document["next"]


class Blocking:
    """Base of a client whose operations return when they are done."""


class Awaiting:
    """Base of a client whose operations are awaited."""


class operation(Generic[P, T]):  # noqa: N801  a decorator
    """A method written as a plan: a `Client` carries it out when called, an `AsyncClient` when awaited."""

    def __init__(self, plan: Callable[Concatenate[Any, P], Plan[T]]) -> None:
        self.plan = plan
        functools.update_wrapper(cast(Any, self), plan)

    @overload
    def __get__(self, client: Blocking, owner: type | None = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type | None = None) -> Callable[P, Awaitable[T]]: ...
    @overload
    def __get__(self, client: None, owner: type | None = None) -> "operation[P, T]": ...
    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self

        @functools.wraps(self.plan)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.carry_out(self.plan(client, *args, **kwargs))

        return call


class listing(Generic[P, T]):  # noqa: N801  a decorator
    """A method that names a list: a `Client` iterates over its pages, an `AsyncClient` by `async for`."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Listing[T]]) -> None:
        self.describe = describe
        functools.update_wrapper(cast(Any, self), describe)

    @overload
    def __get__(self, client: Blocking, owner: type | None = None) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type | None = None) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, client: None, owner: type | None = None) -> "listing[P, T]": ...
    def __get__(self, client: Any, owner: type | None = None) -> Any:
        if client is None:
            return self

        @functools.wraps(self.describe)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.iterate(self.describe(client, *args, **kwargs))

        return call
