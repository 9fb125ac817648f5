"""Two APIs restarted one after the other under load: every prediction is answered, and rightly."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from service.main import environment
from tests.chaos.fleet import Kept
from tests.postgresql import free_port
from tests.service.conftest import running, settings_for, table

ROWS = [{"amount": float(amount), "hour": 3, "merchant": "a"} for amount in range(0, 400, 20)]


class Caller(threading.Thread):
    """Asks for predictions without pause, of the next replica where one does not listen.

    Each request has a connection of its own, as of many clients: what a replica has accepted it answers.
    """

    def __init__(self, urls: list[str], expected: Any) -> None:
        super().__init__(daemon=True)
        self._urls, self._expected = urls, expected
        self.stopping = threading.Event()
        self.answered = 0
        self.faults: list[str] = []

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                answer = self._ask()
            except httpx2.TransportError as error:
                self.faults.append(repr(error))
                continue
            if answer.status_code != 200 or answer.json()["predictions"] != self._expected:
                self.faults.append(answer.text)
            self.answered += 1

    def _ask(self) -> httpx2.Response:
        for url in (*self._urls, *self._urls):
            try:
                return httpx2.post(f"{url}/v1/models/cards/predict", json={"rows": ROWS}, timeout=60)
            except httpx2.ConnectError:
                continue
        raise httpx2.ConnectError("no replica listens")


@pytest.mark.slow
def test_a_rolling_restart_is_not_noticed(
    postgresql_url: str, tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    settings = settings_for(postgresql_url, tmp_path, stop_seconds=30.0)
    with running(settings, with_worker=True) as service:
        assert service.train("cards", table(), {"fn": 5, "fp": 1})["status"] == "succeeded"
        expected = service.predict("cards", ROWS)
    variables = [{**environment(settings), "COSTBOOST_PORT": str(free_port())} for _ in range(2)]
    urls = [f"http://127.0.0.1:{one['COSTBOOST_PORT']}" for one in variables]
    with (tmp_path / "apis.log").open("ab") as output:
        replicas = [Kept("api", ["api"], one, output) for one in variables]
        callers = [Caller(urls, expected), Caller(urls[::-1], expected)]
        try:
            for url in urls:
                wait_until(lambda url=url: _is_ready(url), 120)
            for caller in callers:
                caller.start()
            for replica, url in zip(replicas, urls, strict=True):
                replica.signal(signal.SIGTERM)
                assert replica.wait(90) == 0
                replica.restart()
                wait_until(lambda url=url: _is_ready(url), 120)
                _wait_for_more(callers, wait_until)
        finally:
            for caller in callers:
                caller.stopping.set()
            for caller in callers:
                caller.join(90)
            for replica in replicas:
                replica.signal(signal.SIGKILL)
                replica.wait(10)
    assert [fault for caller in callers for fault in caller.faults] == []


def _wait_for_more(callers: list[Caller], wait_until: Callable[..., None]) -> None:
    enough = [caller.answered + 20 for caller in callers]
    wait_until(lambda: all(one.answered > most for one, most in zip(callers, enough, strict=True)), 60)


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz", timeout=10).status_code == 200
    except httpx2.TransportError:
        return False
