"""Two APIs restarted one after the other under load: every prediction is answered, and rightly."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from service.main import environment
from tests.chaos.caller import Caller
from tests.chaos.figures import ROWS, is_ready
from tests.chaos.fleet import Kept
from tests.postgresql import free_port
from tests.service.conftest import running, settings_for, table


@pytest.mark.slow
def test_a_rolling_restart_is_not_noticed(
    postgresql_url: str, tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    settings = settings_for(postgresql_url, tmp_path, stop_seconds=30.0)
    with running(settings, with_worker=True) as service:
        assert service.train("cards", table(), {"fn": 5, "fp": 1})["status"] == "succeeded"
        expected = service.predict("cards", ROWS)
    variables = [{**environment(settings), "COSTBOOST_PORT": str(free_port())} for _ in range(2)]
    ports = [int(one["COSTBOOST_PORT"]) for one in variables]
    with (tmp_path / "apis.log").open("ab") as output:
        replicas = [Kept("api", ["api"], one, output) for one in variables]
        callers = [Caller(ports, ROWS, expected), Caller(ports[::-1], ROWS, expected)]
        try:
            for port in ports:
                wait_until(lambda port=port: is_ready(port), 120)
            for caller in callers:
                caller.start()
            for replica, port in zip(replicas, ports, strict=True):
                replica.signal(signal.SIGTERM)
                assert replica.wait(90) == 0
                replica.restart()
                wait_until(lambda port=port: is_ready(port), 120)
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
