"""The whole deployment, for real: `make compose-test` builds it, uses it, breaks it, and takes it down.

Needs Docker with docker-compose 1.29 or newer, and of Python nothing but the standard library. Each step is
judged; the first that fails ends the run, with the last lines of every container.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from compose import ROOT, CommandError, Compose

sys.path.insert(0, str(ROOT / "demo"))

from http_api import Api, RefusedError
from tables import CARD_FRAUD, GERMAN_CREDIT, Table, features, money

from demo import upload

#: How long anything may take: machines that build and test at once are slow.
PATIENCE = float(os.environ.get("COMPOSE_TEST_SECONDS", "600"))
#: Rounds of a job that is still running when it is disturbed: half a minute or so.
MANY_ROUNDS = 10_000
#: Seconds within which the proxy lets go of a client that sends nothing.
DEADLINE = 15.0
CONFINED = ("api", "worker", "proxy")


class BrokenError(Exception):
    """A promise was not kept."""


def main() -> int:
    """Run every step; 0 when all promises were kept."""
    # A SIGTERM, too, must leave no container behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    bucket = {"COMPOSE_PROFILES": "s3", "STORE_ENV": "deploy/store/s3.env"}
    if not (is_kept(run, Compose(free_port())) and is_kept(run_on_a_bucket, Compose(free_port(), **bucket))):
        return 1
    print(f"All promises were kept, in {time.monotonic() - began:.0f} s.")
    return 0


def is_kept(steps: Callable[[Compose], None], compose: Compose) -> bool:
    """Go through steps of one deployment, and take it down."""
    try:
        steps(compose)
    except (BrokenError, CommandError, RefusedError, OSError) as error:
        print(compose("logs", "--no-color", "--tail", "30"), file=sys.stderr)
        print(f"FAILED: {error}", file=sys.stderr)
        return False
    finally:
        compose("down", "--volumes", "--remove-orphans")
    left = compose.docker("ps", "-aq", "--filter", f"label=com.docker.compose.project={compose.project}")
    check(not left, "nothing is left of the project")
    return True


def run(compose: Compose) -> None:
    """All steps, one after the other."""
    with step("images are built"):
        compose("build")
    with step("everything starts, in order, with two workers"):
        compose("up", "-d", "--scale", "worker=2")
        until(lambda: status_of(f"{compose.url}/readyz") == 200, "the service to be ready")
    with step("by their health checks, all are well"):
        are_well(compose)
    with step("containers are confined, and no image holds a compiler"):
        are_confined(compose)
    with step("without a key nothing is answered; the first key is made on the command line"):
        check(status_of(f"{compose.url}/v1/models") == 401, "401 without a key")
        api = first_key(compose)
    with step("a table is uploaded, a model trained, and its decisions are worth money"):
        decides_well(api)
    with step("a client that does not send on is let go"):
        lets_go(compose)
    with step("a worker is killed in mid-job, and another one ends the job"):
        survives_a_worker(compose, api)
    with step("the database is restarted in mid-job: 503 at worst, and nothing is lost"):
        survives_the_database(compose, api)
    with step("three workers share what there is to do"):
        shares_work(compose, api)
    with step("folds are fitted on a Dask cluster over TLS, and the model is the same to the byte"):
        spreads(compose, api)
    with step("asked to stop, all end in order"):
        stops_in_order(compose, api)


def run_on_a_bucket(compose: Compose) -> None:
    """What is another with a bucket for a store."""
    with step("everything starts, with a bucket for a store"):
        compose("up", "-d", "--build")
        until(lambda: status_of(f"{compose.url}/readyz") == 200, "the service to be ready")
        are_well(compose, "s3")
    with step("a model is trained into the bucket, and decides out of it"):
        decides_well(first_key(compose))
        listing = (
            "import urllib.request as r; print(r.urlopen('http://127.0.0.1:5000/costboost').read().decode())"
        )
        listed = compose.docker("exec", compose.containers("s3")[0], "python", "-c", listing)
        check(listed.count("<Key>") >= 4, "the bucket holds a table, a model, its report and its test part")


def first_key(compose: Compose) -> Api:
    """The service as who runs it asks it first."""
    command = ("costboost", "keys", "create", "--tenant", "test", "--scopes", "admin")
    key = compose("run", "--rm", "--no-deps", "-T", "api", *command)
    return Api(compose.url, key.split()[-1])


def are_well(compose: Compose, *more: str) -> None:
    """Each container that has a health check passes it."""
    for service in ("postgres", "api", "worker", "proxy", *more):
        for container in compose.containers(service):
            until(partial(compose.is_well, container), f"{service} to be well")


def are_confined(compose: Compose) -> None:
    """No root, no capability, no writing, no compiler."""
    for service in CONFINED:
        for container in compose.containers(service):
            known = compose.inspect(container)
            host = known["HostConfig"]
            check(host["ReadonlyRootfs"], f"{service} cannot write to its image")
            check(host["CapDrop"] == ["ALL"] and not host["CapAdd"], f"{service} has no capability")
            check(compose.docker("exec", container, "id", "-u").strip() != "0", f"{service} is not root")
            tools = "command -v cc gcc g++ clang ld || true"
            check(not compose.docker("exec", container, "sh", "-c", tools), f"{service} has no compiler")
    warm = "from costboost.warming import is_warm; print(is_warm())"
    shown = compose.docker("exec", compose.containers("worker")[0], "python", "-c", warm)
    check(shown.strip() == "True", "kernels come compiled with the image")


def decides_well(api: Api) -> None:
    """Decisions on rows kept back cost less than granting or refusing every credit."""
    dataset = upload(api, GERMAN_CREDIT)
    job = finished(api, train(api, dataset, GERMAN_CREDIT, 100))
    types = {one["name"]: one["type"] for one in dataset["columns"] if one["role"] == "feature"}
    rows = GERMAN_CREDIT.held_out()
    inputs = [features(row, types) for row in rows]
    answers = api.predict(GERMAN_CREDIT.name, job["result"]["version"], inputs)
    check(len(answers) == len(rows), "an answer for each row")
    cost = sum(money(row, answer["label"]) for row, answer in zip(rows, answers, strict=True))
    constant = min(sum(money(row, label) for row in rows) for label in ("0", "1"))
    check(cost < constant, f"decisions cost {cost:.0f}, less than the {constant:.0f} of deciding all alike")


def lets_go(compose: Compose) -> None:
    """A request that stops in its headers, or in its body, is cut off."""
    host, port = compose.url.removeprefix("http://").split(":")
    head = "POST /v1/datasets HTTP/1.1\r\nHost: test\r\n"
    for sent in (head, f"{head}Content-Length: 100\r\n\r\nsome"):
        with socket.create_connection((host, int(port)), timeout=DEADLINE) as connection:
            connection.sendall(sent.encode())
            try:
                while connection.recv(4096):
                    pass
            except ConnectionResetError:
                continue
            except TimeoutError:
                raise BrokenError(f"not let go within {DEADLINE:.0f} s") from None


def survives_a_worker(compose: Compose, api: Api) -> None:
    """The job of a container that is killed is taken by another."""
    job_id = train(api, upload(api, CARD_FRAUD), CARD_FRAUD, MANY_ROUNDS)
    worker = until(lambda: runner(compose, job_id), "a worker to take the job")
    compose.docker("kill", "--signal", "KILL", worker)
    check(not read(api, job_id)["done"], "the job was under way")
    job = finished(api, job_id)
    check(job["attempt"] == 2, "the second attempt ended the job")
    others = [one for one in compose.containers("worker") if job_id in compose.begun(one)]
    check(others and worker not in others, "another worker ended it")


def survives_the_database(compose: Compose, api: Api) -> None:
    """While PostgreSQL restarts, requests are answered or put off, and the job goes on."""
    job_id = train(api, upload(api, CARD_FRAUD), CARD_FRAUD, MANY_ROUNDS)
    until(lambda: runner(compose, job_id), "a worker to take the job")
    with asked_all_the_time(api) as seen:
        compose("restart", "postgres")
        until(lambda: status_of(f"{compose.url}/readyz") == 200, "the service to be ready again")
    check(set(seen) <= {200, 503}, f"only 200 and 503, but there were {dict(seen)}")
    job = finished(api, job_id)
    check(job["attempt"] == 1, "the attempt that was under way ended the job")


def shares_work(compose: Compose, api: Api) -> None:
    """Three workers, of which one replaces the one that was killed, have each a job at the same time."""
    compose("up", "-d", "--no-recreate", "--scale", "worker=3")
    until(lambda: len(compose.containers("worker")) == 3, "three workers")
    dataset = upload(api, CARD_FRAUD)
    jobs = {train(api, dataset, CARD_FRAUD, MANY_ROUNDS) for _ in range(3)}
    workers = compose.containers("worker")
    until(lambda: all(jobs & compose.begun(one) for one in workers), "each worker to take a job")
    for job_id in jobs:
        finished(api, job_id)


def spreads(compose: Compose, api: Api) -> None:
    """A worker that is given a cluster trains the model that it trains alone."""
    dataset = upload(api, GERMAN_CREDIT)
    alone = finished(api, train(api, dataset, GERMAN_CREDIT, 50))
    compose.give(COMPOSE_PROFILES="cluster", COMPUTE="dask+tls://dask-scheduler:8786")
    compose("up", "-d", "--scale", "dask-worker=2", "--scale", "worker=1")
    spread = finished(api, train(api, dataset, GERMAN_CREDIT, 50))
    seen = "".join(compose.logs(one) for one in compose.containers("dask-scheduler"))
    check("Receive client connection" in seen, "the job went to the cluster")
    check(artifact(api, alone) == artifact(api, spread), "both models have the same bytes")
    bare = (
        "import socket, ssl; tls = ssl._create_unverified_context();"
        "one = tls.wrap_socket(socket.create_connection(('dask-scheduler', 8786), 30)); one.recv(1)"
    )
    try:
        compose.docker("exec", compose.containers("dask-worker")[0], "python", "-c", bare)
    except CommandError as refused:
        check("CERTIFICATE_REQUIRED" in str(refused), "the cluster asks for a certificate")
    else:
        check(False, "who shows no certificate does not get in")


def stops_in_order(compose: Compose, api: Api) -> None:
    """SIGTERM ends API and workers with status 0, also in mid-job."""
    job_id = train(api, upload(api, CARD_FRAUD), CARD_FRAUD, MANY_ROUNDS)
    until(lambda: runner(compose, job_id), "a worker to take the job")
    containers = [one for service in CONFINED for one in compose.containers(service)]
    compose("stop")
    for container in containers:
        known = compose.inspect(container)
        check(known["State"]["ExitCode"] == 0, f"{known['Name']} ended with status 0")


def train(api: Api, dataset: dict[str, Any], table: Table, rounds: int) -> str:
    """Ask for a job of so many rounds."""
    params = {"n_estimators": rounds}
    spec = {"dataset": dataset["id"], "costs": table.costs, "algorithm": "adacost", "params": params}
    return api.train(model=table.name, seed=7, **spec)


def artifact(api: Api, job: dict[str, Any]) -> str:
    """The hash of the model that a job has made."""
    path = f"/v1/models/{job['result']['model']}/versions/{job['result']['version']}"
    with urllib.request.urlopen(urllib.request.Request(api.url + path, headers=api.headers)) as answer:
        return str(json.load(answer)["artifact_sha256"])


def read(api: Api, job_id: str) -> dict[str, Any]:
    """How a job stands."""
    return next(api.watch(job_id))


def finished(api: Api, job_id: str) -> dict[str, Any]:
    """Wait for the success of a job."""
    until(lambda: read(api, job_id)["done"], f"the end of {job_id}")
    return read(api, job_id)


def runner(compose: Compose, job_id: str) -> str | None:
    """The worker that has begun a job."""
    return next((one for one in compose.containers("worker") if job_id in compose.begun(one)), None)


@contextmanager
def asked_all_the_time(api: Api) -> Iterator[Counter[int]]:
    """Ask for the list of models again and again; yields how often each status was answered."""
    seen: Counter[int] = Counter()
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.1):
            seen[status_of(f"{api.url}/v1/models", api.headers)] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def status_of(url: str, headers: dict[str, str] | None = None) -> int:
    """The status of a GET; 0 where nothing answers."""
    request = urllib.request.Request(url, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def check(kept: object, promise: str) -> None:
    """End the run unless the promise was kept."""
    if not kept:
        raise BrokenError(f"a promise was not kept: {promise}")


def until(found: Callable[[], Any], what: str) -> Any:
    """Wait for something, and return it."""
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        if time.monotonic() > end:
            raise BrokenError(f"waited {PATIENCE:.0f} s in vain for {what}")
        time.sleep(0.3)
    return value


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what was tried, and how long it took."""
    began = time.monotonic()
    print(f"{what} ...", flush=True)
    yield
    print(f"    ok, {time.monotonic() - began:.0f} s", flush=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
