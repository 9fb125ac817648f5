"""What guarded children are told to do in tests; imported by name in the child."""

import os
import subprocess
import sys
import time
from typing import Any

from service.domain.errors import FieldError, InvalidError


def double(payload: Any, send: Any) -> Any:
    send({"at": 1})
    send({"at": 2})
    return {"twice": payload * 2}


def refuse(payload: Any, send: Any) -> Any:
    raise InvalidError(
        "invalid", "no good", [FieldError("/file", "ragged", "too short", line=3)], errors_total=7
    )


def crash(payload: Any, send: Any) -> Any:
    raise KeyError("secret value")


def die(payload: Any, send: Any) -> Any:
    os.kill(os.getpid(), payload)


def sleep(payload: Any, send: Any) -> Any:
    send({"pid": os.getpid()})
    time.sleep(60)


def family(payload: Any, send: Any) -> Any:
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    send({"pid": grandchild.pid})
    time.sleep(60)


def orphan(payload: Any, send: Any) -> Any:
    """Die by hand while a forked grandchild keeps the socket open."""
    if os.fork() == 0:
        time.sleep(60)
    os.kill(os.getpid(), 9)


def swell(payload: Any, send: Any) -> Any:
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)))
        time.sleep(0.001)


def leap(payload: Any, send: Any) -> Any:
    return len(bytearray(payload))


def environment(payload: Any, send: Any) -> Any:
    return {"nice": os.nice(0), "group": os.getpgid(0) == os.getpid(), "env": os.environ.get(payload)}


def not_json(payload: Any, send: Any) -> Any:
    return float("nan")
