"""Watching one child from outside: its messages, its limits, its end."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import psutil

from service.processes.guard import Ending, Guard, Outcome, outcome_of_error
from service.processes.server import kill_group

Message = dict[str, Any]

#: How often the resident memory and the deadline of a child are looked at, in seconds.
TICK = 0.025
#: How often its descendants are counted, and `cancelled` is asked.
LOOK = 0.25


class Child:
    """One child while it lives."""

    def __init__(
        self,
        pid: int,
        connection: socket.socket,
        guard: Guard,
        on_message: Callable[[Message], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.pid = pid
        self._connection = connection
        self._guard = guard
        self._on_message = on_message
        self._cancelled = cancelled
        self._deadline = time.monotonic() + (guard.seconds or float("inf"))
        self._next_look = 0.0
        self._unread = b""
        self._gone = False
        self.born = born(pid)

    def send(self, request: Message) -> None:
        """Hand over what is to be done."""
        try:
            self._connection.sendall(json.dumps(request).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            # It is dead already, which `watch` sees and says.
            return
        finally:
            self._connection.settimeout(TICK)

    def watch(self) -> Outcome:
        """Read messages until the end, looking after the limits meanwhile."""
        while True:
            data = self._receive()
            ending = self._lines(data) if data else self._over()
            if ending is not None:
                return ending
            if data == b"":
                return Outcome(Ending.DIED)
            if data is None and self._gone:
                return self._last_words() or Outcome(Ending.DIED)

    def close(self) -> None:
        """Kill whatever is left of the group."""
        kill_group(self.pid)
        self._connection.close()

    def _receive(self) -> bytes | None:
        """Return what came within a tick: None for nothing yet, b"" for nothing ever again."""
        try:
            return self._connection.recv(1 << 16)
        except TimeoutError:
            return None
        except ConnectionResetError:
            return b""

    def _last_words(self) -> Outcome | None:
        """Read what a child that is gone wrote after we last read: it may have answered before it left."""
        self._connection.setblocking(False)
        try:
            while data := self._receive():
                if (ending := self._lines(data)) is not None:
                    return ending
        except BlockingIOError:
            # What it started holds the socket open; there is nothing more of the child itself.
            return None
        return None

    def _lines(self, data: bytes) -> Outcome | None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for text in lines:
            line = json.loads(text)
            if "message" in line:
                if self._on_message is not None:
                    self._on_message(line["message"])
            elif "error" in line:
                return outcome_of_error(line["error"])
            else:
                return Outcome(Ending.FINISHED, value=line["value"])
        return None

    def _over(self) -> Outcome | None:
        now = time.monotonic()
        if now > self._deadline:
            return Outcome(Ending.TIME_LIMIT)
        look = now >= self._next_look
        if look:
            self._next_look = now + LOOK
            # What it started may hold its socket open, so the end of the stream alone does not tell.
            self._gone = not _alive(self.pid)
            if self._cancelled is not None and self._cancelled():
                return Outcome(Ending.CANCELLED)
        limit = self._guard.memory_bytes
        if limit is not None and _resident(self.pid, look) > limit:
            return Outcome(Ending.MEMORY_LIMIT)
        return None


def born(pid: int) -> float:
    """When a process was made (seconds since the epoch, 0 for none): tells a pid from its reuse."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0.0


def _alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _resident(pid: int, descendants: bool) -> int:
    """Resident bytes of a process, on demand with all that it started."""
    total: int = 0
    try:
        process = psutil.Process(pid)
        total += process.memory_info().rss
        for descendant in process.children(recursive=True) if descendants else ():
            total += descendant.memory_info().rss
    except psutil.NoSuchProcess:
        # One of them ended while we counted; the next tick counts again.
        return total
    return total
