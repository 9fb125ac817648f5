"""The nursery's own process, and the first and last steps of each child forked from it.

Started by :mod:`service.processes.nursery` as `python -m service.processes.server FD NAME …`.
"""

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from service.processes.guard import error_to_json

Send = Callable[[dict[str, Any]], None]
Target = Callable[[Any, Send], Any]

#: Address space over the memory limit: imports alone reserve 1.8 GiB that they never touch.
ADDRESS_SPACE_SLACK = 4 << 30
_PR_SET_PDEATHSIG = 1
_AUTOGROUP, _TRIES = Path("/proc/self/autogroup"), 10


def main(arguments: Sequence[str]) -> None:
    """Load modules, then fork a child for each request until the other side of the socket is closed."""
    control = socket.socket(fileno=int(arguments[0]))
    _preload(arguments[1:])
    gc.freeze()
    alive: set[int] = set()
    while True:
        message, descriptors = _receive(control)
        if not message:
            break
        command, _, number = message.decode().partition(" ")
        if command == "spawn":
            pid = _spawn(control, descriptors[0])
            alive.add(pid)
            _answer(control, str(pid))
        else:
            os.waitpid(int(number), 0)
            alive.discard(int(number))
            _answer(control, "buried")
    # The owner is gone: nothing that it started may outlive it.
    for pid in alive:
        kill_group(pid)


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    try:
        message, descriptors, _, _ = socket.recv_fds(control, 64, 1)
    except ConnectionResetError:
        # The owner was killed before it read an answer.
        return b"", []
    return message, descriptors


def _answer(control: socket.socket, text: str) -> None:
    try:
        control.send(text.encode())
    except (BrokenPipeError, ConnectionResetError):
        # The owner was killed meanwhile, which the next `_receive` sees.
        return


def kill_group(pid: int) -> None:
    """Kill a child and all that it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # The group is not there yet or no longer; the child itself may still be.
        _kill(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _preload(names: Sequence[str]) -> None:
    for name in names:
        module, _, function = name.partition(":")
        try:
            loaded = importlib.import_module(module)
            if function:
                getattr(loaded, function)()
        except Exception:
            # The child that needs it reports it properly.
            traceback.print_exc()


def _spawn(control: socket.socket, descriptor: int) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        control.close()
        _live(socket.socket(fileno=descriptor), parent)
    os.close(descriptor)
    return pid


def _live(connection: socket.socket, parent: int) -> NoReturn:
    """All that a child does; it never returns into the nursery's loop."""
    try:
        os.setsid()
        _die_with(parent)
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            line = stream.readline()
            if not line:
                # The owner died before it said what is to be done.
                os._exit(1)
            request = json.loads(line)
            _limit(request)

            lock = threading.Lock()  # threads of the child speak one at a time

            def write(line: dict[str, Any]) -> None:
                text = json.dumps(line, allow_nan=False) + "\n"
                with lock:
                    stream.write(text)
                    stream.flush()

            write(_run(request, lambda message: write({"message": message})))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _run(request: dict[str, Any], send: Send) -> dict[str, Any]:
    module, _, name = request["target"].partition(":")
    try:
        target: Target = getattr(importlib.import_module(module), name)
        value = target(request["payload"], send)
        json.dumps(value, allow_nan=False)
    except Exception as error:
        return {"error": error_to_json(error)}
    return {"value": value}


def _die_with(parent: int) -> None:
    """Ask the kernel to kill this process when the nursery dies, even in the middle of native code."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _limit(request: dict[str, Any]) -> None:
    if request["memory_bytes"] is not None:
        cap = request["memory_bytes"] + ADDRESS_SPACE_SLACK
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if request["nice"]:
        _be_nice(request["nice"])


def _be_nice(increment: int) -> None:
    """Leave the processor to others, those of other sessions too.

    Linux shares it out among sessions first, where they are scheduled in groups of their own (autogroup in
    sched(7)): niceness then counts within a session only, and a child is alone in its own.
    """
    niceness = os.nice(increment)
    for _ in range(_TRIES):
        try:
            _AUTOGROUP.write_text(str(niceness))
        except BlockingIOError:
            # Of all processes without privileges one may do it in a tenth of a second.
            time.sleep(0.1)
        except OSError:
            return  # there are no such groups
        else:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
