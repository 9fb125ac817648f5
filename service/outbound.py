"""Posting to addresses that somebody else has named, without being led to where they must not reach.

A name is resolved once and the connection goes to that very address, so that a second answer of the name
service cannot lead elsewhere. Only addresses that everybody can reach are posted to, unless the host is on
the operator's list. Nothing is redirected, and of the answer nothing but the status is read.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

#: For connecting, and from then on for all of it, in seconds.
CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 15.0
#: That are read of an answer, headers and interim answers (100) together.
MOST_BYTES = 1 << 16

#: Addresses that end in an IPv4 one, which a translator on the way may send to.
_V4_IN_V6 = ipaddress.IPv6Network("64:ff9b::/96")
#: Not public, though `is_global` of Python 3.11 says so.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "::/96",  # IPv4-compatible, deprecated
            "::ffff:0:0:0/96",  # IPv4-translated
            "64:ff9b:1::/48",  # translation within a network
            "3fff::/20",  # documentation
            "5f00::/16",  # segment routing
            "fec0::/10",  # site-local, deprecated
        ),
    )
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[..., list[tuple[Any, ...]]]


class NotPostedError(Exception):
    """Nobody answered, or the address must not be posted to.

    Attributes
    ----------
    code : str
        "unresolved", "not_public", "not_https", "unreachable", "tls" or "timeout".
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Outbound:
    """
    The way out.

    Attributes
    ----------
    allowed : collection of str
        Hosts, "name" or "name:port", that may be reached though they are not public, and without TLS.
    resolve : callable
        `socket.getaddrinfo`.
    """

    allowed: Collection[str] = ()
    resolve: Resolve = socket.getaddrinfo

    def refusal(self, url: str) -> str | None:
        """
        Tell by which code an address can never be posted to, or None.

        No name is resolved: what a name leads to is looked at with each post.
        """
        parts = urlsplit(url)
        if self._is_allowed(parts):
            return None
        if parts.scheme != "https":
            return "not_https"
        try:
            found = socket.getaddrinfo(parts.hostname, None, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):  # a name
            return None
        return None if all(is_public(str(entry[4][0])) for entry in found) else "not_public"

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """
        Post a body and tell the status code of the answer.

        Raises
        ------
        NotPostedError
        """
        parts = urlsplit(url)
        address = self._address(parts)
        try:
            with socket.create_connection((address, _port(parts)), CONNECT_SECONDS) as plain:
                return _posted(plain, parts, body, headers)
        except TimeoutError:
            raise NotPostedError("timeout") from None
        except ssl.SSLError:
            raise NotPostedError("tls") from None
        except (OSError, ValueError, http.client.HTTPException):
            raise NotPostedError("unreachable") from None

    def _address(self, parts: SplitResult) -> str:
        host, port = parts.hostname or "", _port(parts)
        is_allowed = self._is_allowed(parts)
        if parts.scheme != "https" and not is_allowed:
            raise NotPostedError("not_https")
        try:
            found = self.resolve(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise NotPostedError("unresolved") from None
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses:
            raise NotPostedError("unresolved")
        if not is_allowed and not all(map(is_public, addresses)):
            raise NotPostedError("not_public")
        return addresses[0]

    def _is_allowed(self, parts: SplitResult) -> bool:
        host = parts.hostname or ""
        return not {host, f"{host}:{_port(parts)}"}.isdisjoint(self.allowed)


def is_public(text: str) -> bool:
    """Whether an address is one that everybody can reach, also when it is an IPv4 one within an IPv6 one."""
    try:
        address: Address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return all(one.is_global and not one.is_multicast for one in (address, *_within(address)))


def _within(address: Address) -> list[Address]:
    if address.version == 4:
        return []
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _V4_IN_V6:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return [one for one in inner if one is not None]


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _posted(plain: socket.socket, parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> int:
    """Post over a connection that is there; the name is for TLS and for the header Host."""
    connection = http.client.HTTPConnection(parts.netloc)
    connection.response_class = _Answer
    plain.settimeout(WHOLE_SECONDS)
    connection.sock = _wrapped(plain, parts)
    # Of a single read that is the limit; a peer that sends a byte now and then would still hold us for ever.
    is_late = threading.Event()
    cut = threading.Timer(WHOLE_SECONDS, _shut, [connection.sock, is_late])
    cut.start()
    try:
        if isinstance(connection.sock, ssl.SSLSocket):
            connection.sock.do_handshake()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, dict(headers))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        if is_late.is_set():
            raise TimeoutError from None
        raise
    finally:
        cut.cancel()
        connection.close()
    if is_late.is_set():  # what was cut off looks like the end of the headers
        raise TimeoutError
    return status


class _Answer(http.client.HTTPResponse):
    """An answer of which only so much is read: a peer may send interim ones without end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fp = cast(BufferedReader, _Bounded(self.fp, MOST_BYTES))


class _Bounded:
    def __init__(self, file: BufferedReader, most: int) -> None:
        self._file, self._left = file, most

    def readline(self, size: int = -1) -> bytes:
        line = self._file.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.HTTPException("too much before the end of the headers")
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _wrapped(plain: socket.socket, parts: SplitResult) -> socket.socket:
    if parts.scheme != "https":
        return plain
    context = ssl.create_default_context()
    return context.wrap_socket(plain, server_hostname=parts.hostname, do_handshake_on_connect=False)


def _shut(connected: socket.socket, is_late: threading.Event) -> None:
    is_late.set()
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
