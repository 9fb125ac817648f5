"""What goes wrong, in one line for the person at the terminal, and as the status of the process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

#: Statuses that a script can tell apart; 0 is success.
FAILED, USAGE, REFUSED, JOB_FAILED = 1, 2, 3, 4


class UsageError(Exception):
    """An argument is not what it should be."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the person who started us can mend into a few words and a status that is not 0."""
    try:
        yield
    except Exception as error:
        message, status = _told(error)
        if message is None:
            raise
        leave(message, status)


def leave(message: str, status: int) -> NoReturn:
    """End the process with a message on the error stream."""
    typer.echo(f"costboost: {message}", err=True)
    sys.exit(status)


def _told(error: Exception) -> tuple[str | None, int]:
    """Message and status. The classes are imported only now: no command shall wait for what it needs not."""
    from sqlalchemy.exc import DBAPIError

    from costboost.client.errors import ApiError, ClientError, JobError
    from service.db.migrations import DamagedDatabaseError, SchemaError
    from service.domain.errors import CostboostError
    from service.settings import SettingsError

    match error:
        case UsageError() | SettingsError():
            told = str(error), USAGE
        case ApiError():
            told = f"refused: {error}\n  request {error.request_id}", REFUSED
        case JobError():
            told = str(error), JOB_FAILED
        case DBAPIError():
            # Only the driver's own words: SQLAlchemy adds the statement, and a link that helps nobody here.
            told = f"the database answered: {' '.join(str(error.orig).split())}", FAILED
        case CostboostError():
            faults = "".join(f"\n  {_place(fault)}: {fault.detail}" for fault in error.errors)
            told = f"{error}{faults}", FAILED
        case ClientError() | DamagedDatabaseError() | SchemaError() | TimeoutError():
            told = str(error), FAILED
        case OSError():
            told = f"{error.filename or 'the system'}: {error.strerror or error}", FAILED
        case _:
            return None, FAILED
    return told


def _place(fault: object) -> str:
    given = ((name, getattr(fault, name)) for name in ("pointer", "line", "column"))
    return ", ".join(str(value) if name == "pointer" else f"{name} {value}" for name, value in given if value)
