"""`make figures`: what is promised of jobs and replicas, measured on each database and printed.

Whether the time of a refusal tells which API keys are in use, how soon an idle worker begins, how many jobs
pass in a second, how soon a job goes on when its worker was killed, how soon a cancel and a time limit take
effect, how far a job goes beyond its memory, and whether anybody notices that two replicas are restarted in
turn. Not asserted: machines differ.
"""

import argparse
import random
import secrets
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import psutil

from service.domain.access import token_of
from service.domain.ids import new_id
from tests.chaos.caller import Caller
from tests.chaos.databases import database
from tests.chaos.fleet import Kept
from tests.chaos.target import GREEDY, LONG
from tests.postgresql import free_port
from tests.service.conftest import table

#: What the service has unless it is told otherwise.
LEASE_SECONDS = 15.0
LIMIT_SECONDS, LIMIT_MB = 1.0, 512
ROWS = [{"amount": float(amount), "hour": 3, "merchant": "a"} for amount in range(0, 400, 20)]
_MIB = 1 << 20


@dataclass(frozen=True)
class Figure:
    """What was measured beside what is promised: at most that much, or at least."""

    what: str
    unit: str
    measured: float
    promised: float
    at_least: bool = False

    def __str__(self) -> str:
        kept = self.measured >= self.promised if self.at_least else self.measured <= self.promised
        bound = f"{'at least' if self.at_least else 'at most'} {self.promised:g}"
        return f"{self.what}: {self.measured:.4g} {self.unit} ({bound}{'' if kept else '; NOT REACHED'})"


def main() -> None:
    """Measure all, and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.figures", description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--turns", type=int, default=20, help="how often each is looked at")
    parser.add_argument("--jobs", type=int, default=2000, help="jobs that pass for their throughput")
    parser.add_argument("--guesses", type=int, default=3000, help="of keys, each of one in use and of none")
    parser.add_argument("--requests", type=int, default=100_000, help="predictions beside restarts")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for kind in given.database or ["sqlite", "postgresql"]:
        for figures in (_of_keys, _of_jobs, _of_throughput, _of_fits, _of_replicas):
            with tempfile.TemporaryDirectory(prefix="costboost-figures-") as folder, ExitStack() as stack:
                url, _ = stack.enter_context(database(kind, Path(folder)))
                for figure in figures(Processes(url, Path(folder), stack), given):
                    print(f"{kind}: {figure}", flush=True)


class Processes:
    """Those of one service, which end with `stack`."""

    def __init__(self, url: str, folder: Path, stack: ExitStack) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self._settings = {
            "COSTBOOST_DATABASE_URL": url,
            "COSTBOOST_STORE_URL": (folder / "store").as_uri(),
            "COSTBOOST_MAX_QUEUED_JOBS": "1000000",
            "COSTBOOST_LOG_LEVEL": "warning",
        }
        self._output = stack.enter_context((folder / "processes.log").open("ab"))
        self._stack = stack

    def api(self) -> tuple[Kept, int]:
        """Start one and wait until it answers."""
        port = free_port()
        one = self._start(["api"], {"COSTBOOST_PORT": str(port)})
        _wait(lambda: is_ready(port))
        return one, port

    def worker(self, kind: str, slots: int) -> Kept:
        """Start one that does its jobs as `tests.chaos.process` says."""
        return self._start(["worker", kind], {"COSTBOOST_WORKERS": str(slots)})

    def _start(self, arguments: Sequence[str], settings: Mapping[str, str]) -> Kept:
        one = Kept(arguments[0], arguments, {**self._settings, **settings}, self._output)
        self._stack.callback(lambda: (one.signal(signal.SIGTERM), one.wait(60)))
        return one


class Client:
    """Asks for jobs, and what became of them."""

    def __init__(self, port: int, rows: int = 150) -> None:
        self.http = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0)
        answer = self.http.post("/v1/datasets", content=table(rows), headers={"Content-Type": "text/csv"})
        self._dataset = _sound(answer)["id"]

    def submit(self, model: str = "cards", **wishes: Any) -> dict[str, Any]:
        """Post a job."""
        order = {"model": model, "dataset": self._dataset, "costs": {"fn": 5, "fp": 1}, **wishes}
        return _sound(self.http.post("/v1/training-jobs", json={"algorithm": "adaboost", **order}))

    def job(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Look at it."""
        return _sound(self.http.get(f"/v1/training-jobs/{job['id']}"))

    def wait(self, job: Mapping[str, Any], *statuses: str, attempt: int = 1) -> dict[str, Any]:
        """Look until it is that far."""
        seen = dict[str, Any]()

        def is_there() -> bool:
            seen.update(self.job(job))
            return seen["status"] in statuses and seen["attempt"] >= attempt

        _wait(is_there)
        return seen

    def cancel(self, job: Mapping[str, Any]) -> None:
        """Ask for its end."""
        _sound(self.http.post(f"/v1/training-jobs/{job['id']}/cancel"))


def _of_keys(processes: Processes, given: argparse.Namespace) -> Iterator[Figure]:
    """Whether keys with a wrong secret are refused as soon as keys that there are not."""
    client = Client(processes.api()[1])
    made = _sound(client.http.post("/v1/api-keys", json={"name": "guessed", "scopes": ["predict"]}))
    ids, seconds = (made["id"], new_id("key")), tuple[list[float], list[float]](([], []))
    for _ in range(given.guesses):
        # The key itself is at hand meanwhile, as that of a client at work.
        _sound(client.http.get("/v1/models", headers=_bearer(made["key"])))
        for which in random.sample(range(2), 2):
            began = time.perf_counter()
            answer = client.http.get(
                "/v1/models", headers=_bearer(token_of(ids[which], secrets.token_hex(32)))
            )
            seconds[which].append(time.perf_counter() - began)
            if answer.status_code != 401:
                raise RuntimeError(f"a guessed key was answered {answer.status_code}")
    of_used, of_none = map(statistics.fmean, seconds)
    spread = min(map(statistics.stdev, seconds))
    what = "the refusals of a key in use and of none differ in their means"
    yield Figure(f"{what}, against the spread of one", "us", 1e6 * abs(of_used - of_none), 1e6 * spread)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _of_jobs(processes: Processes, given: argparse.Namespace) -> Iterator[Figure]:
    """What one worker does with jobs that only pass through, or that would not end."""
    client = Client(processes.api()[1])
    worker = processes.worker("pass", slots=2)
    client.wait(client.submit(), "succeeded")
    starts = []
    for _ in range(3 * given.turns):
        time.sleep(random.uniform(0.0, 1.0))
        done = client.wait(client.submit(), "succeeded")
        starts.append(1000.0 * _between(done, "created_at", "started_at"))
    yield Figure("an idle worker begins, p50", "ms", _quantile(starts, 0.5), 150)
    yield Figure("an idle worker begins, p95", "ms", _quantile(starts, 0.95), 300)
    limits = {"seconds": LIMIT_SECONDS}
    late = [
        _between(client.wait(client.submit(LONG, limits=limits), "failed"), "started_at", "finished_at")
        for _ in range(given.turns)
    ]
    yield Figure("a job ends after its time limit, most", "s", max(late) - LIMIT_SECONDS, 2.0)
    most = [_most_memory(client, worker) for _ in range(max(1, given.turns // 4))]
    yield Figure("a job takes of its memory limit, most", "times", max(most) / LIMIT_MB, 1.1)
    goes_on = [_goes_on(client, worker) for _ in range(max(1, given.turns // 2))]
    yield Figure("a job goes on after its worker was killed, most", "s", max(goes_on), LEASE_SECONDS + 5)


def _of_throughput(processes: Processes, given: argparse.Namespace) -> Iterator[Figure]:
    """How many jobs pass through two workers of eight slots; they wait before these start."""
    client = Client(processes.api()[1])
    with ThreadPoolExecutor(4) as threads:
        jobs = list(threads.map(lambda _: client.submit(), range(given.jobs)))
    for _ in range(2):
        processes.worker("pass", slots=8)
    # Seldom: to look takes a processor from those who work.
    _wait(lambda: client.job(jobs[-1])["status"] == "succeeded", pause=0.5)
    done = [client.wait(job, "succeeded") for job in jobs]
    begun = min(_moment(job, "started_at") for job in done)
    ended = max(_moment(job, "finished_at") for job in done)
    promised = 30 if processes.is_sqlite else 50
    rate = len(done) / (ended - begun).total_seconds()
    yield Figure(
        "jobs of a tenth of a second pass through 16 slots", "a second", rate, promised, at_least=True
    )


def _of_fits(processes: Processes, given: argparse.Namespace) -> Iterator[Figure]:
    """How soon a training ends that is cancelled in the midst of compiled code."""
    client = Client(processes.api()[1], rows=20_000)
    processes.worker("fit", slots=1)
    params = {"n_estimators": 10_000}
    taken = []
    for _ in range(given.turns):
        job = client.submit(params=params)
        _wait(lambda job=job: (client.job(job)["progress"] or {}).get("round", 0) > 5)
        asked = time.monotonic()
        client.cancel(job)
        client.wait(job, "cancelled")
        taken.append(time.monotonic() - asked)
    yield Figure("a training ends after its cancel, most", "s", max(taken), 2.0)


def _of_replicas(processes: Processes, given: argparse.Namespace) -> Iterator[Figure]:
    """Whether those who ask for predictions notice that two replicas are restarted in turn."""
    replicas = [processes.api() for _ in range(2)]
    ports = [port for _, port in replicas]
    client = Client(ports[0], rows=400)
    worker = processes.worker("fit", slots=1)
    client.wait(client.submit(), "succeeded")
    worker.signal(signal.SIGTERM)
    answer = client.http.post("/v1/models/cards/predict", json={"rows": ROWS})
    callers = [Caller(order, ROWS, _sound(answer)["predictions"]) for order in (ports, ports[::-1])]
    restarts = 0
    with _calling(callers):
        while (answered := sum(caller.answered for caller in callers)) < given.requests:
            replica, port = replicas[restarts % 2]
            replica.signal(signal.SIGTERM)
            replica.wait(90)
            replica.restart()
            _wait(lambda port=port: is_ready(port))
            restarts += 1
    faults = sum(len(caller.faults) for caller in callers)
    print(*[fault for caller in callers for fault in caller.faults[:5]], sep="\n", end="")
    what = f"of {answered} predictions, beside {restarts} restarts, were answered rightly"
    yield Figure(what, "%", 100.0 * (answered - faults) / answered, 99.99, at_least=True)


@contextmanager
def _calling(callers: Sequence[Caller]) -> Iterator[None]:
    for caller in callers:
        caller.start()
    try:
        yield
    finally:
        for caller in callers:
            caller.stopping.set()
        for caller in callers:
            caller.join(90)


def _goes_on(client: Client, worker: Kept) -> float:
    """Seconds from the death of a worker, which its supervisor starts again, to the next attempt."""
    job = client.submit(LONG)
    client.wait(job, "running")
    worker.signal(signal.SIGKILL)
    killed = time.monotonic()
    worker.wait(10)
    worker.restart()
    client.wait(job, "running", attempt=2)
    seconds = time.monotonic() - killed
    client.cancel(job)
    client.wait(job, "cancelled")
    return seconds


def _most_memory(client: Client, worker: Kept) -> float:
    """MiB that a job had at most which takes what it gets."""
    owner = psutil.Process(worker.pid)
    job, most = client.submit(GREEDY, limits={"memory_mb": LIMIT_MB}), 0.0
    while (seen := client.job(job))["status"] not in ("failed", "succeeded"):
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            most = max([most, *(_resident(child) for child in owner.children(recursive=True))])
    if seen["status"] != "failed" or seen["error"]["code"] != "memory_limit":
        raise RuntimeError(f"what takes all memory ended as {seen}")
    return most


def _resident(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        return float(process.memory_info().rss) / _MIB
    return 0.0


def is_ready(port: int) -> bool:
    """Whether a replica answers."""
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz", timeout=10).status_code == 200
    except httpx2.TransportError:
        return False


def _wait(is_there: Callable[[], bool], seconds: float = 300.0, pause: float = 0.01) -> None:
    end = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not come")
        time.sleep(pause)


def _sound(answer: httpx2.Response) -> dict[str, Any]:
    if not answer.is_success:
        raise RuntimeError(f"{answer.status_code} {answer.text}")
    return dict(answer.json())


def _moment(job: Mapping[str, Any], name: str) -> datetime:
    return datetime.fromisoformat(job[name])


def _between(job: Mapping[str, Any], first: str, last: str) -> float:
    return (_moment(job, last) - _moment(job, first)).total_seconds()


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    main()
