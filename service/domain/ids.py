"""Identifiers: a prefix that says what it names, and a UUID of version 7, which sorts by time."""

import secrets
import threading
import time
from uuid import UUID

_LOCK = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return `<prefix>_<uuid7>`; ids of one process sort in the order in which they were made.

    Parameters
    ----------
    prefix : str
        "ds", "cs", "job", "bp", "pred" or "key" in the HTTP contract; any short word elsewhere.
    """
    return f"{prefix}_{_uuid7()}"


def _uuid7() -> UUID:
    """UUID version 7 (RFC 9562, section 5.7): 48 bits of ms, 12 of sub-ms (6.2, method 3)."""
    ticks = _next_tick()
    value = (ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64
    return UUID(int=value | 0b10 << 62 | secrets.randbits(62))


def _next_tick() -> int:
    """Time in 1/4096 ms, never twice the same and never backwards, whatever the wall clock does."""
    global _last  # noqa: PLW0603  one clock per process
    with _LOCK:
        _last = max(_last + 1, time.time_ns() * 4096 // 1_000_000)
        return _last
