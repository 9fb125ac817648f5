"""Clients that stop sending are let go; others do not notice them."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from service.api import deadlines
from tests.service.conftest import Service

HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "HEAD_SECONDS", 0.6)
    monkeypatch.setattr(deadlines, "STALL_SECONDS", 0.6)


@pytest.fixture
def wire(sqlite_service: Service) -> Iterator[socket.socket]:
    where = urlsplit(str(sqlite_service.http.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=10) as connection:
        yield connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def dribble(connection: socket.socket) -> None:
    """Send a byte now and then until the other side has closed, ten seconds at most."""
    with suppress(OSError):
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.1)


@pytest.mark.parametrize("begun", [b"", b"G", b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_headers_that_do_not_end(wire: socket.socket, begun: bytes) -> None:
    wire.sendall(begun)
    assert received(wire) == b""


def test_a_byte_now_and_then_does_not_help(wire: socket.socket) -> None:
    begin = time.monotonic()
    wire.sendall(b"GET /livez HTTP/1.1\r\nX-Slow: ")
    dribble(wire)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        (b"/predict", b"application/json"),
        (b"/v1/cost-specs", b"application/json"),
        (b"/v1/datasets", b"text/csv"),
        (b"/v1/datasets", b"multipart/form-data; boundary=x"),
        (b"/v1/training-jobs", b"multipart/form-data; boundary=x"),
    ],
)
def test_a_body_that_stops(
    sqlite_service: Service, wire: socket.socket, path: bytes, media_type: bytes
) -> None:
    wire.sendall(HEAD % (path, media_type) + b"--x\r\n")
    answer = received(wire)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"body_stalled"' in answer
    assert list(sqlite_service.wiring.store._incoming.iterdir()) == []


def test_a_stalled_request_leaves_its_key_free(sqlite_service: Service, wire: socket.socket) -> None:
    head = HEAD.replace(b"Host:", b"Idempotency-Key: stalled\r\nHost:")
    wire.sendall(head % (b"/v1/cost-specs", b"application/json") + b"{")
    assert received(wire).startswith(b"HTTP/1.1 408 ")
    again = sqlite_service.http.post(
        "/v1/cost-specs", json={"name": "s", "fn": 5, "fp": 1}, headers={"Idempotency-Key": "stalled"}
    )
    assert again.status_code == 201


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        HEAD % (b"/predict", b"text/csv") + b"x" * 1000 + b"more",
        HEAD.replace(b"Host", b"Content-Length: 5\r\nHost") % (b"/predict", b"text/csv"),
        HEAD % (b"/" + b"a" * 70_000, b"text/csv"),
    ],
)
def test_what_is_no_http_is_refused_by_a_problem(wire: socket.socket, sent: bytes) -> None:
    wire.sendall(sent)
    head, _, body = received(wire).rpartition(b"\r\n\r\n")
    assert b"HTTP/1.1 400 " in head
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["code"] == "malformed"


def test_what_follows_an_answer_is_not_waited_for_either(wire: socket.socket) -> None:
    """The body was refused unread; the rest of it comes too slowly."""
    wire.sendall(HEAD % (b"/predict", b"text/html") + b"x")
    begin = time.monotonic()
    dribble(wire)
    assert time.monotonic() - begin < 5


def test_a_slow_body_that_goes_on_is_read(wire: socket.socket) -> None:
    body = b'{"name": "slow", "fn": 5, "fp": 1}'
    head = HEAD.replace(b"1000", str(len(body)).encode())
    wire.sendall(head % (b"/v1/cost-specs", b"application/json"))
    for first in range(0, len(body), 8):
        time.sleep(0.2)
        wire.sendall(body[first : first + 8])
    assert wire.recv(65536).startswith(b"HTTP/1.1 201 ")


def test_who_waits_for_a_job_is_not_cut_off(sqlite_service: Service) -> None:
    """After the body only the end of the connection is waited for, for as long as the handler takes."""
    dataset = sqlite_service.upload("a,label\n" + "".join(f"{row},{row % 2}\n" for row in range(60)))
    spec = {"model": "waits", "dataset": dataset["id"], "costs": {"fn": 5, "fp": 1}}
    path = sqlite_service.http.post("/v1/training-jobs", json=spec).headers["location"]
    begin = time.monotonic()
    answer = sqlite_service.http.get(path, headers={"Prefer": "wait=2"})
    assert answer.status_code == 200
    assert time.monotonic() - begin >= 1.5


def test_at_its_end_a_request_that_is_on_its_way_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LAST_SECONDS", 60.0)
    has_stopped = threading.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"o", "more_body": True})
        while scope["path"] == "/slow" and not has_stopped.is_set():
            await asyncio.sleep(0.01)
        await send({"type": "http.response.body", "body": b"k"})

    server = uvicorn.Server(
        uvicorn.Config(
            answer, port=0, http=deadlines.DeadlineProtocol, ws="none", lifespan="off", log_config=None
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    where = server.servers[0].sockets[0].getsockname()
    with socket.create_connection(where, timeout=30) as idle, socket.create_connection(where, 30) as busy:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        read_until(idle, b"ok")
        busy.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        read_until(busy, b"o")
        server.should_exit = True
        while is_open(where):
            pass
        has_stopped.set()
        read_until(busy, b"k")
        for connection in (idle, busy):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"connection: close" in received(connection)
    thread.join(30)
    assert not thread.is_alive()


def is_open(where: tuple[str, int]) -> bool:
    try:
        socket.create_connection(where, timeout=30).close()
    except ConnectionError:
        return False
    return True


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """What comes until it ends so."""
    data = b""
    while not data.endswith(end):
        data += connection.recv(65536)
    return data
