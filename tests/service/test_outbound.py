"""Posting to addresses that users name: only where everybody may go, and nowhere else on the way."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from service import outbound
from service.outbound import NotPostedError, Outbound, is_public
from tests.service.listener import Listener, listening


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


def resolving(*addresses: str) -> Any:
    def resolve(_host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolve


def refused(out: Outbound, url: str) -> str:
    with pytest.raises(NotPostedError) as caught:
        out.post(url, b"{}", {})
    return caught.value.code


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
        "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b:1::808:808",
        "::ffff:0:8.8.8.8", "::8.8.8.8", "fec0::1", "5f00::1", "3fff::1", "3fff:fff::1",
        "2001:0:a00:1::", "2001:0:808:808::f5ff:fffe", "no address",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://[::1]/", "https://localhost/"],
)
def test_however_it_is_spelled_this_machine_is_not_posted_to(url: str) -> None:
    assert refused(Outbound(), url) in ("not_public", "unresolved")


def test_one_private_address_among_public_ones_is_enough(listener: Listener) -> None:
    mixed = Outbound(resolve=resolving("93.184.216.34", "127.0.0.1"))
    assert refused(mixed, f"https://hook.example:{listener.port}/") == "not_public"


def test_a_name_is_resolved_once(listener: Listener) -> None:
    """What it would resolve to a second time is never asked for: the connection goes to the first address."""
    asked = []

    def rebinding(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        asked.append(host)
        assert len(asked) == 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    out = Outbound({"hook.example"}, rebinding)
    assert out.post(f"http://hook.example:{listener.port}/x", b"{}", {"X": "y"}) == 200
    [(headers, body)] = listener.posts
    assert (headers["host"], headers["path"], headers["x"]) == (f"hook.example:{listener.port}", "/x", "y")
    assert body == b"{}"


def test_without_tls_only_hosts_of_the_list_are_reached(listener: Listener) -> None:
    assert refused(Outbound(resolve=resolving("93.184.216.34")), "http://hook.example/") == "not_https"
    other_port = Outbound({f"127.0.0.1:{listener.port + 1}"})
    assert refused(other_port, listener.url) == "not_https"
    assert Outbound({f"127.0.0.1:{listener.port}"}).post(listener.url, b"", {}) == 200


def test_a_redirect_is_an_answer_like_any_other(listener: Listener) -> None:
    listener.answers = [302]
    assert Outbound({"127.0.0.1"}).post(listener.url, b"", {}) == 302
    assert len(listener.posts) == 1


def test_what_does_not_speak_tls_gets_nothing(listener: Listener) -> None:
    assert refused(Outbound({"127.0.0.1"}), f"https://127.0.0.1:{listener.port}/") == "tls"
    assert listener.posts == []


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert refused(Outbound({"127.0.0.1"}), f"http://127.0.0.1:{port}/") == "unreachable"
    assert refused(Outbound(), "https://no-such-host.invalid/") == "unresolved"


@contextmanager
def peer(first: bytes, then: bytes, pause: float = 0.01) -> Iterator[str]:
    """Somebody who takes what is posted, and then sends this and goes on with that for ever."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(1 << 16)
                stop.wait(pause)
                connection.sendall(first)
                while not stop.wait(0.01):
                    connection.sendall(then)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    ("first", "then", "code"),
    [
        (b"", b"", "timeout"),
        (b"", b"H", "timeout"),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", "timeout"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 200, "unreachable"),
    ],
    ids=["silent", "a byte now and then", "headers without an end", "interim answers without an end"],
)
def test_who_never_ends_an_answer_holds_nobody(
    monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes, code: str
) -> None:
    monkeypatch.setattr(outbound, "WHOLE_SECONDS", 15.0 if code == "unreachable" else 0.4)
    with peer(first, then) as url:
        assert refused(Outbound({"127.0.0.1"}), url) == code


def test_an_answer_may_take_longer_than_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "CONNECT_SECONDS", 0.2)
    with peer(b"HTTP/1.1 204 No Content\r\n\r\n", b"", pause=0.6) as url:
        assert Outbound({"127.0.0.1"}).post(url, b"{}", {}) == 204
