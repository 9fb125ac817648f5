"""Tables on their way in: a CSV of 95 MB into columns, and an upload of 500 MB."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from service.domain.datasets import IntakeLimits, IntakeOptions
from service.rows.intake import read_table

from . import draws, servers
from .memory import peak_beyond, peak_of, reset_peak
from .results import OURS, Samples, Table, rounded
from .servers import Server

POLARS = "polars, float32 schema"
COLUMNS = 32
UPLOAD_FILE = "FastAPI UploadFile"
_MIB = 2**20


def measure(quick: bool) -> list[Table]:
    """Measure reading in child processes and uploads over HTTP."""
    return [*_reading(quick), *_uploads(quick)]


def _reading(quick: bool) -> list[Table]:
    rows = 38_000 if quick else 380_000
    cpu: Samples = {OURS: [], POLARS: []}
    peak: Samples = {OURS: [], POLARS: []}
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        _write_csv(path, rows)
        size = path.stat().st_size / 1e6
        for _ in range(2):
            for method in cpu:
                command = [sys.executable, "-m", "speed.intake", method, str(path)]
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                seconds, beyond = json.loads(done.stdout.splitlines()[-1])
                cpu[method].append(seconds)
                peak[method].append(beyond / (rows * COLUMNS * 4))
    title = f"A numeric CSV of {size:.0f} MB, {rows // 1000}k × {COLUMNS} and a label"
    note = (
        "Costboost: strict, types found by itself, every column described, the result typed float64 columns. "
        "polars: told that all is float32, the result a matrix. Each in a process of its own, one thread."
    )
    case = "read"
    return [
        Table("csv", f"{title}: CPU", "s of CPU", rounded({case: cpu}), note),
        Table("csv-memory", f"{title}: peak memory", "times the float32 matrix", rounded({case: peak})),
    ]


def _write_csv(path: Path, rows: int) -> None:
    X, y = draws.dense(rows, COLUMNS)
    columns: dict[str, Any] = {f"c{column:02d}": X[:, column] for column in range(COLUMNS)}
    pl.DataFrame(columns | {"label": y}).write_csv(path, float_precision=5)


def _read(method: str, path: Path) -> Any:
    if method == POLARS:
        schema = {f"c{column:02d}": pl.Float32 for column in range(COLUMNS)} | {"label": pl.Int8}
        table = pl.read_csv(path, schema=schema)
        return np.asarray(table.drop("label").to_numpy(order="fortran"))
    limits = IntakeLimits(rows=2_000_000, columns=2_000, decoded_bytes=8 << 30)
    return read_table(path, "text/csv", IntakeOptions(label="label"), limits)


def _child(method: str, path: Path) -> None:
    with TemporaryDirectory() as folder:
        _write_csv(Path(folder, "small.csv"), 1_000)
        _read(method, Path(folder, "small.csv"))
    began = time.process_time()
    beyond = peak_beyond(partial(_read, method, path))
    print(json.dumps([time.process_time() - began, beyond]))


def _uploads(quick: bool) -> list[Table]:
    """Upload what is refused at its first line, so that reading it is no part of the figure."""
    size = (100 if quick else 500) * 10**6
    cpu: Samples = {OURS: [], UPLOAD_FILE: []}
    peak: Samples = {OURS: [], UPLOAD_FILE: []}
    with TemporaryDirectory() as folder:
        homes = {name: Path(folder, name) for name in ("ours", "fastapi")}
        for home in homes.values():
            home.mkdir()
        limit = str(2 * size)
        with (
            servers.costboost(homes["ours"], max_upload_bytes=limit) as ours,
            servers.fastapi(homes["fastapi"]) as peer,
        ):
            for turn in range(3):
                for name, server, send in ((OURS, ours, send_raw), (UPLOAD_FILE, peer, _send_form)):
                    reset_peak(server.process.pid)
                    resident, spent = server.process.memory_info().rss, server.cpu()
                    send(server, size)
                    if turn:
                        cpu[name].append(server.cpu() - spent)
                        peak[name].append((peak_of(server.process.pid) - resident) / _MIB)
    title = f"An upload of {size // 10**6} MB"
    note = (
        "Hashed and written once. The table is refused at its first line, so that reading it takes no time. "
        "The UploadFile route copies and hashes the file that the framework has spooled."
    )
    return [
        Table("upload", f"{title}: CPU of the server", "s of CPU", rounded({"upload": cpu}), note),
        Table("upload-memory", f"{title}: peak of the server", "MiB beyond rest", rounded({"upload": peak})),
    ]


def send_raw(server: Server, size: int) -> None:
    """Upload a table of so many bytes that is refused at its first line."""
    status = _send(server, "/v1/datasets?label=a", "text/csv", _filler(size))
    if status != 422:
        raise RuntimeError(f"the upload ended with {status}")


def _send_form(server: Server, size: int) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n'
    status = _send(
        server, "/upload", "multipart/form-data; boundary=x", [head, *_filler(size), b"\r\n--x--\r\n"]
    )
    if status != 200:
        raise RuntimeError(f"the upload ended with {status}")


def _filler(size: int) -> Iterator[bytes]:
    """A table that uses tabs instead of commas."""
    block = b"1.25\t2.5\n" * (_MIB // 9)
    yield b"a\tb\n"
    for _ in range(size // len(block)):
        yield block


def _send(server: Server, path: str, content_type: str, body: Any) -> int:
    blocks = list(body)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    length = str(sum(map(len, blocks)))
    connection.request("POST", path, iter(blocks), {"Content-Type": content_type, "Content-Length": length})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


if __name__ == "__main__":
    _child(sys.argv[1], Path(sys.argv[2]))
