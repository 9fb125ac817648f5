"""Bringing a database to the newest schema, and telling whether it has one that this release runs on.

A revision that only expands the schema leaves the release before at work, and says so (`expands`). Whoever
migrates writes down how far back that holds, for a release cannot know the revisions of later ones.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, delete, insert, inspect, select, text

from service.db.tables import SchemaFloorRow

#: Any number of ours; whoever migrates holds this lock of PostgreSQL.
_LOCK = 7_206_112_934


class DamagedDatabaseError(RuntimeError):
    """The file of SQLite cannot be trusted; a backup must be put in its place."""


class SchemaError(RuntimeError):
    """The database has not the schema of this release, and whoever found that out does not migrate."""


def migrate(database: Engine) -> None:
    """Apply the revisions that are missing, in one transaction; a second caller waits for the first.

    What a later release has expanded is left as it is.

    Raises
    ------
    DamagedDatabaseError
    SchemaError
        A later release has migrated it, and this one does not run on that.
    """
    config = _config()
    with database.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        elif (found := connection.scalar(text("PRAGMA quick_check(1)"))) != "ok":
            raise DamagedDatabaseError(f"the SQLite file is damaged: {found}; put a backup in its place")
        if _is_later(connection):
            _require_room(connection)
            return
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.execute(delete(SchemaFloorRow))
        connection.execute(insert(SchemaFloorRow).values(revision=_floor()))


def is_migrated(database: Engine) -> bool:
    """Whether the database has the schema of this release, or a later one that only expands it."""
    with database.connect() as connection:
        heads = set(ScriptDirectory.from_config(_config()).get_heads())
        return _present(connection) == heads or (_is_later(connection) and _has_room(connection))


def require_migrated(database: Engine) -> None:
    """Check that the database has a schema that this release runs on.

    Raises
    ------
    SchemaError
    """
    if not is_migrated(database):
        with database.connect() as connection:
            if _is_later(connection):
                _require_room(connection)
        raise SchemaError(
            "the database has not the schema of this release; run `costboost migrate` of this release first"
        )


def _require_room(connection: Connection) -> None:
    if not _has_room(connection):
        raise SchemaError(
            "the database has the schema of a later release, on which this one does not run: start that "
            "release, or restore the backup from before its migration"
        )


def _is_later(connection: Connection) -> bool:
    """Whether a release has migrated it that has revisions this one does not know."""
    return not _present(connection) <= _known()


def _has_room(connection: Connection) -> bool:
    """Whether the release that has migrated it found that this one runs on it too."""
    if not inspect(connection).has_table(SchemaFloorRow.__tablename__):
        return False
    return connection.scalar(select(SchemaFloorRow.revision)) in _known()


def _floor() -> str:
    """The newest revision on which the release before does not run; all later ones only expand."""
    newest_first = list(ScriptDirectory.from_config(_config()).walk_revisions())
    breaking = (script for script in newest_first if not script.module.expands)
    return next(breaking, newest_first[-1]).revision


def _known() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


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
