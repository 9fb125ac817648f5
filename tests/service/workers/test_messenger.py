"""Deliveries of many webhooks: who never answers holds up no other."""

import socket
import threading
from collections.abc import Callable

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
