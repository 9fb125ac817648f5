"""Moments as seconds in a float, and as whole microseconds: one way there and back, whatever they came as.

Beyond the year 2106 a float of seconds no longer holds each microsecond. The whole seconds are therefore
split off first; what a moment becomes is then the same from text, numbers and columns, and stays so on the
way back.
"""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds_since(passed: timedelta) -> float:
    """Seconds of a time span."""
    return passed.days * 86_400 + passed.seconds + passed.microseconds / 1e6


def rounded_second(seconds: float) -> float:
    """Seconds to the microsecond."""
    whole = math.floor(seconds)
    return whole + round((seconds - whole) * 1e6) / 1e6


def rounded(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds to the microsecond; NaN stays."""
    whole = np.floor(seconds)
    return whole + np.rint((seconds - whole) * 1e6) / 1e6


def to_microseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole microseconds of finite seconds."""
    whole = np.floor(seconds)
    rest = np.rint((seconds - whole) * 1e6)
    return whole.astype(np.int64) * MICROSECONDS + rest.astype(np.int64)


def to_seconds(micro: NDArray[np.int64]) -> NDArray[np.float64]:
    """Seconds of whole microseconds."""
    found: NDArray[np.float64] = micro // MICROSECONDS + (micro % MICROSECONDS) / 1e6
    return found


def written(seconds: float) -> str:
    """RFC 3339 text of a moment, in UTC."""
    [micro] = to_microseconds(np.array([seconds])).tolist()
    return (_EPOCH + timedelta(microseconds=micro)).isoformat().replace("+00:00", "Z")


def spelled_time(seconds: float) -> str:
    """Spell a moment in the one way in which it is a label or category: midnight UTC is the date alone."""
    return written(seconds).removesuffix("T00:00:00Z")
