"""The route class of every router: strict JSON and no unknown query parameters."""

import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NoReturn

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.domain.errors import FieldError, MalformedError, pointer


class StrictRoute(APIRoute):
    """
    A route that refuses what JSON or the contract does not have.

    Use it as `APIRouter(route_class=StrictRoute)`. Query parameters are those of the handler's signature and
    those written by hand in `openapi_extra["parameters"]`.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()
        known = {parameter.alias for parameter in _query_parameters(self.dependant)} | _written(self)

        async def strict(request: Request) -> Response:
            if request.scope["query_string"]:
                _refuse_unknown(request, known)
            return _ended(await handle(StrictRequest(request.scope, request.receive)))

        return strict


def _ended(answer: Response) -> Response:
    """End JSON with a newline, so that a shell shows its prompt on a line of its own."""
    if answer.headers.get("content-type") == "application/json" and getattr(answer, "body", None):
        answer.body = bytes(answer.body) + b"\n"
        answer.headers["content-length"] = str(len(answer.body))
    return answer


class StrictRequest(Request):
    """A request whose JSON holds no NaN, no infinity, no NUL and no lone surrogate (400)."""

    async def json(self) -> Any:
        """Decode the body once."""
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = json.loads(body, parse_constant=_refuse_constant)
            if b"\\u" in body and not all(map(_is_storable, _texts(self._json))):
                raise HTTPException(400, "the body holds a NUL or half a surrogate pair")
        return self._json


def _refuse_constant(token: str) -> NoReturn:
    raise HTTPException(400, f"the body is not JSON: {token} is no JSON number")


def _texts(value: Any) -> Iterator[str]:
    """Walk over all strings of a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)


def _is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _query_parameters(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for part in dependant.dependencies:
        yield from _query_parameters(part)


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
