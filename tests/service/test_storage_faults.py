"""A disk that is full, fails or may not be used: 503, nothing half-written, and all well once it is back."""

import errno
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from service.artifacts.folder import FolderStore
from tests.postgresql import free_port
from tests.service.conftest import Service, problem, table

#: A mount of one's own, which is gone with the process and which nobody else sees.
ALONE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
SERVE = """mount -t tmpfs -o size=16m tmpfs "$1" &&
    exec "$2" -m service.cli serve --no-worker --port="$3" --data-dir="$1"
"""


@dataclass(frozen=True)
class SmallDisk:
    """A service whose database and store have sixteen megabytes."""

    http: httpx2.Client
    root: Path
    pid: int

    def fill(self) -> Path:
        """Take all the room that is left."""
        path = self.root / "filler"
        with path.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                return path

    def files(self) -> set[Path]:
        """What the store holds."""
        return {path for path in (self.root / "store").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "true"], check=False).returncode:
        pytest.skip("no disk of one's own can be mounted here")
    folder, port = tmp_path_factory.mktemp("small"), free_port()
    with (tmp_path_factory.mktemp("log") / "log").open("wb") as log:
        process = subprocess.Popen(
            [*ALONE, "sh", "-c", SERVE, "sh", str(folder), sys.executable, str(port)], stderr=log
        )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as http:
            yield SmallDisk(http, Path(f"/proc/{process.pid}/root{folder}"), process.pid)
    finally:
        process.terminate()
        process.wait(30)


def upload(disk: SmallDisk, csv: str) -> httpx2.Response:
    return disk.http.post("/v1/datasets", content=csv.encode(), headers={"Content-Type": "text/csv"})


def is_ready(disk: SmallDisk) -> bool:
    try:
        return disk.http.get("/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def test_a_full_disk_refuses_and_forgets_nothing(
    small_disk: SmallDisk, wait_until: Callable[..., None]
) -> None:
    wait_until(lambda: is_ready(small_disk), 60.0)
    small, large = table(100), table(20_000)
    kept = upload(small_disk, small)
    assert kept.status_code == 201, kept.text
    before = small_disk.files()
    filler = small_disk.fill()
    for answer in (upload(small_disk, large), upload(small_disk, large)):
        problem(answer, 503, "storage_full")
        assert int(answer.headers["retry-after"]) > 0
    # The database may have room left in its log; if it has none it says so.
    spec = small_disk.http.post("/v1/cost-specs", json={"name": "full", "fn": 5, "fp": 1})
    if spec.status_code != 201:
        problem(spec, 503, "storage_full")
    assert small_disk.files() == before
    assert small_disk.http.get("/livez").status_code == 200
    assert small_disk.http.get("/readyz").status_code == 503
    assert small_disk.http.get(f"{kept.headers['location']}/content").status_code == 200
    filler.unlink()
    wait_until(lambda: is_ready(small_disk))
    again = upload(small_disk, large)
    assert again.status_code == 201, again.text
    listed = small_disk.http.get("/v1/datasets").json()["data"]
    assert [one["id"] for one in listed] == [again.json()["id"], kept.json()["id"]]
    with sqlite3.connect(small_disk.root / "costboost.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_too_many_open_files_are_an_outage(small_disk: SmallDisk, wait_until: Callable[..., None]) -> None:
    """Not one file more can be opened; the connection that asks is open already."""
    wait_until(lambda: is_ready(small_disk), 60.0)
    kept, csv = upload(small_disk, table(100, seed=2)), table(100, seed=3)
    usual = resource.prlimit(small_disk.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(small_disk.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    try:
        refused = problem(upload(small_disk, csv), 503, "storage_unavailable")
        assert "Too many open files" in refused["detail"]
        content = small_disk.http.get(f"{kept.headers['location']}/content")
        assert (content.status_code, content.headers["retry-after"]) == (503, "5")
        assert small_disk.http.get("/livez").status_code == 200
    finally:
        resource.prlimit(small_disk.pid, resource.RLIMIT_NOFILE, usual)
    assert upload(small_disk, csv).status_code == 201


@pytest.mark.parametrize("reason", [errno.EIO, errno.EROFS, errno.EACCES])
def test_what_cannot_be_read_is_an_outage(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    http = sqlite_service.http
    kept = sqlite_service.upload(table(50, seed=39))
    store = sqlite_service.wiring.store
    assert isinstance(store, FolderStore)
    opened = Path.open

    def failing(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.is_relative_to(store.root) and path.parent.name != "incoming":
            raise OSError(reason, os.strerror(reason), str(path))
        return opened(path, *arguments, **options)

    for end in ("content", "profile"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, "open", failing)
            answer = http.get(f"/v1/datasets/{kept['id']}/{end}")
        refused = problem(answer, 503, "storage_unavailable")
        assert int(answer.headers["retry-after"]) > 0
        assert str(store.root) not in refused["detail"]
        assert http.get(f"/v1/datasets/{kept['id']}/{end}").status_code == 200


@pytest.mark.parametrize(
    ("reason", "code"), [(errno.ENOSPC, "storage_full"), (errno.EIO, "storage_unavailable")]
)
def test_a_store_that_fails_at_any_step_leaves_no_row(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch, reason: int, code: str
) -> None:
    """Each call that makes bytes durable or names them fails in turn, until none is left to fail.

    Bytes that have their name already may stay: nothing refers to them, and a sweep deletes them.
    """
    http, csv = sqlite_service.http, table(50, seed=38 + reason).encode()
    assert isinstance(sqlite_service.wiring.store, FolderStore)
    incoming = sqlite_service.wiring.store.root / "incoming"

    def listed() -> list[str]:
        return [one["id"] for one in http.get("/v1/datasets", params={"limit": 200}).json()["data"]]

    before = listed()
    for step in count():
        calls = count()
        with monkeypatch.context() as patched:
            for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "mkdir")):
                patched.setattr(owner, name, _failing(getattr(owner, name), calls, step, reason))
            answer = http.post("/v1/datasets", content=csv, headers={"Content-Type": "text/csv"})
        if answer.status_code == 201:
            break
        problem(answer, 503, code)
        assert (listed(), list(incoming.iterdir())) == (before, []), step
    assert step > 3
    assert listed() == [answer.json()["id"], *before]


def _failing(real: Callable[..., Any], calls: Iterator[int], step: int, reason: int) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) == step:
            raise OSError(reason, os.strerror(reason))
        return real(*arguments, **options)

    return call
