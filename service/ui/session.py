"""Signing in with an API key, which a cookie then holds for the pages alone, and signing out."""

from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from service.ui.forms import Submitted
from service.ui.rendering import COOKIE, render, send_on
from service.ui.routes import SIGN_IN, PageRoute

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["probes"])


@router.get(SIGN_IN)
def show_sign_in(request: Request, next: Annotated[str, Query(max_length=2000)] = "/ui") -> Response:
    """Ask for an API key."""
    return render(request, "sign_in.html", next=_inside(next))


@router.post(SIGN_IN)
async def sign_in(request: Request, form: Submitted) -> Response:
    """Take a key, if it is valid, and keep it in a cookie that neither scripts nor other sites can use."""
    key = form.required("key")
    ring = request.app.state.keys
    if ring.cached(key) is None:
        await anyio.to_thread.run_sync(ring.load, key)
    answer = send_on(request, _inside(form.text("next") or "/ui"))
    answer.set_cookie(COOKIE, key, path="/ui", httponly=True, samesite="strict", secure=_is_https(request))
    return answer


@router.post("/ui/sign-out")
def sign_out(request: Request) -> Response:
    """Forget the key; it stays valid."""
    answer = send_on(request, SIGN_IN if request.app.state.needs_keys else "/ui")
    answer.delete_cookie(COOKIE, path="/ui", httponly=True, samesite="strict")
    return answer


def _inside(address: str) -> str:
    """Lead nowhere but to our own pages."""
    is_own = address == "/ui" or address.startswith(("/ui/", "/ui?"))
    return address if is_own and "\\" not in address else "/ui"


def _is_https(request: Request) -> bool:
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
