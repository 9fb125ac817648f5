"""A real training that halts where it has stored so much; imported by name in the child."""

import os
import time
from pathlib import Path
from typing import Any

from service.workers import child


def train(payload: Any, send: Any) -> Any:
    """Train; whoever is first to store HALT_AFTER checkpoints waits then for its death."""
    stored = 0

    def halting(message: dict[str, Any]) -> None:
        nonlocal stored
        send(message)
        stored += "checkpoint" in message
        there = Path(os.environ["HALT_MARKER"])
        if stored == int(os.environ["HALT_AFTER"]) and not there.exists():
            there.touch()
            time.sleep(600)

    return child.train(payload, halting)
