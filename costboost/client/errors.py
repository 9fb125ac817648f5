"""What can go wrong for a caller of the service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ClientError(Exception):
    """Anything that the client raises about the service."""


class UnreachableError(ClientError):
    """No answer came, however often it was asked; `__cause__` is what the connection said."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a request.

    Attributes
    ----------
    pointer : str
        Where, as a JSON pointer: ``/rows/0/amount``.
    code : str
    detail : str
        For a person.
    line, column
        Of a table, where it is known.
    """

    pointer: str
    code: str
    detail: str
    line: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        place = self.pointer
        if self.line is not None:
            place = f"line {self.line}" + ("" if self.column is None else f", column {self.column}")
        return f"{place}: {self.detail}" if place else self.detail


class ApiError(ClientError):
    """The service refused a request, or could not do it.

    Attributes
    ----------
    status : int
        Of HTTP.
    code : str
        Stable name of the problem; ``/problems/<code>`` of the service explains it.
    title, detail : str
        For a person.
    errors : tuple of Fault
        The first twenty.
    errors_total : int
        How many there are in all.
    request_id : str
        Stands in the service's log.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], request_id: str = "") -> None:
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", f"status {status}"))
        self.detail = str(problem.get("detail") or self.title)
        self.errors = faults_of(problem)
        self.errors_total = int(problem.get("errors_total") or len(self.errors))
        self.request_id = str(problem.get("request_id") or request_id)
        super().__init__(f"{self.code} ({status}): {_worded(self.detail, self.errors)}")


class JobError(ClientError):
    """A job ended without a result.

    Attributes
    ----------
    job_id : str
    code : str
        Such as ``memory_limit`` or ``cancelled``.
    detail : str
    errors : tuple of Fault
        What is wrong with the data, where that is why.
    """

    def __init__(self, job_id: str, error: Mapping[str, Any]) -> None:
        self.job_id = job_id
        self.code = str(error.get("code", "unknown"))
        self.detail = str(error.get("detail", ""))
        self.errors = faults_of(error)
        super().__init__(f"{job_id}: {self.code}: {_worded(self.detail, self.errors)}")


def _worded(detail: str, faults: Sequence[Fault]) -> str:
    """What is wrong, each thing once: of a single fault the detail is its own."""
    return str(faults[0]) if len(faults) == 1 else "\n  ".join([detail, *map(str, faults)])


def faults_of(document: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Faults that a problem or the error of a job lists."""
    names = ("pointer", "code", "detail", "line", "column")
    return tuple(
        Fault(**{name: given[name] for name in names if name in given})
        for given in document.get("errors") or ()
    )
