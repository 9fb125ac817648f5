"""The least that Starlette can do with the same request: read the body, answer a few bytes of JSON."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def answer(request: Request) -> Response:
    """Read, and say that it was read."""
    await request.body()
    return Response(b'{"status": "ok"}', media_type="application/json")


app = Starlette(routes=[Route("/", answer, methods=["GET", "POST"])])
