"""Refusals and failures around the pages, as pages: what comes from a layer below would else be JSON."""

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.problems import MEDIA_TYPE
from service.domain.errors import CostboostError, FieldError
from service.ui.rendering import is_partial, render

#: Of a problem they describe its JSON, or are those of every page.
_OF_THE_BODY: Final = frozenset({"content-length", "content-type"})


class ProblemPages:
    """Shows people what a layer, the framework or an unexpected error answers as a problem in JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not f"{scope['path']}/".startswith("/ui/"):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def send_shown(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _page(Request(scope, receive), start, json.loads(body))(scope, receive, send)

        await self.app(scope, receive, send_shown)


def _is_problem(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "") == MEDIA_TYPE


def _page(request: Request, start: Message, problem: Mapping[str, Any]) -> Response:
    given = Headers(raw=start["headers"])
    faults = [FieldError(**one) for one in problem.get("errors", ())]
    return render(
        request,
        "parts/problem.html" if is_partial(request) else "problem.html",
        status=start["status"],
        headers={name: text for name, text in given.items() if name not in _OF_THE_BODY},
        error=CostboostError(problem["code"], problem["detail"], faults),
        request_id=problem["request_id"],
    )
