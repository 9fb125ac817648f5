"""Rows that were sent to be predicted: objects of JSON and NDJSON, or a table of CSV, Parquet or Arrow."""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, Protocol

from service.domain.datasets import ColumnType, InputColumn
from service.rows import times
from service.rows.columns import TypedArray, is_textual
from service.rows.decoding import Decoded, decode_rows, decode_table
from service.rows.raw import RawTable
from service.rows.reading import decode_column, note_faults

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
            note_faults(decoded.faults, self._table, ID, "category", found)
            decoded.failed.update(row for row, _ in found)
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
