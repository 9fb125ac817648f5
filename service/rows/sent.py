"""Rows that were sent to be predicted: objects of JSON and NDJSON, or a table of CSV, Parquet or Arrow."""

import io
import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Protocol

from service.domain.datasets import ColumnType, InputColumn, IntakeLimits
from service.rows import times
from service.rows.columns import TypedArray, is_textual
from service.rows.csv_reader import read_csv
from service.rows.decoding import Decoded, decode_rows, decode_table
from service.rows.plain_csv import read_plain
from service.rows.raw import RawTable
from service.rows.reading import decode_column

#: The column that is given back as it came.
ID = "id"


class Sent(Protocol):
    """Rows of a request, whatever they came as."""

    def __len__(self) -> int:
        """How many."""
        ...

    @property
    def names(self) -> set[str]:
        """Columns that some row has."""
        ...

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types."""
        ...

    def has(self, row: int, name: str) -> bool:
        """Whether a row has a column."""
        ...

    def beyond(self, row: int, known: Set[str]) -> list[str]:
        """Columns of a row that are none of these, sorted."""
        ...

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column, as JSON can hold it; None where it holds nothing."""
        ...


class JsonRows:
    """Objects of column and value; each may have other columns."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> set[str]:
        """Columns that some row has."""
        return {name for row in self._rows if isinstance(row, dict) for name in row}

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types."""
        return decode_rows(self._rows, columns)

    def has(self, row: int, name: str) -> bool:
        """Whether a row has a column."""
        found = self._rows[row]
        return isinstance(found, dict) and name in found

    def beyond(self, row: int, known: Set[str]) -> list[str]:
        """Columns of a row that are none of these, sorted."""
        found = self._rows[row]
        return sorted(found.keys() - known) if isinstance(found, dict) else []

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column."""
        found = self._rows[row]
        return found.get(name) if isinstance(found, dict) else None


class TableRows:
    """A table, whose rows all have the same columns; ids are text, whatever type the table gives them."""

    def __init__(self, table: RawTable) -> None:
        self._table = table
        self._texts: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return self._table.rows

    @property
    def names(self) -> set[str]:
        """Columns of the table."""
        return set(self._table.names)

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types; an id must be text or a number as well."""
        decoded = decode_table(self._table, columns)
        if ID in self._table.names:
            _, found = decode_column(self._table, self._table.names.index(ID), "category")
            decoded.note_cells(ID, "category", found)
        return decoded

    def has(self, row: int, name: str) -> bool:  # noqa: ARG002 - every row has it, or none
        """Whether the table has a column."""
        return name in self._table.names

    def beyond(self, row: int, known: Set[str]) -> list[str]:  # noqa: ARG002 - all rows have the same
        """Columns of the table that are none of these, sorted."""
        return sorted(self.names - known)

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column, as text."""
        if name not in self._table.names:
            return None
        if name not in self._texts:
            typed, _ = decode_column(self._table, self._table.names.index(name), "category")
            self._texts[name] = typed.tolist()
        return self._texts[name][row]


class NumberRows:
    """A CSV whose columns of numbers were read as that; where it is asked otherwise it is read anew as text.

    Parameters
    ----------
    table : RawTable
    numbers : set of str
        Columns of the table that are arrays of float64.
    anew : callable
        Reads the table as text.
    """

    def __init__(self, table: RawTable, numbers: Set[str], anew: Callable[[], RawTable]) -> None:
        self._rows, self._numbers, self._anew = TableRows(table), numbers, anew

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> set[str]:
        """Columns of the table."""
        return self._rows.names

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types."""
        has_guessed_right = all(column.type == "number" for column in columns if column.name in self._numbers)
        return (self._rows if has_guessed_right else self._texts).decode(columns)

    def has(self, row: int, name: str) -> bool:
        """Whether the table has a column."""
        return self._rows.has(row, name)

    def beyond(self, row: int, known: Set[str]) -> list[str]:
        """Columns of the table that are none of these, sorted."""
        return self._rows.beyond(row, known)

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column, as text."""
        return (self._texts if name in self._numbers else self._rows).cell(row, name)

    @cached_property
    def _texts(self) -> TableRows:
        return TableRows(self._anew())


def read_numbers(body: bytes, columns: Sequence[InputColumn], limits: IntakeLimits) -> NumberRows | None:
    """
    Read a CSV of which some columns are known to be asked for as numbers.

    Returns
    -------
    NumberRows or None
        None where the body is not plainly that, right or wrong.
    """
    # An id is given back as it was spelled.
    numbers = {column.name for column in columns if column.type == "number"} - {ID}
    table = read_plain(body, limits, numbers) if numbers else None
    if table is None:
        return None
    return NumberRows(table, numbers, lambda: read_csv(io.BytesIO(body), limits))


def plain_row(
    columns: Mapping[str, TypedArray], described: Sequence[InputColumn], row: int
) -> dict[str, Any]:
    """One row of typed columns as JSON can hold it."""
    return {column.name: _plain(columns[column.name][row], column.type) for column in described}


def _plain(value: Any, kind: ColumnType) -> str | float | bool | None:
    if is_textual(kind):
        return None if value is None else str(value)
    number = float(value)
    if math.isnan(number):
        return None
    if kind == "boolean":
        return number == 1.0
    return times.written(number) if kind == "timestamp" else number
