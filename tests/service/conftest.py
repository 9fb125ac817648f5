"""A service to talk to: a real uvicorn on a loopback port, on each database, with a worker when asked."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from service.api.app import create_app
from service.api.deadlines import DeadlineProtocol
from service.domain.problems.registry import PROBLEMS
from service.main import kept_worker
from service.settings import Settings, load_settings
from service.ui.app import install
from service.usecases.datasets import PRELOAD
from service.wiring import Wiring, wire

DATABASES = ("sqlite", "postgresql")
#: Seconds in which what happens at once is seen, on a machine that has other work too. What it must not be
#: taken for lasts longer: children sleep for 60 s, and a job nobody was told of is looked for every 30 s.
PROMPT = 10.0

#: Makes a database of a kind and tells its address; see tests/conftest.py.
NewDatabase = Callable[[str], str]


@dataclass(frozen=True)
class Service:
    """A running service.

    Attributes
    ----------
    http : httpx2.Client
        Speaks to it; refuses nothing by itself.
    wiring : Wiring
    """

    http: httpx2.Client
    wiring: Wiring

    @property
    def settings(self) -> Settings:
        """What it was started with."""
        return self.wiring.settings

    def train(self, model: str, csv: str, costs: dict[str, Any], **spec: Any) -> dict[str, Any]:
        """Upload a table, train stumps on it, which is quick, wait, and return the finished job."""
        options = spec.pop("options", {})
        dataset = self.upload(csv, **options)
        body = {"model": model, "dataset": dataset["id"], "costs": costs, "algorithm": "cgada", **spec}
        answer = self.http.post("/v1/training-jobs", json=body)
        assert answer.status_code == 202, answer.text
        return self.wait(answer.json()["id"])

    def upload(self, csv: str, **options: str) -> dict[str, Any]:
        """Upload a CSV table."""
        answer = self.http.post(
            "/v1/datasets", params=options, content=csv.encode(), headers={"Content-Type": "text/csv"}
        )
        assert answer.status_code == 201, answer.text
        dataset: dict[str, Any] = answer.json()
        return dataset

    def wait(self, job_id: str, seconds: float = 60.0) -> dict[str, Any]:
        """Wait for the end of a training job."""
        end = time.monotonic() + seconds
        while True:
            job: dict[str, Any] = self.http.get(f"/v1/training-jobs/{job_id}").json()
            if job["done"]:
                return job
            assert time.monotonic() < end, job
            time.sleep(0.05)

    def predict(self, model: str, rows: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
        """Predict rows."""
        answer = self.http.post(f"/v1/models/{model}/predict", json={"rows": rows, **more})
        assert answer.status_code == 200, answer.text
        predictions: list[dict[str, Any]] = answer.json()["predictions"]
        return predictions


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is the problem expected, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert (found["status"], found["code"]) == (status, code)
    assert found["type"] == f"/problems/{code}"
    assert code in PROBLEMS
    assert found["request_id"] == answer.headers["x-request-id"]
    return found


@contextmanager
def running(settings: Settings, *, with_worker: bool, preload: Sequence[str] = PRELOAD) -> Iterator[Service]:
    """Serve from a thread of this process, with a worker of its own process."""
    wiring = wire(settings, preload)
    server = uvicorn.Server(
        uvicorn.Config(
            install(create_app(wiring)),
            port=0,
            http=DeadlineProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
        )
    )
    thread = threading.Thread(target=server.run, name="uvicorn")
    thread.start()
    with closing(wiring), kept_worker(settings) if with_worker else nullcontext():
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as http:
                yield Service(http, wiring)
        finally:
            server.should_exit = True
            thread.join()


def settings_for(url: str, folder: Path, **more: Any) -> Settings:
    """Settings of a service with its store in `folder`; the lease is short, so that deaths are seen soon."""
    return load_settings(
        {},
        database_url=url,
        store_url=(folder / "store").as_uri(),
        port=0,
        workers=1,
        webhook_allow="127.0.0.1",
        **{"lease_seconds": 2.0, "beat_seconds": 0.5, "stop_seconds": 2.0, **more},
    )


@pytest.fixture(scope="session")
def service_on(
    new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Service]]:
    """A service with a worker on a kind of database, started when it is first asked for.

    Both go on to the end: most of the time of many small tests would else be that of starting services.
    """
    with ExitStack() as stack:

        @cache
        def start(kind: str) -> Service:
            settings = settings_for(new_database(kind), tmp_path_factory.mktemp("service"))
            return stack.enter_context(running(settings, with_worker=True))

        yield start


@pytest.fixture(scope="session", params=DATABASES)
def service(request: pytest.FixtureRequest, service_on: Callable[[str], Service]) -> Service:
    """A service with a worker, shared by many tests; each uses model names of its own."""
    return service_on(request.param)


@pytest.fixture(scope="session")
def sqlite_service(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An empty service without worker, for what does not depend on the database."""
    settings = settings_for(new_database("sqlite"), tmp_path_factory.mktemp("sqlite-service"))
    with running(settings, with_worker=False) as found:
        yield found


@pytest.fixture
def fresh_service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    """A service of one's own, empty and without a worker."""
    with running(settings_for(database_url, tmp_path), with_worker=False, preload=()) as found:
        yield found


def table(rows: int = 400, seed: int = 0, classes: tuple[str, ...] = ("legit", "fraud")) -> str:
    """A CSV with two numbers, a category and a label that depends on them."""
    rng = random.Random(seed)
    lines = ["amount,hour,merchant,label"]
    for _ in range(rows):
        amount, hour, merchant = round(rng.expovariate(0.01), 2), rng.randrange(24), rng.choice("abcd")
        strange = (amount > 150) + (hour < 6) + (merchant == "d") + rng.gauss(0, 0.5)
        wrong = min(len(classes) - 1, int(strange > 1.4) * (1 if len(classes) == 2 else 1 + (hour < 6)))
        lines.append(f"{amount},{hour},{merchant},{classes[wrong]}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def fraud_csv() -> str:
    return table()
