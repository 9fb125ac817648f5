"""A small HTTP load: some connections, each sending the same request again as soon as it is answered."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import numpy as np
import uvloop


@dataclass(frozen=True)
class Traffic:
    """What some connections send.

    Parameters
    ----------
    port : int
        On 127.0.0.1.
    request : bytes
        A whole HTTP/1.1 request, kept alive.
    connections : int
    """

    port: int
    request: bytes
    connections: int


@dataclass
class Answers:
    """What came back.

    Attributes
    ----------
    seconds : float
        Of the whole load.
    latencies : list of float
        Seconds from the first byte out to the last byte in.
    """

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds

    def milliseconds(self, percentile: float) -> float:
        """Latency that so many per cent of the answers do not exceed."""
        return 1e3 * float(np.percentile(self.latencies, percentile))


def post(path: str, body: bytes, content_type: str = "application/json", accept: str = "*/*") -> bytes:
    """Write a request whole."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n"
        f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


def drive(traffics: Sequence[Traffic], seconds: float) -> list[Answers]:
    """Send all traffics at once for so long.

    Raises
    ------
    RuntimeError
        An answer was not 200, or a connection was closed.
    """
    return uvloop.run(_drive(traffics, seconds))


async def _drive(traffics: Sequence[Traffic], seconds: float) -> list[Answers]:
    loop = asyncio.get_running_loop()
    answers = [Answers() for _ in traffics]
    began = time.perf_counter()
    until = began + seconds
    ends: list[asyncio.Future[None]] = []
    for traffic, its in zip(traffics, answers, strict=True):
        for _ in range(traffic.connections):
            connection = _Connection(traffic.request, its, until, loop.create_future())
            await loop.create_connection(partial(_same, connection), "127.0.0.1", traffic.port)
            ends.append(connection.ended)
    await asyncio.gather(*ends)
    for its in answers:
        its.seconds = time.perf_counter() - began
    return answers


def _same(connection: "_Connection") -> "_Connection":
    return connection


class _Connection(asyncio.Protocol):
    def __init__(self, request: bytes, answers: Answers, until: float, ended: "asyncio.Future[None]") -> None:
        self.ended = ended
        self._request, self._answers, self._until = request, answers, until
        self._head = b""
        self._missing = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        if self._missing < 0:
            self._head += data
            head, found, body = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            try:
                self._missing = body_length(head) - len(body)
            except RuntimeError as error:
                self._fail(RuntimeError(f"{error}: {body[:300]!r}"))
                return
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self._answered()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self._fail(RuntimeError(f"the connection was closed: {error}"))

    def _answered(self) -> None:
        now = time.perf_counter()
        self._answers.latencies.append(now - self._sent)
        if now >= self._until:
            self.ended.set_result(None)
            self._transport.close()
        else:
            self._send()

    def _fail(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)
        self._transport.abort()

    def _send(self) -> None:
        self._head, self._missing = b"", -1
        self._sent = time.perf_counter()
        self._transport.write(self._request)


def body_length(head: bytes) -> int:
    """Length of the body that the head of an answer promises.

    Raises
    ------
    RuntimeError
        The status is not 200, or no length is given.
    """
    status, *fields = head.split(b"\r\n")
    if status.split()[1] != b"200":
        raise RuntimeError(status.decode("latin-1"))
    lengths = [int(line.partition(b":")[2]) for line in fields if line.lower().startswith(b"content-length:")]
    if len(lengths) != 1:
        raise RuntimeError("the answer does not say how long it is")
    return lengths[0]
