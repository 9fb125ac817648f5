"""Opening the database: the same promises from SQLite and from PostgreSQL."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    CursorResult,
    Engine,
    Result,
    create_engine,
    event,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement

from service.db.column_types import UtcDateTime

#: Execution option of connections that only read: SQLite then takes no write lock.
READ_ONLY = "costboost_read_only"
BUSY_MILLISECONDS = 30_000
#: Any number of ours, different from that of the migrations.
WARDEN_LOCK = 7_206_112_935
CONNECT_SECONDS = 5
STATEMENT_MILLISECONDS = 30_000
#: Longer than the server itself lets a statement run: who has not answered by then is not heard any more.
ANSWER_SECONDS = STATEMENT_MILLISECONDS / 1000 + 5.0
#: Our transactions are short; a paused process must not keep its locks, or nobody could declare it dead.
IDLE_IN_TRANSACTION_MILLISECONDS = 10_000


class database_now(FunctionElement[datetime]):  # noqa: N801  spelled like the SQL function it is
    """The database's own clock; every lease is measured with it, never with a worker's."""

    type = UtcDateTime()
    inherit_cache = True


@compiles(database_now, "sqlite")
def _sqlite_now(_element: database_now, _compiler: SQLCompiler, **_options: Any) -> str:
    # Six digits after the point: the form in which SQLAlchemy stores times as text, so that texts compare.
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"


@compiles(database_now, "postgresql")
def _postgresql_now(_element: database_now, _compiler: SQLCompiler, **_options: Any) -> str:
    return "clock_timestamp()"


def database_time(session: Session) -> datetime:
    """Ask the database what time it is."""
    return session.scalars(select(database_now())).one()


def rows_of(result: Result[Any]) -> int:
    """How many rows a statement changed."""
    assert isinstance(result, CursorResult)
    return result.rowcount


def database_url(address: str) -> URL:
    """Parse a database address and name its driver.

    Raises
    ------
    ValueError
        Neither SQLite nor PostgreSQL.
    """
    url = make_url(address)
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite")
    raise ValueError("the database address begins with sqlite:///file or postgresql://")


def open_database(address: str, *, pool: int = 50, wait_seconds: float = 5.0) -> Engine:
    """Make the engine; nothing is connected yet.

    Parameters
    ----------
    address : str
        Of SQLite (`sqlite:///file`) or PostgreSQL.
    pool : int
        Connections to PostgreSQL held at most.
    wait_seconds : float
        Wait for a free one before SQLAlchemy's TimeoutError.
    """
    url = database_url(address)
    return (
        _open_sqlite(url) if url.get_backend_name() == "sqlite" else _open_postgresql(url, pool, wait_seconds)
    )


def sessions(database: Engine) -> sessionmaker[Session]:
    """Sessions that may write: on SQLite they take the write lock when they begin, so none fails halfway."""
    return sessionmaker(database, expire_on_commit=False)


def readers(database: Engine) -> sessionmaker[Session]:
    """Sessions that only read: on SQLite they neither wait for a writer nor hold one up."""
    return sessionmaker(database.execution_options(**{READ_ONLY: True}), expire_on_commit=False)


def _open_sqlite(url: URL) -> Engine:
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, pool_size=50, max_overflow=50, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own way to begin transactions is switched off; `_begin_sqlite` begins them.
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout = {BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    # A deferred transaction that turns into a writer fails at once when another wrote meanwhile.
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


def _open_postgresql(url: URL, pool: int, wait_seconds: float) -> Engine:
    options = (
        f"-c statement_timeout={STATEMENT_MILLISECONDS}"
        f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_MILLISECONDS}"
        " -c timezone=UTC"
    )
    keepalive = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    engine = create_engine(
        url,
        pool_pre_ping=True,
        pool_size=min(pool, 10),
        max_overflow=max(0, pool - 10),
        pool_timeout=wait_seconds,
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": 20_000,
            "application_name": "costboost",
            "options": options,
            **keepalive,
        },
    )
    _give_deadlines(engine)
    return engine


def _give_deadlines(engine: Engine) -> None:
    """Have no answer of PostgreSQL waited for without end; in the pool there is only the probe to answer."""
    from service.db.postgresql import PROBE_SECONDS, ImpatientConnection  # noqa: PLC0415  SQLite needs no driver

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, arguments: Any, options: dict[str, Any]) -> ImpatientConnection:
        return ImpatientConnection.connect(*arguments, **options)

    @event.listens_for(engine, "checkout")
    def take(connection: ImpatientConnection, *_others: Any) -> None:
        connection.answer_seconds = ANSWER_SECONDS

    @event.listens_for(engine, "checkin")
    def give_back(connection: ImpatientConnection | None, _record: Any) -> None:
        if connection is not None:
            connection.answer_seconds = PROBE_SECONDS


@contextmanager
def exclusively(database: Engine) -> Iterator[bool]:
    """Hold the lock of those who look after others; yields False at once when another process has it.

    It blocks no transaction: an advisory lock of PostgreSQL, a lock on a file beside SQLite's.
    """
    if database.dialect.name == "sqlite":
        with Path(f"{database.url.database}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
    else:
        with database.begin() as connection:
            lock = text("SELECT pg_try_advisory_xact_lock(:key)")
            yield bool(connection.scalar(lock, {"key": WARDEN_LOCK}))


def is_outage(error: DBAPIError) -> bool:
    """Tell a database that is away, busy or full from a statement that it will never take."""
    if error.connection_invalidated:
        return True
    # PostgreSQL counts what is beyond its limits (class 54), such as a text too long for an index, here too.
    beyond = str(getattr(error.orig, "sqlstate", None)).startswith("54")
    return isinstance(error, OperationalError | InterfaceError) and not beyond
