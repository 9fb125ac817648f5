"""Over HTTP: single rows beside peers, batches by body, single rows while batches run."""

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from . import draws, environments, servers
from .load import Traffic, drive, post
from .results import OURS, Samples, Table, rounded
from .servers import COLUMNS, FASTAPI, MLFLOW, MLSERVER, MODEL, Server

PREDICT = f"/v1/models/{MODEL}/predict"
ROWS = 10_000


def measure(quick: bool) -> list[Table]:
    """Start all servers once, and load them in turn."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        homes = {name: Path(folder, name) for name in ("ours", "fastapi", "mlserver", "mlflow")}
        for home in homes.values():
            home.mkdir()
        servers.train(homes["ours"])
        running = {
            OURS: stack.enter_context(servers.costboost(homes["ours"])),
            FASTAPI: stack.enter_context(servers.fastapi(homes["fastapi"])),
        }
        if (python := environments.python_of("mlserver")) is not None:
            running[MLSERVER] = stack.enter_context(servers.mlserver(homes["mlserver"], python))
        if (python := environments.python_of("mlflow")) is not None:
            running[MLFLOW] = stack.enter_context(servers.mlflow(homes["mlflow"], python))
        return [*_single_rows(running, quick), *_bodies(running, quick), _beside_batches(running, quick)]


def _single_rows(running: dict[str, Server], quick: bool) -> list[Table]:
    requests = _single_requests()
    turns, seconds = (2, 1.0) if quick else (3, 2.0)
    cpu: dict[str, Samples] = {}
    times: dict[str, Samples] = {}
    rate: dict[str, Samples] = {}
    for connections in (1, 16):
        title = f"{connections} connection{'s' if connections > 1 else ''}"
        cpu[title] = _no_samples(running)
        p50, p99, pause = (_no_samples(running) for _ in range(3))
        for turn in range(turns + 1):
            for name, server in running.items():
                before = server.cpu()
                (answers,) = drive([Traffic(server.port, requests[name], connections)], seconds)
                if turn == 0:
                    continue  # it warmed up
                cpu[title][name].append(1e6 * (server.cpu() - before) / len(answers.latencies))
                p50[name].append(answers.milliseconds(50))
                p99[name].append(answers.milliseconds(99))
                pause[name].append(1e3 / answers.per_second)
        times |= {f"{title}, p50": p50, f"{title}, p99": p99}
        rate[title] = pause
    note = (
        "A JSON object of 30 named numbers. Costboost: 100 stumps, all columns checked by name and type, "
        "calibrated probabilities, expected costs and the decision. The peers: a logistic regression; "
        "MLServer takes a 1 × 30 tensor, MLflow a table of one row. "
        "One server process each; the client runs on the same machine."
    )
    return [
        Table("http-cpu", "One row over HTTP: CPU of the server", "µs per request", rounded(cpu), note),
        Table("http-time", "One row over HTTP: latency", "ms of wall", rounded(times)),
        Table("http-rate", "One row over HTTP: throughput", "ms of wall per answer", rounded(rate)),
    ]


def _no_samples(names: Iterable[str]) -> Samples:
    return {name: [] for name in names}


def _single_requests() -> dict[str, bytes]:
    X, _ = draws.dense(1, len(COLUMNS), seed=1)
    row = dict(zip(COLUMNS, X[0].tolist(), strict=True))
    tensor = {"name": "x", "shape": [1, len(COLUMNS)], "datatype": "FP32", "data": X[0].tolist()}
    return {
        OURS: post(PREDICT, json.dumps({"rows": [row]}).encode()),
        FASTAPI: post("/predict", json.dumps(row).encode()),
        MLSERVER: post(
            f"/v2/models/{MODEL}/infer",
            json.dumps({"inputs": [tensor], "outputs": [{"name": "predict_proba"}]}).encode(),
        ),
        MLFLOW: post("/invocations", json.dumps({"dataframe_records": [row]}).encode()),
    }


def bodies() -> dict[str, tuple[bytes, str]]:
    """Ten thousand rows as the bodies that the service reads, with their media types."""
    X, _ = draws.dense(ROWS, len(COLUMNS), seed=1)
    rows = [dict(zip(COLUMNS, values, strict=True)) for values in X.tolist()]
    lines = [",".join(COLUMNS), *(",".join(map(repr, values)) for values in X.tolist())]
    sink = pa.BufferOutputStream()
    table = pa.table({name: X[:, column].astype(np.float64) for column, name in enumerate(COLUMNS)})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {
        "JSON": (json.dumps({"rows": rows}).encode(), "application/json"),
        "CSV": ("\n".join(lines).encode() + b"\n", "text/csv"),
        "Arrow": (sink.getvalue().to_pybytes(), "application/vnd.apache.arrow.stream"),
    }


def _bodies(running: dict[str, Server], quick: bool) -> list[Table]:
    """CPU of the server for one batch, in turn with the peer's JSON."""
    given = bodies()
    kinds = [kind for kind in given if kind == "JSON" or _is_read(running[OURS], given[kind])]
    works: dict[str, tuple[Server, bytes]] = {
        f"{OURS} {kind}": (running[OURS], _batch_request(*given[kind])) for kind in kinds
    }
    works[FASTAPI] = (running[FASTAPI], post("/batch", given["JSON"][0]))
    cpu: Samples = {name: [] for name in works}
    for turn in range(3 if quick else 6):
        for name, (server, request) in works.items():
            spent = _cpu_of_one(server, request, 1.0)
            if turn:
                cpu[name].append(spent)
    cases = {"10k rows × 30": {OURS: cpu.pop(f"{OURS} JSON"), **cpu}}
    absent = [kind for kind in given if kind not in kinds]
    note = "Body in, answer out. FastAPI reads the same JSON and answers with one number per row."
    if absent:
        note += f" The service does not read {' and '.join(absent)} of this request."
    return [Table("bodies", "A batch over HTTP: CPU of the server", "ms per batch", _milli(cases), note)]


def _batch_request(body: bytes, media_type: str) -> bytes:
    if media_type == "application/json":
        return post(PREDICT, body, media_type)
    return post(PREDICT, body, media_type, accept=media_type)


def _is_read(server: Server, body: tuple[bytes, str]) -> bool:
    try:
        drive([Traffic(server.port, _batch_request(*body), 1)], 0.0)
    except RuntimeError as error:
        if " 415 " in str(error) or " 406 " in str(error):
            return False
        raise
    return True


def _cpu_of_one(server: Server, request: bytes, seconds: float) -> float:
    before = server.cpu()
    (answers,) = drive([Traffic(server.port, request, 1)], seconds)
    return (server.cpu() - before) / len(answers.latencies)


def _milli(cases: dict[str, Samples]) -> dict[str, Samples]:
    return rounded(
        {
            case: {name: [1e3 * value for value in values] for name, values in methods.items()}
            for case, methods in cases.items()
        }
    )


def _beside_batches(running: dict[str, Server], quick: bool) -> Table:
    """Latency of single rows alone, and while one client sends batches without a pause."""
    requests = _single_requests()
    json_body = bodies()["JSON"][0]
    paths: dict[str, Callable[[], Any]] = {
        OURS: lambda: post(PREDICT, json_body),
        FASTAPI: lambda: post("/batch", json_body),
    }
    cases: dict[str, Samples] = {"alone, p99": {}, "beside batches, p99": {}, "beside batches, p50": {}}
    for methods in cases.values():
        methods |= {name: [] for name in paths}
    for _ in range(2 if quick else 3):
        for name, batch in paths.items():
            port = running[name].port
            single = Traffic(port, requests[name], 4)
            (alone,) = drive([single], 1.0)
            loaded, _ = drive([single, Traffic(port, batch(), 1)], 2.0 if quick else 3.0)
            cases["alone, p99"][name].append(alone.milliseconds(99))
            cases["beside batches, p99"][name].append(loaded.milliseconds(99))
            cases["beside batches, p50"][name].append(loaded.milliseconds(50))
    note = (
        "Four connections send single rows, a fifth sends 10k rows of JSON again and again. The FastAPI "
        "route scores batches on its event loop. The client shares the cores with the server."
    )
    return Table("beside", "Single rows while batches run", "ms of wall", rounded(cases), note)
