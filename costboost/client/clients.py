"""Who carries plans out: in the calling thread, or on an event loop."""

import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Self, TypeVar

import anyio
import httpx2

from costboost.client.errors import ClientError
from costboost.client.exchange import Awaiting, Blocking, Listing, Outcome, Pause, Plan, Request
from costboost.client.jobs import AsyncJob, Job
from costboost.client.operations import Operations

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:8000"


class Client(Operations[Job], Blocking):
    """A service, whose operations return when they are done.

    Parameters
    ----------
    url : str, optional
        Where the service is; `COSTBOOST_URL` if left out, else this machine.
    api_key : str, optional
        `COSTBOOST_API_KEY` if left out. A service on a loopback address needs none.
    timeout : float
        Seconds of silence after which a try is given up.
    retries : int
        How often a request is sent again that was told to come later, or whose connection broke.

    Raises
    ------
    ClientError
        The address or the key cannot be one.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000", retries=2)
    >>> client.close()
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, timeout: float = 90.0, retries: int = 5
    ) -> None:
        self.retries = retries
        self._http = httpx2.Client(**_options(url, api_key, timeout))

    def carry_out(self, plan: Plan[T]) -> T:
        """Do what a plan asks for, and give its result."""
        try:
            step = next(plan)
            while True:
                step = plan.send(self._do(step))
        except StopIteration as end:
            result: T = end.value
            return result

    def _do(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            with step.body() as body:
                return self._http.request(
                    step.method, step.path, params=step.params, headers=step.headers, **body
                )
        except httpx2.TransportError as error:
            return error

    def iterate(self, wanted: Listing[T]) -> Iterator[T]:
        """Go through a list, one page at a time."""
        after, is_over = None, False
        while not is_over:
            items, after = self.carry_out(wanted.page(after, self.retries))
            yield from items
            is_over = after is None

    def _made_job(self, document: Mapping[str, Any]) -> Job:
        return Job.of(document, client=self)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Operations[AsyncJob], Awaiting):
    """A service, whose operations are awaited; otherwise as `Client`.

    Examples
    --------
    >>> import asyncio
    >>> async def main() -> None:
    ...     async with AsyncClient("http://127.0.0.1:8000") as client:
    ...         pass
    >>> asyncio.run(main())
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, timeout: float = 90.0, retries: int = 5
    ) -> None:
        self.retries = retries
        self._http = httpx2.AsyncClient(**_options(url, api_key, timeout))

    async def carry_out(self, plan: Plan[T]) -> T:
        """Do what a plan asks for, and give its result."""
        try:
            step = next(plan)
            while True:
                step = plan.send(await self._do(step))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _do(self, step: Request | Pause) -> Outcome:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        try:
            with step.body() as body:
                return await self._http.request(
                    step.method, step.path, params=step.params, headers=step.headers, **body
                )
        except httpx2.TransportError as error:
            return error

    async def iterate(self, wanted: Listing[T]) -> AsyncIterator[T]:
        """Go through a list, one page at a time."""
        after, is_over = None, False
        while not is_over:
            items, after = await self.carry_out(wanted.page(after, self.retries))
            for item in items:
                yield item
            is_over = after is None

    def _made_job(self, document: Mapping[str, Any]) -> AsyncJob:
        return AsyncJob.of(document, client=self)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _options(url: str | None, api_key: str | None, timeout: float) -> dict[str, Any]:
    key = api_key or os.environ.get("COSTBOOST_API_KEY")
    if key and not (key.isascii() and key.isprintable()):
        raise ClientError("the API key holds a letter that no key has")
    address = url or os.environ.get("COSTBOOST_URL") or DEFAULT_URL
    if re.match(r"https?://[^/?#]", address, re.IGNORECASE) is None:
        raise ClientError(f"{address} is no address of a service, such as {DEFAULT_URL}")
    return {
        "base_url": address,
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": timeout,
    }
