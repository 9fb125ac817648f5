"""Which attempts of a worker may run beside each other."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: How often one that waits looks whether the worker stops, in seconds.
LOOK_SECONDS = 0.5


class Slots:
    """Lets attempts run side by side, but one that is on its last chance alone.

    When a worker dies, any of its attempts may be to blame, and all are counted as dead with it. The last
    attempt that a job has runs with no other in the worker: so only the job that kills workers fails for it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = 0
        self._alone = False

    @contextmanager
    def taken(self, *, alone: bool, give_up: Callable[[], bool]) -> Iterator[bool]:
        """Wait for a slot and hold it; yields False when `give_up` said so first."""
        with self._changed:
            held = self._wait(lambda: not self._alone, give_up)
            if held and alone:
                self._alone = True
                held = self._wait(lambda: self._busy == 0, give_up)
                self._alone = held
            self._busy += held
        try:
            yield held
        finally:
            with self._changed:
                self._busy -= held
                self._alone = self._alone and not (held and alone)
                self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool], give_up: Callable[[], bool]) -> bool:
        while not condition():
            if give_up():
                return False
            self._changed.wait(LOOK_SECONDS)
        return True
