"""The route class of every page: who asks, where from, and refusals as pages."""

import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from service import learning
from service.api.access import admit_key, scopes_of
from service.api.errors import OUTAGES, status_of, unavailable_of
from service.domain.errors import CostboostError, ForbiddenError, UnauthorizedError
from service.domain.faults import field_errors, refusal
from service.ui.rendering import COOKIE, is_partial, render, send_on

SIGN_IN = "/ui/sign-in"

_TOLD: tuple[type[Exception], ...] = (CostboostError, RequestValidationError, *OUTAGES)


class PageRoute(APIRoute):
    """
    A route that a person uses with a browser.

    Its tag says which scopes open it, as in the API. The key comes as a cookie, so that whatever changes
    something must come from one of our own pages.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit the caller and answer; a refusal is a page that says what to do."""
        request = Request(scope, receive)
        try:
            if scope["method"] != "GET":
                require_own_page(request)
            await self._admit(request)
        except _TOLD as error:
            await _told(request, error)(scope, receive, send)
        else:
            _look_ahead()
            await super().handle(scope, receive, send)

    async def _admit(self, request: Request) -> None:
        scopes = scopes_of(self.endpoint, [str(tag) for tag in self.tags], request.method)
        if scopes is None:
            return
        key = request.cookies.get(COOKIE)
        if key is not None:
            await admit_key(request.scope, scopes, key)
        elif request.app.state.needs_keys:
            raise UnauthorizedError("unauthorized", "sign in with an API key")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                return await handle(request)
            except _TOLD as error:
                return _told(request, error)

        return shown


@functools.cache
def _look_ahead() -> None:
    """Look at the algorithms once, aside, as soon as somebody looks at a page: it takes seconds."""
    threading.Thread(target=learning.algorithms, name="algorithms", daemon=True).start()


def require_own_page(request: Request) -> None:
    """
    Refuse what another site lets a browser send.

    The cookie is not sent along from there either (`SameSite=Strict`); browsers add `Origin` to every POST.

    Raises
    ------
    ForbiddenError
    """
    origin = request.headers.get("origin")
    if origin is not None:
        is_own = origin.partition("://")[2] == request.headers.get("host", "")
    else:
        is_own = request.headers.get("sec-fetch-site") == "same-origin"
    if not is_own:
        raise ForbiddenError("foreign_origin", "this can be sent from a page of this service only")


def _told(request: Request, error: Exception) -> Response:
    """Show what went wrong; what is a fault of ours goes on to who logs it."""
    if isinstance(error, RequestValidationError):
        return refused(request, refusal(field_errors(error.errors(), error.body)))
    known = error if isinstance(error, CostboostError) else unavailable_of(error)
    if known is None:
        raise error
    return refused(request, known)


def refused(request: Request, error: CostboostError) -> Response:
    """Show a refusal: as a page, or as the part of one that asked; who must sign in is led there."""
    if isinstance(error, UnauthorizedError) and request.url.path != SIGN_IN:
        return _to_sign_in(request)
    name = "parts/problem.html" if is_partial(request) else "problem.html"
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return render(request, name, status=status_of(error), headers=headers, error=error)


def _to_sign_in(request: Request) -> Response:
    if is_partial(request):
        return send_on(request, SIGN_IN)
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    address = f"{SIGN_IN}?next={quote(asked, safe='')}" if request.method == "GET" else SIGN_IN
    answer = RedirectResponse(address, 303)
    answer.delete_cookie(COOKIE, path="/ui", httponly=True, samesite="strict")
    return answer
