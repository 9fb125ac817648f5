"""What a child does for a job that only passes through: as little as leaves a trace."""

import hashlib
import os
import random
import time
from typing import Any

import psutil

from service.wiring import open_store

#: Jobs of this model kill the worker that takes them, always.
POISON = "poison"
#: These need longer than anybody waits, and more memory than they may have.
LONG, GREEDY = "long", "greedy"


def pass_through(payload: dict[str, Any], send: Any) -> dict[str, Any]:
    """Stand in for the training of a job: report, wait a little, store bytes."""
    spec = payload["order"]["spec"]
    send({"phase": "boosting", "round": 1, "rounds": 2, "fraction": 0.5, "metrics": {}})
    if spec["model"] == POISON:
        os.kill(psutil.Process(os.getppid()).ppid(), 9)
    if spec["model"] == GREEDY:
        _take_memory()
    time.sleep(600.0 if spec["model"] == LONG else random.expovariate(10.0))
    content = random.randbytes(64)
    store = open_store(payload["store_url"])
    return {
        "dataset_sha256": hashlib.sha256(b"").hexdigest(),
        "artifact_sha256": store.put(content),
        "artifact_bytes": len(content),
        "report_sha256": store.put(content + b"report"),
        "test_part_sha256": store.put(content + b"test"),
        "params": {},
        "metrics": {},
        "schema": {},
        "library_versions": {},
        "training_seconds": 0.0,
    }


def _take_memory() -> None:
    taken = list[bytes]()
    while True:
        taken.append(b"\1" * (1 << 20))
