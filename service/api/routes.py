"""The route class of every router: strict JSON and no unknown query parameters."""

from collections.abc import Callable, Coroutine, Iterator
from functools import cached_property
from typing import Any, Final, get_args, get_origin

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from service.api.access import admit, scopes_of
from service.api.conditions import revalidated
from service.api.idempotency import answer_once, is_keyed
from service.domain import strict_json
from service.domain.access import Scope as AccessScope
from service.domain.errors import FieldError, MalformedError, UnsupportedMediaTypeError, pointer

JSON: Final = "application/json"


class StrictRoute(APIRoute):
    """
    A route that refuses what JSON or the contract does not have.

    Use it as `APIRouter(route_class=StrictRoute)`. Query parameters are those of the handler's signature and
    those written by hand in `openapi_extra["parameters"]`.
    """

    @property
    def is_creating(self) -> bool:
        """Whether a second time would make a second thing; to cancel twice is safe by itself."""
        makes = self.status_code in (201, 202) and "POST" in (self.methods or ())
        return makes and not self.path.endswith("/cancel")

    @property
    def has_tags(self) -> bool:
        """Whether what it answers to GET can be asked for with `If-None-Match`; figures always change."""
        return "GET" in (self.methods or ()) and "probes" not in self.tags

    @cached_property
    def known_parameters(self) -> set[str]:
        """Names that the query may have."""
        return {parameter.alias for parameter in _query_parameters(self.dependant)} | _written(self)

    @cached_property
    def listed_parameters(self) -> set[str]:
        """Names that the query may have more than once."""
        return {one.alias for one in _query_parameters(self.dependant) if _is_list(one.field_info.annotation)}

    def opened_by(self, method: str) -> tuple[AccessScope, ...] | None:
        """Tell the scopes of which a caller needs one; None where no key is needed."""
        if method not in self._opened_by:
            self._opened_by[method] = scopes_of(self.endpoint, [str(tag) for tag in self.tags], method)
        return self._opened_by[method]

    @cached_property
    def _opened_by(self) -> dict[str, tuple[AccessScope, ...] | None]:
        return {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit the caller and answer; what creates is done once for each `Idempotency-Key`."""
        await admit(scope, self.opened_by(scope["method"]))
        if self.is_creating and scope["method"] == "POST" and is_keyed(scope):
            await answer_once(super().handle, scope, receive, send)
        else:
            await super().handle(scope, receive, send)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            if request.scope["query_string"]:
                _refuse_unknown(request, self.known_parameters)
                _refuse_repeated(request, self.listed_parameters)
            sent = StrictRequest(request.scope, request.receive)
            if self.body_field is not None:
                await sent.json()  # before FastAPI does, which leaves out an empty body and asks less of it
            answer = _ended(await handle(sent))
            return revalidated(request, answer) if self.has_tags else answer

        return strict


class DirectRoute(StrictRoute):
    """
    A route whose handler takes the request and the parameters of its path, and answers with a response.

    It is called as it is: FastAPI's search for dependencies would take longer than to decide one row. Only
    for what neither creates nor is asked for with `If-None-Match`; its handler ends JSON with a newline.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether this is the route; a path without parameters is told by its end at once."""
        if not self.param_convertors and not scope["path"].endswith(self.path):
            return Match.NONE, {}
        return super().matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit the caller and answer."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)  # refuses it
            return
        await admit(scope, self.opened_by(scope["method"]))
        request = DirectRequest(scope, receive)
        if scope["query_string"]:
            _refuse_unknown(request, self.known_parameters)
        answer = await self.endpoint(request, **scope["path_params"])
        await answer(scope, receive, send)


class DirectRequest(Request):
    """A request whose body is read as a whole; it has mostly come in one piece."""

    async def body(self) -> bytes:
        """Give the whole body."""
        if not hasattr(self, "_body"):
            parts, is_over = list[bytes](), False
            while not is_over:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                is_over = not message.get("more_body", False)
            self._body = b"".join(parts)
        return self._body


def _ended(answer: Response) -> Response:
    """End JSON with a newline, so that a shell shows its prompt on a line of its own."""
    if answer.headers.get("content-type") == "application/json" and getattr(answer, "body", None):
        answer.body = bytes(answer.body) + b"\n"
        answer.headers["content-length"] = str(len(answer.body))
    return answer


class StrictRequest(Request):
    """A request whose JSON has one meaning only (`service.domain.strict_json`)."""

    async def json(self) -> Any:
        """Decode the body once.

        Raises
        ------
        UnsupportedMediaTypeError
            It does not say that it is JSON.
        MalformedError
        """
        if not hasattr(self, "_json"):
            check_json_type(self)
            self._json = strict_json.parse(await self.body())
        return self._json


def check_json_type(request: Request) -> None:
    """Refuse a body that does not say that it is JSON."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON and not (given.startswith("application/") and given.endswith("+json")):
        raise UnsupportedMediaTypeError(
            "unsupported_media_type", f"send `Content-Type: {JSON}`: the body is read as that"
        )


def _query_parameters(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for part in dependant.dependencies:
        yield from _query_parameters(part)


def _is_list(annotation: Any) -> bool:
    return any(get_origin(part) is list for part in (annotation, *get_args(annotation)))


def _written(route: APIRoute) -> set[str]:
    parameters = (route.openapi_extra or {}).get("parameters", ())
    return {one["name"] for one in parameters if one.get("in") == "query"}


def _named(known: set[str]) -> str:
    names = f"its parameters are {', '.join(sorted(known))}" if known else "it takes no parameters"
    return f"there is no parameter of this name here; {names}"


def _refuse_unknown(request: Request, known: set[str]) -> None:
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        faults = [FieldError(pointer("query", name), "unknown_parameter", _named(known)) for name in unknown]
        raise MalformedError("unknown_parameter", "the query has a parameter that is not known here", faults)


def _refuse_repeated(request: Request, listed: set[str]) -> None:
    names = [name for name, _ in request.query_params.multi_items() if name not in listed]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        detail = "the parameter comes twice"
        faults = [FieldError(pointer("query", name), "duplicate", detail) for name in twice]
        raise MalformedError("malformed", "a parameter of the query comes twice", faults)
