"""What goes wrong, in one line for the person at the terminal, and as the status of the process."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

#: Statuses that a script can tell apart; 0 is success.
FAILED, USAGE = 1, 2

Told = tuple[str | None, int]


def told(error: Exception) -> Told:
    """Message and status; no message for what is a fault of ours.

    The classes are imported only now: no command shall wait for what it needs not.
    """
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    from service.db.migrations import DamagedDatabaseError, SchemaError  # noqa: PLC0415
    from service.domain.errors import CostboostError  # noqa: PLC0415
    from service.settings import SettingsError  # noqa: PLC0415

    match error:
        case SettingsError():
            return str(error), USAGE
        case DBAPIError():
            # Only the driver's own words: SQLAlchemy adds the statement, and a link that helps nobody here.
            said = " ".join(str(error.orig).split())
            return f"the database answered: {said}; `costboost doctor` looks at it", FAILED
        case CostboostError():
            return str(error), FAILED
        case DamagedDatabaseError() | SchemaError() | TimeoutError():
            return str(error), FAILED
        case OSError():
            return f"{error.filename or 'the system'}: {error.strerror or error}", FAILED
    return None, FAILED


@contextmanager
def explained(tell: Callable[[Exception], Told] = told) -> Iterator[None]:
    """Turn what the person who started us can mend into a few words and a status that is not 0."""
    try:
        yield
    except Exception as error:
        message, status = tell(error)
        if message is None:
            raise
        leave(message, status)


def leave(message: str, status: int) -> NoReturn:
    """End the process with a message on the error stream."""
    print(f"costboost: {message}", file=sys.stderr)
    sys.exit(status)
