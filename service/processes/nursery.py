"""Running a function in a guarded child of its own."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import psutil

from service.processes.guard import Ending, Guard, Outcome, outcome_of_error
from service.processes.server import kill_group

Message = dict[str, Any]

#: Libraries that start threads when they are loaded; a process that forks must have none beside its own.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
#: How often the resident memory and the deadline of a child are looked at, in seconds.
TICK = 0.025
#: How often its descendants are counted, and `cancelled` is asked.
LOOK = 0.25


class Nursery:
    """Start guarded children; safe to use from many threads.

    Parameters
    ----------
    preload : sequence of str
        Modules loaded, and functions ("module:function") called, once and in the nursery; no child waits
        for what they leave in memory. They must start no thread.
    environment : mapping, optional
        Added to the environment of the nursery and so of each child.
    """

    def __init__(self, preload: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> None:
        self._preload = tuple(preload)
        self._environment = {**(environment or {}), **ONE_THREAD}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._groups: dict[int, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def warm(self) -> None:
        """Start loading the modules now, without waiting for it."""
        with self._lock:
            self._connect()

    def close(self) -> None:
        """End the nursery and every child."""
        with self._lock:
            self._disconnect()

    def groups(self) -> list[tuple[int, float]]:
        """Process groups alive now, each with the time at which its leader was made."""
        return list(self._groups.items())

    def run_guarded(
        self,
        target: str,
        payload: Any,
        guard: Guard,
        on_message: Callable[[Message], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Outcome:
        """Call `target(payload, send)` in a child and wait for its end.

        Parameters
        ----------
        target : str
            "module:function"; the function takes the payload and `send(message: dict)`.
        payload : JSON value
        guard : Guard
            What the child may use; its whole process group is killed when it uses more.
        on_message : callable, optional
            Called here with each message sent; it must be quick, for meanwhile nobody watches.
        cancelled : callable, optional
            Asked a few times per second; True kills the group. It must be quick too.

        Returns
        -------
        Outcome
            Exceptions of the child are in it; none is raised here.
        """
        child = _Child(*self._spawn(), guard, on_message, cancelled)
        self._groups[child.pid] = child.born
        try:
            child.send({"target": target, "payload": payload, **_limits(guard)})
            return child.watch()
        finally:
            child.close()
            self._groups.pop(child.pid, None)
            self._bury(child.pid)

    def _spawn(self) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        with theirs:
            pid = int(self._ask(b"spawn", theirs.fileno()))
        return pid, ours

    def _bury(self, pid: int) -> None:
        with self._lock:
            # A nursery that was started anew has no such child, and then neither has anyone else.
            if self._process is not None and _parent(pid) == self._process.pid:
                self._exchange(f"bury {pid}".encode(), ())

    def _ask(self, command: bytes, descriptor: int) -> bytes:
        with self._lock:
            self._connect()
            answer = self._exchange(command, (descriptor,))
            if not answer:
                # It died since it was last asked (killed by hand, or for want of memory): once more.
                self._disconnect()
                self._connect()
                answer = self._exchange(command, (descriptor,))
        if not answer:
            raise RuntimeError("the process from which children are forked does not start")
        return answer

    def _exchange(self, command: bytes, descriptors: Sequence[int]) -> bytes:
        if self._control is None:
            return b""
        try:
            socket.send_fds(self._control, [command], list(descriptors))
            return self._control.recv(64)
        except (BrokenPipeError, ConnectionResetError):
            return b""

    def _connect(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._disconnect()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                [sys.executable, "-m", "service.processes.server", str(theirs.fileno()), *self._preload],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                # Ctrl-C in a terminal is for the service, which then ends its children in order.
                start_new_session=True,
            )

    def _disconnect(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


class _Child:
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
            if data == b"" or (data is None and self._gone):
                return Outcome(Ending.DIED)

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


def _limits(guard: Guard) -> Message:
    return {"memory_bytes": guard.memory_bytes, "nice": guard.nice}


def born(pid: int) -> float:
    """When a process was made (seconds since the epoch, 0 for none): tells a pid from its reuse."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0.0


def _parent(pid: int) -> int:
    try:
        return int(psutil.Process(pid).ppid())
    except psutil.NoSuchProcess:
        return 0


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
