"""PostgreSQL dies in mid-job, and a server that has followed it takes its place: no job is lost."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest

from service.db.engine import open_database
from service.db.migrations import migrate
from service.queue import migrate_engine
from tests.postgresql import Server, find_binaries, make_database
from tests.service.conftest import running, settings_for, table
from tests.service.fault_proxy import FaultProxy

SPEC = {"name": "kept", "fn": 5, "fp": 1}


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A server, and one that follows it."""
    with tempfile.TemporaryDirectory(prefix="costboost-pg-", ignore_cleanup_errors=True) as name:
        folders = [Path(name, one) for one in ("binaries", "first", "second")]
        Path(name).chmod(0o755)
        for folder in folders:
            folder.mkdir()
        binaries = find_binaries(folders[0])
        if binaries is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("no PostgreSQL")
        first = Server(binaries, folders[1])
        first.start()
        second = Server(binaries, folders[2], follows=first.url)
        second.start()
        try:
            yield first, second
        finally:
            for server in (first, second):
                with suppress(ProcessLookupError):
                    server.stop(signal.SIGQUIT)


def has_caught_up(first: Server, second: Server) -> bool:
    with psycopg.connect(first.url) as one, psycopg.connect(second.url) as other:
        [written] = one.execute("SELECT pg_current_wal_lsn()").fetchone() or [None]
        replayed = other.execute("SELECT pg_last_wal_replay_lsn() >= %s", [written]).fetchone()
        return replayed == (True,)


def is_ready(http: httpx2.Client) -> bool:
    return http.get("/readyz").status_code == 200


@pytest.mark.slow
def test_a_server_that_followed_takes_over(
    pair: tuple[Server, Server], tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    first, second = pair
    url = make_database(first.url)
    database = open_database(url)
    migrate(database)
    database.dispose()
    migrate_engine(url)
    addresses = [urlsplit(server.url) for server in pair]
    proxy = FaultProxy("127.0.0.1", addresses[0].port or 0)
    through = urlsplit(url)._replace(netloc=f"postgres@127.0.0.1:{proxy.port}").geturl()
    with running(settings_for(through, tmp_path, database_wait_seconds=1.0), with_worker=True) as service:
        http, dataset = service.http, service.upload(table(200))["id"]

        def submit(model: str) -> str:
            wish = {"model": model, "dataset": dataset, "costs": {"fn": 5, "fp": 1}, "algorithm": "cgada"}
            job: str = http.post("/v1/training-jobs", json=wish).json()["id"]
            return job

        assert service.wait(submit("before"), 240.0)["status"] == "succeeded"
        jobs = [submit("amid") for _ in range(3)]
        wait_until(lambda: has_caught_up(first, second))
        first.stop(signal.SIGKILL)
        assert http.post("/v1/cost-specs", json=SPEC).status_code == 503
        second.promote()
        proxy.lead_to("127.0.0.1", addresses[1].port or 0)
        wait_until(lambda: is_ready(http), 60.0)
        assert [service.wait(job, 240.0)["status"] for job in jobs] == ["succeeded"] * 3
        assert sorted(one["version"] for one in http.get("/v1/models/amid/versions").json()["data"]) == [
            1,
            2,
            3,
        ]
        assert http.post("/v1/cost-specs", json=SPEC).status_code == 201
        assert service.predict("before", [{"amount": 1.0, "hour": 2, "merchant": "a"}])
    proxy.close()
