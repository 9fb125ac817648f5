"""How many requests an API key may send: a bucket for each, which fills at a steady rate."""

import math
import time
from collections.abc import Callable

from service.domain.errors import TooManyError

MAX_BUCKETS = 10_000
#: Who waits as long as was told shall not be refused for the last digit of a sum.
_ROUNDING = 1e-9


class Rates:
    """
    Limits the requests of each key, in this process; used on the event loop alone.

    Parameters
    ----------
    per_minute : int
        Requests a minute, and at most so many at once.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60.0
        self._clock = clock
        #: Key -> requests left, and when that was counted.
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """
        Count a request.

        Raises
        ------
        TooManyError
            The key has sent too many; `retry_after` says when the next may come.
        """
        now = self._clock()
        left = self._left(key, now)
        if left < 1.0 - _ROUNDING:
            wait = math.ceil((1.0 - left) / self._per_second)
            raise TooManyError("rate_limited", "this API key sends too many requests", wait)
        if key not in self._buckets and len(self._buckets) >= MAX_BUCKETS:
            self._forget_full(now)
        self._buckets[key] = left - 1.0, now

    def _left(self, key: str, now: float) -> float:
        left, counted = self._buckets.get(key, (self._most, now))
        return min(self._most, left + (now - counted) * self._per_second)

    def _forget_full(self, now: float) -> None:
        """A full bucket is as good as none."""
        for key in [key for key in self._buckets if self._left(key, now) >= self._most]:
            del self._buckets[key]
