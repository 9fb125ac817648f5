"""The process of one attempt: what is called in the guarded child."""

import time
from collections.abc import Callable
from typing import Any

from service.usecases import training
from service.wiring import open_store

#: Progress is sent at most this often, in seconds; the rest would only be read and thrown away.
SEND_SECONDS = 0.2


def train(payload: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Train what is ordered and return what the attempt leaves, as plain JSON."""
    return training.execute(open_store(payload["store_url"]), payload["order"], _sparing(send))


def _sparing(send: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
    last_sent = last_phase = None

    def report(phase: str, at: int, rounds: int, fraction: float, **metrics: float) -> None:
        nonlocal last_sent, last_phase
        now = time.monotonic()
        if phase == last_phase and last_sent is not None and now < last_sent + SEND_SECONDS:
            return
        last_sent, last_phase = now, phase
        send({"phase": phase, "round": at, "rounds": rounds, "fraction": fraction, "metrics": metrics})

    return report
