"""What the guide says on backups and upgrades is enough: elsewhere, and after it, the same is decided."""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from alembic import command

from service.db import migrations
from service.db.engine import open_database
from tests.postgresql import drop_database, find_binaries, make_database
from tests.service.conftest import Service, running, settings_for, table

ROWS = [{"amount": amount, "hour": 3, "merchant": "d"} for amount in (5, 120, 300)]


@pytest.fixture(scope="module")
def trained(service: Service) -> Service:
    job = service.train("backed-up", table(120), {"fn": 20, "fp": 1}, params={"n_estimators": 3})
    assert job["status"] == "succeeded", job
    return service


@pytest.fixture
def restored_url(
    trained: Service, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], str]]:
    """Copies the database as an administrator would while it is in use, and tells the address of the copy."""
    url = trained.settings.database_url.get_secret_value()
    if url.startswith("sqlite"):

        def copy_file() -> str:
            path = tmp_path / "copy.db"
            with sqlite3.connect(url.removeprefix("sqlite:///")) as source, sqlite3.connect(path) as target:
                source.backup(target)
            source.close()
            target.close()
            return f"sqlite:///{path}"

        yield copy_file
        return
    server = request.getfixturevalue("postgresql_server")
    binaries = find_binaries(tmp_path)
    assert binaries is not None
    fresh = make_database(server)

    def dump_and_restore() -> str:
        dump = tmp_path / "dump"
        subprocess.run([binaries / "pg_dump", "--format=custom", "--file", dump, url], check=True)
        subprocess.run([binaries / "pg_restore", "--exit-on-error", "--dbname", fresh, dump], check=True)
        return fresh

    yield dump_and_restore
    drop_database(server, fresh)


def test_a_backup_decides_the_same_elsewhere(
    trained: Service, restored_url: Callable[[], str], tmp_path: Path
) -> None:
    before = trained.predict("backed-up", ROWS)
    url = restored_url()
    # The database first: rows never name bytes that are not there.
    shutil.copytree(urlsplit(trained.settings.store_url).path, tmp_path / "store")
    with running(settings_for(url, tmp_path), with_worker=False, preload=()) as elsewhere:
        assert elsewhere.predict("backed-up", ROWS) == before
        for path in (
            "/v1/models/backed-up",
            "/v1/datasets",
            "/v1/training-jobs",
            "/v1/models/backed-up/versions/1",
        ):
            assert elsewhere.http.get(path).json() == trained.http.get(path).json(), path
        assert elsewhere.http.get("/v1/models/backed-up/versions/1/evaluation").status_code == 200
        assert elsewhere.http.get("/readyz").json()["database"] is True


def test_data_of_the_revision_before_are_served_after_an_upgrade(
    trained: Service, restored_url: Callable[[], str], tmp_path: Path
) -> None:
    before = trained.predict("backed-up", ROWS)
    database = open_database(restored_url())
    config = migrations._config()
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "-1")
    assert not migrations.is_migrated(database)
    rows = _rows(database)
    migrations.migrate(database)
    assert _rows(database) == rows
    database.dispose()
    shutil.copytree(urlsplit(trained.settings.store_url).path, tmp_path / "store")
    settings = settings_for(
        database.url.set(drivername=database.dialect.name).render_as_string(False), tmp_path
    )
    with running(settings, with_worker=False, preload=()) as upgraded:
        assert upgraded.predict("backed-up", ROWS) == before


def _rows(database: sa.Engine) -> dict[str, Any]:
    with database.connect() as connection:
        return {
            name: connection.execute(sa.text(f"SELECT id FROM {name} ORDER BY id")).scalars().all()
            for name in ("datasets", "training_jobs", "versions")
        }
