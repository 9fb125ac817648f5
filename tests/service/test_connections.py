"""Many connections, and the end while they are busy: what is taken is answered, and nobody is in the way."""

import json
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from service.api import deadlines
from service.main import allow_connections
from tests.service.conftest import Service
from tests.service.test_main import Served

IDLE = 10_000


@pytest.fixture
def serve(tmp_path: Path, wait_until: Callable[..., None]) -> Iterator[Callable[[], Served]]:
    """Start a service without worker; each call starts one on the same data."""
    with ExitStack() as stack:

        def start() -> Served:
            served = Served(tmp_path, "--no-worker")
            stack.callback(served.process.wait, 30)
            stack.callback(served.process.terminate)
            wait_until(lambda: served.process.poll() is not None or served.url(), 60.0)
            return served

        yield start


def connect(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=60)


def spec(name: str) -> bytes:
    return json.dumps({"name": name, "fn": 5, "fp": 1}).encode()


class Half:
    """A request of which one half was sent, and which the service has begun to read."""

    def __init__(self, url: str, name: str) -> None:
        self.name, self._body = name, spec(name)
        head = "POST /v1/cost-specs HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
        head = head.format(urlsplit(url).netloc) + f"Content-Length: {len(self._body)}\r\n"
        self._wire = connect(url)
        self._wire.sendall(head.encode() + b"Expect: 100-continue\r\n\r\n")
        # This is said by whoever reads the body.
        assert self._wire.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        self._wire.sendall(self._body[:9])

    def finish(self) -> bytes:
        """Send the rest, and read until the other side closes."""
        self._wire.sendall(self._body[9:])
        parts = list(iter(lambda: self._wire.recv(65536), b""))
        self._wire.close()
        return b"".join(parts)


class Load:
    """Threads that store cost specs one after the other until their connection ends."""

    def __init__(self, url: str, threads: int) -> None:
        self.acknowledged: list[str] = []
        self.others: list[int] = []
        self._url = url
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _run(self, thread: int) -> None:
        with httpx2.Client(base_url=self._url, timeout=60.0) as http:
            for number in range(10_000):
                name = f"t{thread}-{number}"
                try:
                    answer = http.post("/v1/cost-specs", json=json.loads(spec(name)))
                except httpx2.TransportError:
                    return
                if answer.status_code == 201:
                    self.acknowledged.append(name)
                else:
                    self.others.append(answer.status_code)


def stored(url: str) -> list[str]:
    """Names of all cost specs."""
    names, path = list[str](), "/v1/cost-specs?limit=100"
    with httpx2.Client(base_url=url, timeout=60.0) as http:
        while True:
            page = http.get(path).json()
            names += [one["name"] for one in page["data"]]
            if not page["has_more"]:
                return names
            path = page["next"]


def test_at_its_end_under_load_all_that_was_taken_is_answered_and_nothing_else_was_done(
    serve: Callable[[], Served], wait_until: Callable[..., None]
) -> None:
    served = serve()
    url = str(served.url())
    load = Load(url, 4)
    wait_until(lambda: len(load.acknowledged) >= 20, 60.0)
    halves = [Half(url, f"half-{number}") for number in range(8)]
    served.process.send_signal(signal.SIGTERM)
    load.join()
    for half in halves:
        answer = half.finish()
        assert answer.startswith(b"HTTP/1.1 201 "), answer
    assert served.process.wait(30) == 0
    assert load.others == []
    with pytest.raises(ConnectionError):
        connect(url)
    # What was answered is there, and what was not answered was not done.
    names = load.acknowledged + [half.name for half in halves]
    assert sorted(stored(str(serve().url()))) == sorted(names)


def test_at_its_end_those_are_answered_who_were_let_in_but_not_yet_heard(
    serve: Callable[[], Served],
) -> None:
    served = serve()
    url = str(served.url())
    with ExitStack() as stack:
        fresh, silent = hold(stack, url, 2)
        served.process.send_signal(signal.SIGSTOP)
        queued = hold(stack, url, 20)  # by the kernel, as the process does nothing
        for wire in (*queued, fresh, silent):
            wire.settimeout(30.0)
        for wire in (*queued, fresh):
            wire.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        served.process.send_signal(signal.SIGTERM)
        served.process.send_signal(signal.SIGCONT)
        for wire in (*queued, fresh):
            with wire.makefile("rb") as answer:
                assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
        assert silent.recv(1) == b""
    assert served.process.wait(30) == 0


def is_closed(wire: socket.socket) -> bool:
    try:
        return wire.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def hold(stack: ExitStack, url: str, number: int) -> list[socket.socket]:
    """Open connections and say nothing."""
    wires = [stack.enter_context(connect(url)) for _ in range(number)]
    for wire in wires:
        wire.setblocking(False)
    return wires


def test_silent_connections_are_let_go_and_others_are_answered(
    sqlite_service: Service, wait_until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "HEAD_SECONDS", 2.0)
    with ExitStack() as stack:
        wires = hold(stack, str(sqlite_service.http.base_url), 200)
        assert sqlite_service.http.get("/livez").status_code == 200
        wait_until(lambda: all(map(is_closed, wires)), 60.0)
    assert sqlite_service.http.get("/livez").status_code == 200


@pytest.mark.slow
def test_ten_thousand_silent_connections(
    serve: Callable[[], Served], wait_until: Callable[..., None]
) -> None:
    allow_connections()
    url, number = str(serve().url()), min(IDLE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500)
    with ExitStack() as stack, httpx2.Client(base_url=url, timeout=30.0) as http:
        wires = hold(stack, url, number)
        for _ in range(100):
            assert http.get("/livez").status_code == 200
        wait_until(lambda: all(map(is_closed, wires)), 120.0)
        assert http.get("/v1/models").status_code == 200


def test_as_many_files_as_allowed_may_be_open() -> None:
    code = (
        "import resource, service.main as m; n = resource.RLIMIT_NOFILE; "
        "resource.setrlimit(n, (256, resource.getrlimit(n)[1])); m.allow_connections(); "
        "print(*resource.getrlimit(n))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    soft, hard = map(int, told.stdout.split())
    assert soft == (65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536))
