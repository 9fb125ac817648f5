"""An answer's head and body go as one write; a head whose body is not there yet goes without it."""

import asyncio
from collections.abc import Callable

from service.api.one_write import OneWrite


class Written(asyncio.Transport):
    """Keeps what is written, and refuses it once closed, as transports of sockets do."""

    def __init__(self) -> None:
        super().__init__({"peername": "somebody"})
        self.writes, self.closed = list[bytes](), False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        assert not self.closed
        self.writes.append(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed


def written(*turns: Callable[[OneWrite], None]) -> Written:
    """Do these, each in a turn of the loop of its own."""
    transport = Written()

    async def main() -> None:
        one = OneWrite(transport, asyncio.get_running_loop())
        for turn in turns:
            turn(one)
            await asyncio.sleep(0)

    asyncio.run(main(), debug=True)
    return transport


def head_and_body(one: OneWrite) -> None:
    one.write(b"head ")
    one.write(b"body")


def test_what_is_written_within_one_turn_is_one_write():
    assert written(head_and_body, head_and_body).writes == [b"head body"] * 2


def test_what_comes_alone_is_written_in_the_next_turn():
    assert written(lambda one: one.write(b"head "), lambda one: one.write(b"event")).writes == [
        b"head ",
        b"event",
    ]


def test_what_is_large_is_not_copied():
    large = bytes(100_000)
    transport = written(lambda one: (one.write(b"head "), one.write(large))[0], lambda one: one.write(large))
    assert transport.writes == [b"head ", large, large]
    assert transport.writes[1] is large


def test_a_close_comes_after_what_was_written():
    transport = written(lambda one: (one.write(b"head "), one.close())[0])
    assert transport.closed
    assert transport.writes == [b"head "]


def test_what_is_held_when_the_connection_breaks_is_dropped():
    transport = written(lambda one: (one.write(b"head "), one.abort())[0])
    assert transport.closed
    assert transport.writes == []


def test_all_else_is_asked_of_the_transport():
    names = list[str]()
    written(lambda one: names.append(one.get_extra_info("peername")))
    assert names == ["somebody"]
