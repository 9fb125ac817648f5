"""HEAD wherever GET is: the same headers, no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """
    Answers HEAD as the handler of GET would; the server sends the head of the answer alone.

    It must be the outermost layer: the scope that the server keeps still says HEAD.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            # As of 2.4 an answer does not listen for the end of the connection: its head is always sent.
            asgi = {**scope["asgi"], "spec_version": "2.4"}
            await self.app({**scope, "method": "GET", "asgi": asgi}, _hung_up(receive), send)
        else:
            await self.app(scope, receive, send)


def _hung_up(receive: Receive) -> Receive:
    """After the body of the request nobody listens any more, so a stream of events ends at once."""
    ended = False

    async def receive_once() -> Message:
        nonlocal ended
        if ended:
            return {"type": "http.disconnect"}
        message = await receive()
        ended = not message.get("more_body", False)
        return message

    return receive_once
