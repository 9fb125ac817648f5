"""Bringing a database to the newest schema, and telling whether it is there."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

#: Any number of ours; whoever migrates holds this lock of PostgreSQL.
_LOCK = 7_206_112_934


class DamagedDatabaseError(RuntimeError):
    """The file of SQLite cannot be trusted; a backup must be put in its place."""


class SchemaError(RuntimeError):
    """The database has not the schema of this release, and whoever found that out does not migrate."""


def migrate(database: Engine) -> None:
    """Apply the revisions that are missing, in one transaction; a second caller waits for the first.

    Raises
    ------
    DamagedDatabaseError
    SchemaError
        A later release has migrated it.
    """
    config = _config()
    with database.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        elif (found := connection.scalar(text("PRAGMA quick_check(1)"))) != "ok":
            raise DamagedDatabaseError(f"the SQLite file is damaged: {found}")
        _refuse_later(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_migrated(database: Engine) -> bool:
    """Whether the database has the schema of this release."""
    with database.connect() as connection:
        return _present(connection) == set(ScriptDirectory.from_config(_config()).get_heads())


def require_migrated(database: Engine) -> None:
    """Check that the database has the schema of this release.

    Raises
    ------
    SchemaError
    """
    if not is_migrated(database):
        with database.connect() as connection:
            _refuse_later(connection)
        raise SchemaError(
            "the database has not the schema of this release; run `costboost migrate` of this release first"
        )


def _refuse_later(connection: Connection) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if not _present(connection) <= known:
        raise SchemaError("the database has the schema of a later release than this one")


def _present(connection: Connection) -> set[str]:
    return set(MigrationContext.configure(connection).get_current_heads())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_scripts()))
    return config


def _scripts() -> Path:
    """In a wheel they are inside the package, in the repository beside it."""
    package = Path(__file__).parent.parent
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "migrations"
