"""What can go wrong, in the words of the domain; `service.api.errors` gives each class its status code.

Every error has a `code` of the registry `PROBLEMS` (`service.domain.problems.registry`).
Details name places (field, row, column), never the submitted value.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

#: How many single faults an answer lists; the rest is counted in `errors_total`.
MAX_LISTED_ERRORS = 20
_NAME_SHOWN = 40


def pointer(*parts: str | int) -> str:
    """RFC 6901 pointer of a place: `pointer("rows", 0, "a/b")` is "/rows/0/a~1b"."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def listed(names: Iterable[str], most: int = 20) -> str:
    """Names of columns or classes for a message: the first ones, and none at its full length if long."""
    every = [name if len(name) <= _NAME_SHOWN else f"{name[:_NAME_SHOWN]}..." for name in names]
    more = [f"... ({len(every)} in all)"] if len(every) > most else []
    return ", ".join(every[:most] + more)


@dataclass(frozen=True)
class FieldError:
    """One fault at one place of what was sent.

    Attributes
    ----------
    pointer : str
        RFC 6901 pointer into the request ("/rows/0/amount", "/costs/fn"), or "/file" for an uploaded table.
    code : str
        Machine-readable name of the fault.
    detail : str
        What is wrong and what would be right, without the submitted value.
    line : int or None
        Line of an uploaded text table, the header being line 1.
    column : str or None
        Column of an uploaded table.
    """

    pointer: str
    code: str
    detail: str
    line: int | None = None
    column: str | None = None

    @property
    def place(self) -> str:
        """Where who reads it looks: line and column of a text table, else the pointer; "" for nowhere."""
        if self.line is None:
            return self.pointer
        return f"line {self.line}" + ("" if self.column is None else f", column {self.column}")


class CostboostError(Exception):
    """Root of every error the service answers; never raised itself.

    Attributes
    ----------
    errors : tuple of FieldError
        The single faults; a table with a million of them carries only the first ones.
    errors_total : int
        How many faults there are in all, listed or not.
    retry_after : int or None
        Seconds after which the same request may fare better.
    """

    retry_after: int | None = None

    def __init__(
        self, code: str, detail: str, errors: Sequence[FieldError] = (), errors_total: int | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.errors_total = len(self.errors) if errors_total is None else errors_total


class MalformedError(CostboostError):
    """The request could not be read at all (400)."""


class NotFoundError(CostboostError):
    """No such thing for this tenant (404)."""

    def __init__(self, kind: str, name: str, at: str | None = None, why: str = "") -> None:
        detail = f"no such {kind}{why}"
        errors = [] if at is None else [FieldError(at, "not_found", detail)]
        super().__init__("not_found", detail, errors)
        self.kind = kind
        self.name = name


class ConflictError(CostboostError):
    """The thing is in the wrong state for this request (409)."""


class InProgressError(ConflictError):
    """The same request is still under way (409)."""

    retry_after = 1


class PreconditionFailedError(CostboostError):
    """`If-Match` names another revision (412)."""


class PreconditionRequiredError(CostboostError):
    """`If-Match` is missing where it is required (428)."""


class TooLargeError(CostboostError):
    """More bytes or rows than the limits allow (413)."""


class UnsupportedMediaTypeError(CostboostError):
    """A body of a media type that is not read here (415)."""


class NotAcceptableError(CostboostError):
    """An answer was asked for in a media type that is not written here (406)."""


class InvalidError(CostboostError):
    """Understood but invalid (422)."""

    @classmethod
    def at(cls, place: str, code: str, detail: str) -> Self:
        """Make the error of one fault, of which there is no more to say than what it is and where."""
        return cls(code, detail, [FieldError(place, code, detail)])


class UnauthorizedError(CostboostError):
    """It is not known who asks (401)."""


class ForbiddenError(CostboostError):
    """Known but not allowed (403)."""


class TooManyError(CostboostError):
    """More than a quota allows; try again after `retry_after` seconds (429)."""

    def __init__(self, code: str, detail: str, retry_after: int) -> None:
        super().__init__(code, detail)
        self.retry_after = retry_after


class UnavailableError(CostboostError):
    """Cannot be answered just now; try again after `retry_after` seconds (503)."""

    def __init__(self, code: str, detail: str, retry_after: int = 5) -> None:
        super().__init__(code, detail)
        self.retry_after = retry_after
