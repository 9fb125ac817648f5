"""A table as it was read, before its cells have types, and the faults found on the way."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from service.domain.datasets import MAX_NAME_LENGTH, IntakeLimits
from service.domain.errors import MAX_LISTED_ERRORS, FieldError, InvalidError


@dataclass(frozen=True)
class RawTable:
    """Columns in file order.

    Attributes
    ----------
    kind : "text", "values" or "arrow"
        What a column is: Arrow strings from CSV, a list of Python values from JSON, a typed Arrow array.
    lines : sequence of int or None
        Line of each row in a text table.
    """

    kind: Literal["text", "values", "arrow"]
    names: tuple[str, ...]
    columns: Sequence[Any]
    rows: int
    lines: Sequence[int] | None = None


@dataclass
class Faults:
    """Counts all faults of a table and keeps the first ones."""

    found: list[FieldError] = field(default_factory=list)
    total: int = 0
    limit: int = MAX_LISTED_ERRORS

    def add(
        self, code: str, detail: str, *, at: str = "/file", line: int | None = None, column: str | None = None
    ) -> None:
        """Note one fault."""
        self.total += 1
        if len(self.found) < self.limit:
            self.found.append(FieldError(at, code, detail, line, column))

    def refuse(self, detail: str = "the table has faults") -> None:
        """Raise InvalidError when there is any fault; a single kind of fault gives the answer its code."""
        if not self.total:
            return
        codes = {fault.code for fault in self.found}
        code = codes.pop() if len(codes) == 1 else "invalid_table"
        raise InvalidError(code, self.found[0].detail if self.total == 1 else detail, self.found, self.total)


def refuse(
    code: str, detail: str, *, at: str = "/file", line: int | None = None, column: str | None = None
) -> InvalidError:
    """Make the error of a table with this one fault."""
    return InvalidError(code, detail, [FieldError(at, code, detail, line, column)])


def check_names(names: Sequence[str], line: int | None = None) -> None:
    """Refuse column names that are empty, repeated, too long or hold control characters."""
    faults, seen = Faults(), set[str]()
    for position, name in enumerate(names, 1):
        if not name.strip():
            faults.add("empty_header", f"column {position} has no name", line=line)
        elif name in seen:
            faults.add(
                "duplicate_header", f"column {position} has the name of another", line=line, column=name
            )
        elif len(name) > MAX_NAME_LENGTH or not name.isprintable():
            text = f"the name of column {position} is longer than {MAX_NAME_LENGTH} or not printable"
            faults.add("column_name", text, line=line)
        seen.add(name)
    faults.refuse("the header has faults")


class Budget:
    """Stops reading when a table grows beyond the limits, whatever its file promised."""

    def __init__(self, limits: IntakeLimits) -> None:
        self._limits = limits
        self.rows = 0
        self._bytes = 0

    def columns(self, count: int) -> None:
        """Check the width."""
        self._check(count, self._limits.columns, "columns")

    def take(self, rows: int, decoded_bytes: int) -> None:
        """Count a batch of rows."""
        self.rows += rows
        self._bytes += decoded_bytes
        self._check(self.rows, self._limits.rows, "rows")
        self._check(self._bytes, self._limits.decoded_bytes, "decoded bytes")

    @staticmethod
    def _check(number: int, limit: int, what: str) -> None:
        if number > limit:
            raise refuse("dataset_too_large", f"the table has more than {limit} {what}")
