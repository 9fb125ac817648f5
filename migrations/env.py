"""What alembic runs: on the connection it is given, or on the database of `-x url=…`."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import JSON, Connection

from service.db.column_types import JsonDocument, UtcDateTime
from service.db.engine import open_database
from service.db.tables import Base
from service.queue import ENGINE_TABLES


def include_name(name: str | None, kind: str, _parents: object) -> bool:
    """Leave alone what the job engine keeps in our SQLite file; on PostgreSQL it has a schema of its own."""
    return not (kind == "table" and name in ENGINE_TABLES)


def render_item(_kind: str, item: Any, _context: AutogenContext) -> str | Literal[False]:
    """Write plain types into revisions, so that they do not change when our classes do."""
    if isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, JsonDocument | JSON):
        return "JSON"
    return False


def run(connection: Connection) -> None:
    """Apply or compare."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_name=include_name,
        # SQLite cannot alter a column: alembic then makes a new table and copies.
        render_as_batch=connection.dialect.name == "sqlite",
        render_item=render_item,
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with open_database(context.get_x_argument(as_dictionary=True)["url"]).begin() as opened:
        run(opened)
