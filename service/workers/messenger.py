"""The thread of a worker that delivers webhooks: what is due is claimed in the database, so many may look."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from service.usecases import webhooks
from service.wiring import Wiring
from service.workers.clerk import look_forever

LOOK_SECONDS = 1.0


class Messenger(threading.Thread):
    """Delivers what is due, a few at a time, one to each webhook and not all of one tenant."""

    def __init__(self, wiring: Wiring) -> None:
        super().__init__(name="messenger", daemon=True)
        self._wiring = wiring
        self._hands = ThreadPoolExecutor(webhooks.MOST, thread_name_prefix="webhook")
        self._tries = dict[str, Future[None]]()  # by the id of the webhook
        self._tenants = dict[str, str]()  # of these webhooks
        self._ended = threading.Event()

    def run(self) -> None:
        """Deliver until the process ends."""
        look_forever(self._look, LOOK_SECONDS)

    def _look(self) -> None:
        self._begin()
        while self._tries:
            # A try that ends frees a hand and its webhook, for which more may be due.
            self._ended.wait(LOOK_SECONDS)
            self._ended.clear()
            self._end()
            self._begin()

    def _begin(self) -> None:
        wiring, free = self._wiring, webhooks.MOST - len(self._tries)
        for delivery, webhook in webhooks.due(wiring.sessions, wiring.readers, free, self._tenants):
            one = self._hands.submit(webhooks.deliver, wiring.sessions, wiring.outbound, delivery, webhook)
            self._tries[webhook.id], self._tenants[webhook.id] = one, webhook.tenant_id
            one.add_done_callback(lambda _: self._ended.set())

    def _end(self) -> None:
        for webhook_id in [name for name, one in self._tries.items() if one.done()]:
            del self._tenants[webhook_id]
            self._tries.pop(webhook_id).result()
