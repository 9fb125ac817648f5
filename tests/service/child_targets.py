"""What guarded children are told to do in tests; imported by name in the child."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from service.domain.errors import FieldError, InvalidError, UnavailableError


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


def answer_and_leave_one(payload: Any, send: Any) -> Any:
    """Answer, while a forked grandchild keeps the socket open."""
    if os.fork() == 0:
        time.sleep(60)
    return payload


def swell(payload: Any, send: Any) -> Any:
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)))
        time.sleep(0.001)


def leap(payload: Any, send: Any) -> Any:
    return len(bytearray(payload))


def environment(payload: Any, send: Any) -> Any:
    return {
        "nice": os.nice(0),
        "group": os.getpgid(0) == os.getpid(),
        "env": os.environ.get(payload),
        "autogroup": autogroup(),
    }


def autogroup() -> str:
    """What the kernel says of the scheduling group of this session; nothing where there is none."""
    path = Path("/proc/self/autogroup")
    return path.read_text() if path.exists() else ""


_kept: list[str] = []


def remember() -> None:
    _kept.append("prepared")


def recall(payload: Any, send: Any) -> Any:
    return _kept[0]


def owner(payload: Any, send: Any) -> Any:
    return os.getppid()


def not_json(payload: Any, send: Any) -> Any:
    return float("nan")


def train(payload: Any, send: Any) -> Any:
    """Stand in for the training of a job; its params say how it goes."""
    params = payload["order"]["spec"]["params"]
    send({"phase": "boosting", "round": 1, "rounds": 2, "fraction": 0.5, "metrics": {"cost": 1.0}})
    first_time = _is_first(params.get("marker"))
    if "checkpoint" in params:
        send({"checkpoint": params["checkpoint"]})
    if "die" in params and first_time:
        os.kill(os.getpid(), params["die"])
    if "kill_worker" in params and first_time:
        os.kill(psutil.Process(os.getppid()).ppid(), 9)
    if "sleep" in params and first_time:
        time.sleep(params["sleep"])
    if "allocate" in params:
        return swell(None, send)
    if "away" in params and first_time:
        raise UnavailableError("storage_unavailable", "the store cannot be reached just now")
    if "raise" in params:
        raise {
            "invalid": InvalidError("invalid", "the column is empty"),
            "full": OSError(errno.ENOSPC, "full"),
            "bug": KeyError("secret"),
        }[params["raise"]]
    return {
        "dataset_sha256": "d" * 64,
        "artifact_sha256": "a" * 64,
        "params": {},
        "report_sha256": "b" * 64,
        "test_part_sha256": "c" * 64,
        "artifact_bytes": 1,
        "metrics": {"savings": 0.5},
        "schema": {},
        "library_versions": {},
        "training_seconds": 0.1,
    }


def decide(payload: Any, send: Any) -> Any:
    """Stand in for a batch prediction."""
    return {"output_sha256": "a" * 64, "result": {"rows": 1}}


def _is_first(marker: str | None) -> bool:
    if marker is None:
        return True
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
