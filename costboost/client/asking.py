"""What all operations are made of."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2

from costboost.client.exchange import Plan, Request, ask

R = TypeVar("R")


class Asking:
    """Base of the operations: asks as often as the client wants."""

    retries: int

    def _ask(self, request: Request) -> Plan[httpx2.Response]:
        return (yield from ask(request, self.retries))

    def _document(self, request: Request) -> Plan[dict[str, Any]]:
        answer = yield from self._ask(request)
        document: dict[str, Any] = answer.json()
        return document

    def _read(self, path: str, **params: Any) -> Plan[dict[str, Any]]:
        return (yield from self._document(Request("GET", path, given(params))))

    def _change(self, method: str, path: str, content: bytes | None = None) -> Plan[httpx2.Response]:
        """Change what nobody else has changed since it was read just now."""
        present = yield from self._ask(Request("GET", path))
        headers = {"If-Match": present.headers["etag"], "Content-Type": "application/json"}
        # Once it was done the tag is another one: a second try would be refused although the first was heard.
        changed = Request(method, path, headers=headers, content=content, repeatable=False)
        return (yield from self._ask(changed))


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was said; what is left out is left to the service."""
    return {name: value for name, value in values.items() if value is not None}


def path(*parts: object) -> str:
    """A path of the API, each part as one segment."""
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)
