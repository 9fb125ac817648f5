"""The thread of a worker that sweeps: of all workers one does it in each stretch of time."""

import threading

from service.usecases import sweeping
from service.wiring import Wiring
from service.workers.clerk import look_forever

LONGEST_PAUSE = 60.0


class Sweeper(threading.Thread):
    """Sweeps when nobody has done it yet."""

    def __init__(self, wiring: Wiring, sweep_seconds: float) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._wiring = wiring
        self._every = sweep_seconds

    def run(self) -> None:
        """Sweep until the process ends."""
        look_forever(self._look, min(self._every / 2, LONGEST_PAUSE))

    def _look(self) -> None:
        wiring = self._wiring
        sweeping.scheduled(wiring.sessions, wiring.readers, wiring.store, wiring.queue, self._every)
