"""Revisions lead from nothing to the tables of the code, on both databases, and back."""

import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from service.db import migrations
from service.db.engine import open_database
from service.db.tables import Base
from service.queue import ENGINE_TABLES, migrate_engine


@pytest.fixture
def database(empty_database_url: str) -> Iterator[sa.Engine]:
    database = open_database(empty_database_url)
    yield database
    database.dispose()


def differences(database: sa.Engine) -> list[object]:
    with database.connect() as connection:
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, kind, _: kind != "table" or name not in ENGINE_TABLES,
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata))


def test_an_empty_database_becomes_what_the_code_expects(
    database: sa.Engine, empty_database_url: str
) -> None:
    assert not migrations.is_migrated(database)
    migrations.migrate(database)
    migrate_engine(empty_database_url)
    assert migrations.is_migrated(database)
    assert differences(database) == []


def test_twice_is_once(database: sa.Engine) -> None:
    migrations.migrate(database)
    migrations.migrate(database)
    assert migrations.is_migrated(database)


def test_two_at_a_time(database: sa.Engine) -> None:
    failures: list[BaseException] = []

    def migrate() -> None:
        try:
            migrations.migrate(database)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert migrations.is_migrated(database)


def test_and_back(database: sa.Engine) -> None:
    migrations.migrate(database)
    config = migrations._config()
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert set(sa.inspect(database).get_table_names()) == {"alembic_version"}


def test_reserved_names_are_those_of_the_engine(tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/engine.db"
    migrate_engine(url)
    database = open_database(url)
    assert set(sa.inspect(database).get_table_names()) == ENGINE_TABLES
    assert not ENGINE_TABLES & set(Base.metadata.tables)
    database.dispose()
