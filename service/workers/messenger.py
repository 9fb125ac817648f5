"""The thread of a worker that delivers webhooks: what is due is claimed in the database, so many may look."""

import threading
from concurrent.futures import ThreadPoolExecutor

from service.usecases import webhooks
from service.wiring import Wiring
from service.workers.clerk import look_forever

LOOK_SECONDS = 1.0


class Messenger(threading.Thread):
    """Delivers what is due, a few at a time."""

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(name="messenger", daemon=True)
        self._wiring = wiring
        self._hands = ThreadPoolExecutor(webhooks.MOST, thread_name_prefix="webhook")

    def run(self) -> None:
        """Deliver until the process ends."""
        look_forever(self._look, LOOK_SECONDS)

    def _look(self) -> None:
        wiring = self._wiring
        tries = [
            self._hands.submit(webhooks.deliver, wiring.sessions, wiring.outbound, delivery, webhook)
            for delivery, webhook in webhooks.due(wiring.sessions, wiring.readers)
        ]
        for one in tries:
            one.result()
