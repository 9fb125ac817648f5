"""Deliveries of many webhooks: who never answers holds up no other."""

import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from service.db import webhooks
from service.domain.webhooks import JOB_FINISHED, Webhook
from service.usecases.webhooks import MOST
from service.workers.messenger import Messenger
from tests.service.conftest import Service
from tests.service.listener import listening
from tests.service.records import add_version


def test_who_never_answers_holds_up_nobody(fresh_service: Service, wait_until: Callable[..., None]) -> None:
    add_version(fresh_service.wiring)
    with listening() as listener, socket.create_server(("127.0.0.1", 0)) as mute:
        for url in (f"http://127.0.0.1:{mute.getsockname()[1]}/", listener.url):
            assert fresh_service.http.post("/v1/webhooks", json={"url": url}).status_code == 201
        for alias in ("a", "b", "c"):
            moved = fresh_service.http.put(f"/v1/models/cards/aliases/{alias}", json={"version": 1})
            assert moved.status_code == 201
        # One look, which lasts until nothing is under way.
        looking = threading.Thread(target=Messenger(fresh_service.wiring)._look)
        looking.start()
        wait_until(lambda: len(listener.posts) == 3, 4.0)
        assert looking.is_alive()
    looking.join(60)
    assert not looking.is_alive()


def test_a_tenant_of_many_mute_webhooks_holds_up_no_other(
    fresh_service: Service, wait_until: Callable[..., None]
) -> None:
    with listening() as listener, socket.create_server(("127.0.0.1", 0)) as mute:
        silent = f"http://127.0.0.1:{mute.getsockname()[1]}/"
        with fresh_service.wiring.sessions.begin() as session:
            for number in range(2 * MOST + 1):
                tenant, url = ("many", silent) if number < 2 * MOST else ("one", listener.url)
                now = datetime.now(UTC)
                webhooks.add(session, Webhook(f"wh_{number}", tenant, url, [JOB_FINISHED], "secret", now))
            for tenant in ("many", "one"):
                webhooks.announce(session, tenant, JOB_FINISHED, {})
        messenger = Messenger(fresh_service.wiring)
        messenger._begin()
        wait_until(lambda: len(listener.posts) == 1)
        assert len(messenger._tries) < MOST
    messenger._hands.shutdown()
