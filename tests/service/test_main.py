"""`costboost serve` as a process: it starts all, stops in order, and leaves nothing behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from service.db.engine import open_database
from tests.service.conftest import table

#: The example of the W3C recommendation.
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Served:
    """A `costboost serve` and what it wrote to its log."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = folder / "log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service.cli", "serve", "--port=0", f"--data-dir={folder}", *options],
                stderr=output,
                env={**os.environ, "COSTBOOST_LEASE_SECONDS": "2", "COSTBOOST_BEAT_SECONDS": "0.5"},
            )

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def url(self) -> str | None:
        return next((line["url"] for line in self.lines() if line["event"] == "listening"), None)

    def says(self, event: str) -> int:
        return sum(line["event"] == event for line in self.lines())

    def workers(self) -> list[psutil.Process]:
        return [one for one in self.family() if _lives(one) and "service.worker" in one.cmdline()]

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture
def served(tmp_path: Path, wait_until: Callable[..., None]) -> Iterator[Served]:
    found = Served(tmp_path)
    wait_until(lambda: found.process.poll() is not None or found.url(), 30.0)
    yield found
    found.process.terminate()
    found.process.wait(30)


def test_it_migrates_serves_and_stops_in_order(served: Served, wait_until: Callable[..., None]) -> None:
    with httpx2.Client(base_url=served.url()) as http:
        wait_until(lambda: http.get("/readyz").json()["status"] == "ready", 30.0)
        family = served.family()
        assert family
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(30) == 0
    wait_until(lambda: not any(one.is_running() for one in family), 10.0)


def test_an_open_stream_does_not_hold_up_the_end(served: Served, wait_until: Callable[..., None]) -> None:
    with httpx2.Client(base_url=served.url(), timeout=30.0) as http:
        dataset = http.post(
            "/v1/datasets", content=table(3000).encode(), headers={"Content-Type": "text/csv"}
        )
        spec = {"model": "m", "dataset": dataset.json()["id"], "costs": {"fn": 9, "fp": 1}}
        spec["algorithm"], spec["params"] = "cgada", {"n_estimators": 100_000}
        path = http.post("/v1/training-jobs", json=spec).headers["location"]
        wait_until(lambda: http.get(path).json()["status"] == "running", 30.0)
        with http.stream("GET", f"{path}/events", headers={"Accept": "text/event-stream"}) as events:
            lines = events.iter_lines()
            assert next(lines).startswith("id: ")
            served.process.send_signal(signal.SIGTERM)
            assert "event: done" not in list(lines)  # it ends by itself, and the job goes on later
    assert served.process.wait(30) == 0
    assert not served.says("Cancel 1 running task(s), timeout graceful shutdown exceeded")


def test_a_killed_worker_is_replaced(served: Served, wait_until: Callable[..., None]) -> None:
    with httpx2.Client(base_url=served.url()) as http:
        wait_until(lambda: served.says("worker ready") == 1, 30.0)
        [worker] = served.workers()
        worker.kill()
        wait_until(lambda: served.says("worker ready") == 2, 30.0)
        wait_until(lambda: http.get("/readyz").json()["status"] == "ready", 30.0)


def test_a_job_whose_worker_is_killed_ends_without_a_hand(
    served: Served, wait_until: Callable[..., None]
) -> None:
    with httpx2.Client(base_url=served.url(), timeout=30.0) as http:
        dataset = http.post(
            "/v1/datasets", content=table(3000).encode(), headers={"Content-Type": "text/csv"}
        )
        spec = {"model": "m", "dataset": dataset.json()["id"], "costs": {"fn": 9, "fp": 1}}
        spec["algorithm"], spec["params"] = "cgada", {"n_estimators": 400}
        path = http.post("/v1/training-jobs", json=spec).headers["location"]
        wait_until(lambda: http.get(path).json()["status"] == "running", 30.0)
        [worker] = served.workers()
        worker.kill()
        wait_until(lambda: http.get(path, headers={"Prefer": "wait=10"}).json()["done"], 120.0)
        job = http.get(path).json()
    assert (job["status"], job["attempt"]) == ("succeeded", 2)


def test_when_it_is_killed_its_children_end_too(served: Served, wait_until: Callable[..., None]) -> None:
    with httpx2.Client(base_url=served.url()) as http:
        wait_until(lambda: http.get("/readyz").json()["status"] == "ready", 30.0)
    family = served.family()
    served.process.kill()
    wait_until(lambda: not any(_lives(one) for one in family), 15.0)


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_port_that_is_taken_stops_the_start_with_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = subprocess.run(
            [sys.executable, "-m", "service.cli", "serve", f"--port={port}", f"--data-dir={tmp_path}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert found.returncode != 0
    [line] = found.stderr.strip().splitlines()
    assert "--port" in line
    assert str(port) in line


def test_a_wrong_variable_stops_the_start_with_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "service.cli", "serve", "--host=0.0.0.0", f"--data-dir={tmp_path}"],
        env={**os.environ, "COSTBOOST_AUTH": "off"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("costboost: COSTBOOST_AUTH:")
    assert len(ended.stderr.splitlines()) == 1


def test_the_log_is_json_with_ids_and_without_values(served: Served, wait_until: Callable[..., None]) -> None:
    with httpx2.Client(base_url=served.url(), timeout=60.0) as http:
        http.post(
            "/predict",
            json={"model": "canary-model", "rows": [{"amount": "canary-value"}]},
            headers={"X-Request-ID": "the-request", "traceparent": TRACEPARENT},
        )
        http.post(
            "/v1/datasets?name=x", content=b"a,label\ncanary-cell,1\n", headers={"Content-Type": "text/csv"}
        )
        key = _leave_traces(http, wait_until)
    of_request = [line for line in served.lines() if line.get("request_id") == "the-request"]
    assert [(line["event"], line["route"], line["status"]) for line in of_request] == [
        ("request", "/predict", 404)
    ]
    assert of_request[0]["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    of_job = [line["event"] for line in served.lines() if line.get("request_id") == "asks-for-job"]
    assert {"request", "attempt begins", "child ended"} <= set(of_job)
    assert "canary" not in served.log.read_text()
    assert key.rpartition("_")[2] not in served.log.read_text()


def _leave_traces(http: httpx2.Client, wait_until: Callable[..., None]) -> str:
    """Train, predict, record, tell and erase, with words in rows, keys and addresses that no log may hold.

    Gives the key that all this was sent with.
    """
    assert http.get("/v1/models", headers={"Authorization": "Bearer cb_canary_key"}).status_code == 401
    made = http.post("/v1/api-keys", json={"name": "canary", "scopes": ["admin"]}).json()
    http.headers["Authorization"] = f"Bearer {made['key']}"
    csv = table(60).replace("merchant", "canary_column").replace("legit", "canary-class")
    options = {"label": "label", "roles": '{"hour": "subject"}'}
    dataset = http.post(
        "/v1/datasets", params=options, content=csv.encode(), headers={"Content-Type": "text/csv"}
    ).json()["id"]
    http.post("/v1/webhooks", json={"url": "https://canary.invalid/canary?token=canary"})
    spec = {"model": "m", "dataset": dataset, "costs": {"fn": 5, "fp": 1}, "params": {"n_estimators": 2}}
    asked = http.post("/v1/training-jobs", json=spec, headers={"X-Request-ID": "asks-for-job"}).json()
    wait_until(lambda: http.get(f"/v1/training-jobs/{asked['id']}").json()["done"], 60.0)
    row = {"id": "canary-id", "amount": 1, "hour": "canary-subject", "canary_column": "canary-category"}
    answer = http.post("/predict", json={"rows": [row], "record": "durable"}).json()
    told = {"prediction_id": answer["predictions"][0]["prediction_id"], "label": "canary-class"}
    assert http.post("/v1/feedback", json={"items": [told]}).json()["accepted"] == 1
    assert http.delete("/v1/subjects/canary-subject").json()["decision_records"] == 1
    return str(made["key"])


def test_others_are_served_with_a_key_made_on_the_command_line(
    tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    """Bound to every address, the service tells how a first key is made, and takes it at once."""
    served = Served(tmp_path, "--host=0.0.0.0", "--no-worker")
    try:
        wait_until(lambda: served.process.poll() is not None or served.url(), 30.0)
        assert any("costboost keys create" in line["event"] for line in served.lines())
        with httpx2.Client(base_url=str(served.url()).replace("0.0.0.0", "127.0.0.1")) as http:
            assert http.get("/v1/models").status_code == 401
            made = command(tmp_path, "keys", "create", "--tenant", "acme", "--scopes", "registry,data")
            token = made.stdout.strip()
            headers = {"Authorization": f"Bearer {token}"}
            assert http.get("/v1/models", headers=headers).status_code == 200
            assert token not in served.log.read_text()
            listed = command(tmp_path, "keys", "list", "--tenant", "acme").stdout
            key_id = listed.splitlines()[1].split()[0]
            assert token.split("_")[1] in key_id
            assert command(tmp_path, "keys", "revoke", key_id, "--tenant", "acme").returncode == 0
            wait_until(lambda: http.get("/v1/models", headers=headers).status_code == 401, 5.0)
            assert "revoked" in command(tmp_path, "keys", "list", "--tenant", "acme").stdout
    finally:
        served.process.terminate()
        served.process.wait(30)


@pytest.mark.parametrize(
    "options",
    [
        ("create", "--tenant", "Acme Inc", "--scopes", "data"),
        ("create", "--tenant", "acme", "--scopes", "data,root"),
        ("create", "--tenant", "acme", "--scopes", ","),
        ("revoke", "key_of_nobody", "--tenant", "acme"),
    ],
)
def test_a_wrong_key_command_ends_with_what_is_wrong_and_what_to_do(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    command(tmp_path, "migrate")
    ended = command(tmp_path, "keys", *options)
    assert ended.returncode != 0
    assert ended.stdout == ""
    wrong, *what_to_do = ended.stderr.splitlines()
    assert wrong.startswith("costboost: ")
    assert len(what_to_do) <= 1


@pytest.mark.parametrize(
    "asked",
    [("keys", "list", "--tenant=acme"), ("keys", "revoke", "key_1", "--tenant=acme"), ("sweep",)],
    ids=" ".join,
)
def test_the_database_of_no_service_is_not_made_but_named(tmp_path: Path, asked: tuple[str, ...]) -> None:
    ended = command(tmp_path / "data", *asked)
    assert ended.returncode == 2
    assert f"there is no database {tmp_path}/data/costboost.db\n" in ended.stderr
    assert "--data-dir" in ended.stderr
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_made_is_named_in_one_line() -> None:
    ended = command(Path("/dev/null/data"), "keys", "create", "--tenant", "acme", "--scopes", "data")
    assert ended.returncode == 1
    assert ended.stderr == "costboost: /dev/null/data: Not a directory\n"


def test_a_host_without_worker_is_told(tmp_path: Path) -> None:
    command(tmp_path, "migrate")
    ended = command(tmp_path, "worker", "--check")
    assert ended.returncode == 1
    assert ended.stderr == (
        "costboost: no worker of this host has lately said that it lives; its log says why\n"
    )


def command(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service.cli", *options, f"--data-dir={folder}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_worker_that_cannot_start_says_why_in_one_line() -> None:
    found = _ended(COSTBOOST_WORKERS="many")
    assert found.returncode == 2
    assert found.stderr.startswith("costboost: COSTBOOST_WORKERS: ")
    assert found.stderr.count("\n") == 1


def test_a_worker_that_finds_another_schema_says_so_in_one_line(
    new_database: Callable[[str], str], tmp_path: Path
) -> None:
    url = new_database("postgresql")
    database = open_database(url)
    with database.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    database.dispose()
    store = (tmp_path / "store").as_uri()
    found = _ended(COSTBOOST_DATABASE_URL=url, COSTBOOST_STORE_URL=store)
    assert found.returncode == 1
    assert found.stderr.startswith("costboost: the database has not the schema of this release; ")
    assert found.stderr.count("\n") == 1


def _ended(**environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "service.worker"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )
