"""Single rows over HTTP while nothing else happens, while all slots train and beside uploads: `make load`."""

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from . import draws, servers, soak
from .intake import send_raw
from .load import Answers, Traffic, drive, post
from .memory import peak_of, reset_peak
from .servers import COLUMNS, MODEL, Server
from .serving import PREDICT

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"
CONNECTIONS = (1, 8, 64)
SLOTS = 2
UPLOAD_BYTES = 500 * 10**6


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument(
        "--minutes", type=float, help="instead, use it for so long at a low rate; writes the page on memory"
    )
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder, bare = Path(name, "ours"), Path(name, "bare")
        folder.mkdir()
        bare.mkdir()
        servers.train(folder)
        if given.minutes is not None:
            with servers.costboost(folder, worker=SLOTS) as ours:
                looks = soak.run(ours, given.minutes)
            soak.publish(looks, DOCS)
            return
        limit = str(2 * UPLOAD_BYTES)
        with (
            servers.starlette(bare) as peer,
            servers.costboost(folder, worker=SLOTS, max_upload_bytes=limit) as ours,
        ):
            _measure(ours, peer, given.seconds)


def _measure(ours: Server, peer: Server, seconds: float) -> None:
    X, _ = draws.dense(1, len(COLUMNS), seed=1)
    body = json.dumps({"rows": [dict(zip(COLUMNS, X[0].tolist(), strict=True))]}).encode()
    print(
        f"{'':24}{'connections':>12}{'per second':>12}{'p50 ms':>9}{'p99 ms':>9}{'p99.9 ms':>10}", flush=True
    )

    def drives(title: str, server: Server, path: str) -> dict[int, Answers]:
        found = {}
        drive([Traffic(server.port, post(path, body), 8)], 1.0)  # it warms up
        for connections in CONNECTIONS:
            (answers,) = drive([Traffic(server.port, post(path, body), connections)], seconds)
            found[connections] = answers
            times = (answers.milliseconds(50), answers.milliseconds(99), answers.milliseconds(99.9))
            figures = f"{times[0]:>9.2f}{times[1]:>9.2f}{times[2]:>10.2f}"
            print(f"{title:24}{connections:>12}{answers.per_second:>12.0f}{figures}", flush=True)
        return found

    bare = drives("bare Starlette", peer, "/")
    idle = drives("idle", ours, PREDICT)
    before = ours.process.memory_info().rss
    with _training(ours):
        busy = drives(f"{SLOTS} slots train", ours, PREDICT)
    for connections in CONNECTIONS:
        ratio = idle[connections].milliseconds(50) / bare[connections].milliseconds(50)
        added = busy[connections].milliseconds(99) - idle[connections].milliseconds(99)
        print(f"{connections} connections: p50 is {ratio:.1f} times that of bare Starlette; ", end="")
        print(f"training adds {added:.1f} ms to p99")
    reset_peak(ours.process.pid)
    with _uploading(ours) as uploads:
        beside = drives("beside uploads", ours, PREDICT)
    for connections in CONNECTIONS:
        added = beside[connections].milliseconds(99) - idle[connections].milliseconds(99)
        print(f"{connections} connections: uploads of {UPLOAD_BYTES // 10**6} MB add {added:.1f} ms to p99")
    print(f"{len(uploads)} uploads meanwhile; highest memory {peak_of(ours.process.pid) / 2**20:.0f} MiB")
    after = ours.process.memory_info().rss
    print(f"memory of the API: {before / 2**20:.0f} MiB, afterwards {after / 2**20:.0f} MiB")


@contextmanager
def _training(ours: Server) -> Iterator[None]:
    """Keep every slot busy with a training that would take hours."""
    url = f"http://127.0.0.1:{ours.port}/v1"
    dataset = servers.call(f"{url}/datasets", None, "application/json")["data"][0]["id"]
    wish = {"model": f"{MODEL}-long", "dataset": dataset, "costs": {"fn": 50, "fp": 1}}
    wish |= {
        "algorithm": "adaboost",
        "params": {"n_estimators": 100_000, "estimator": {"name": "tree", "max_depth": 3}},
    }
    jobs = [
        servers.call(f"{url}/training-jobs", json.dumps(wish).encode(), "application/json")
        for _ in range(SLOTS)
    ]
    paths = [f"{url}/training-jobs/{job['id']}" for job in jobs]
    while any(servers.call(path, None, "application/json")["status"] == "queued" for path in paths):
        time.sleep(0.1)
    yield
    for path in paths:
        state = servers.call(path, None, "application/json")
        if state["status"] != "running":
            raise RuntimeError(f"a training ended too soon: {state}")
        servers.call(f"{path}/cancel", b"", "application/json")


@contextmanager
def _uploading(ours: Server) -> Iterator[list[float]]:
    """Send one large table after another, each refused at its first line once all of it was received."""
    done, over, seconds = threading.Event(), threading.Event(), list[float]()

    def upload() -> None:
        while not done.is_set():
            began = time.monotonic()
            send_raw(ours, UPLOAD_BYTES)
            seconds.append(time.monotonic() - began)
        over.set()

    threading.Thread(target=upload, name="uploads", daemon=True).start()
    yield seconds
    done.set()
    if not over.wait(120.0):
        raise RuntimeError("an upload does not end")


if __name__ == "__main__":
    main()
