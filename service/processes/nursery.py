"""Running a function in a guarded child of its own."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import psutil

from service.processes.guard import Guard, Outcome
from service.processes.watch import Child, Message

#: Libraries that start threads when they are loaded; a process that forks must have none beside its own.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


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
        child = Child(*self._spawn(), guard, on_message, cancelled)
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


def _limits(guard: Guard) -> Message:
    return {"memory_bytes": guard.memory_bytes, "nice": guard.nice}


def _parent(pid: int) -> int:
    try:
        return int(psutil.Process(pid).ppid())
    except psutil.NoSuchProcess:
        return 0
