"""Releases side by side: an older one runs on what a later one has expanded, and on nothing else."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from service.db import migrations
from service.db.engine import open_database
from tests.service.conftest import Service, table

#: What revisions of later releases do: more room, or less.
EXPANDS = """
    op.create_table("notes", sa.Column("id", sa.String(), primary_key=True))
    op.add_column("training_jobs", sa.Column("colour", sa.String(), server_default="red", nullable=False))
"""
BREAKS = """
    op.drop_column("training_jobs", "request_id")
"""


@pytest.fixture
def database(empty_database_url: str) -> Iterator[sa.Engine]:
    database = open_database(empty_database_url)
    yield database
    database.dispose()


@pytest.fixture
def migrate_later(tmp_path: Path) -> Callable[..., None]:
    """Migrate as a later release does that has these revisions more: whether each expands, and its steps."""

    def migrate(database: sa.Engine, *later: tuple[bool, str]) -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(migrations._scripts(), folder)
        before = ScriptDirectory(str(folder)).get_current_head()
        for number, (expands, steps) in enumerate(later):
            name = f"later_{number}"
            (folder / "versions" / f"{name}.py").write_text(
                "import sqlalchemy as sa\nfrom alembic import op\n"
                f"revision, down_revision, expands = {name!r}, {before!r}, {expands}\n"
                f"def upgrade():{steps}\ndef downgrade(): pass\n"
            )
            before = name
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(migrations, "_scripts", lambda: folder)
            migrations.migrate(database)

    return migrate


def test_what_was_expanded_serves_the_release_before(
    database: sa.Engine, migrate_later: Callable[..., None]
) -> None:
    migrations.migrate(database)
    migrate_later(database, (True, EXPANDS))
    assert migrations.is_migrated(database)
    migrations.require_migrated(database)
    migrations.migrate(database)
    with database.connect() as connection:
        assert migrations._present(connection) == {"later_0"}
    assert sa.inspect(database).has_table("notes")


@pytest.mark.parametrize("later", [[(False, BREAKS)], [(True, EXPANDS), (False, BREAKS), (True, "pass")]])
def test_what_was_broken_is_refused(
    database: sa.Engine, migrate_later: Callable[..., None], later: list[tuple[bool, str]]
) -> None:
    migrations.migrate(database)
    migrate_later(database, *later)
    assert not migrations.is_migrated(database)
    for step in (migrations.migrate, migrations.require_migrated):
        with pytest.raises(migrations.SchemaError, match="later release, on which this one does not run"):
            step(database)


def test_of_whom_nothing_is_known_it_is_refused(database: sa.Engine) -> None:
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('of_somebody_else')")
    assert not migrations.is_migrated(database)
    with pytest.raises(migrations.SchemaError):
        migrations.migrate(database)


def test_requests_are_answered_on_what_was_expanded(
    fresh_service: Service, migrate_later: Callable[..., None]
) -> None:
    migrate_later(fresh_service.wiring.database, (True, EXPANDS))
    assert fresh_service.http.get("/readyz").json()["database"] is True
    dataset = fresh_service.upload(table(60))["id"]
    spec = {"model": "m", "dataset": dataset, "costs": {"fn": 5, "fp": 1}}
    job = fresh_service.http.post("/v1/training-jobs", json=spec)
    assert job.status_code == 202, job.text
    assert fresh_service.http.get(f"/v1/training-jobs/{job.json()['id']}").json()["status"] == "queued"


def test_what_is_called_an_expansion_is_one(database: sa.Engine) -> None:
    config, before = migrations._config(), dict[str, Any]()
    for script in reversed(list(ScriptDirectory.from_config(config).walk_revisions())):
        with database.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, script.revision)
        after = _shape(database)
        if script.module.expands:
            assert [*_breaks(before, after)] == [], script.revision
        before = after


def _shape(database: sa.Engine) -> dict[str, Any]:
    """Columns and constraints of each table."""
    look = sa.inspect(database)
    return {
        name: (
            {
                one["name"]: (str(one["type"]), one["nullable"], one["default"])
                for one in look.get_columns(name)
            },
            [
                look.get_pk_constraint(name)["constrained_columns"],
                sorted(one["column_names"] for one in look.get_unique_constraints(name)),
                sorted(one["column_names"] for one in look.get_indexes(name) if one["unique"]),
                sorted(one["constrained_columns"] for one in look.get_foreign_keys(name)),
                sorted(one["sqltext"] for one in look.get_check_constraints(name)),
            ],
        )
        for name in look.get_table_names()
        if name != "alembic_version"
    }


def _breaks(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What the release before may trip over."""
    for table_name, (columns, constraints) in before.items():
        if table_name not in after:
            yield f"{table_name} is gone"
            continue
        columns_after, constraints_after = after[table_name]
        for name, what in columns.items():
            if columns_after.get(name) != what:
                yield f"{table_name}.{name} is gone, or another"
        for name in columns_after.keys() - columns.keys():
            _, nullable, default = columns_after[name]
            if not nullable and default is None:
                yield f"{table_name}.{name} must be given"
        if constraints_after != constraints:
            yield f"{table_name} is bound otherwise"
