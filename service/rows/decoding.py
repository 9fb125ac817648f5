"""Rows to predict: the same decoder as for datasets, against columns whose types are known."""

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any

import numpy as np

from service.domain.datasets import InputColumn, IntakeLimits
from service.domain.errors import MAX_LISTED_ERRORS, FieldError, InvalidError, listed, pointer
from service.domain.nearest import nearest
from service.rows.cells import VALUES, CellFaultError, Kind, detail_of
from service.rows.columns import Fault, Typed, TypedArray, from_values, plain_numbers
from service.rows.csv_reader import check_separator
from service.rows.intake import missing
from service.rows.media import MediaType
from service.rows.raw import Faults, RawTable
from service.rows.reading import decode_column, read_raw


@dataclass
class Decoded:
    """Typed columns and what was wrong with the rows.

    Attributes
    ----------
    columns : dict of arrays of shape (n,)
        A cell with a fault is missing.
    extra : tuple of str
        Columns that were sent and are not asked for, sorted.
    failed : set of int
        Indices of rows with a fault.
    lines : sequence of int or None
        Line of each row in a text table.
    """

    n: int
    columns: dict[str, TypedArray] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    failed: set[int] = field(default_factory=set)
    faults: Faults = field(default_factory=Faults)
    lines: Sequence[int] | None = None

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """The first faults; `faults.total` counts all."""
        return tuple(self.faults.found)

    def refuse_faults(self) -> None:
        """Raise InvalidError when any row has a fault."""
        if self.faults.total:
            raise InvalidError(
                "invalid_rows", "some rows cannot be scored", self.faults.found, self.faults.total
            )

    def note(self, row: int, code: str, detail: str, *, column: str | None = None, at: str = "/rows") -> None:
        """Add a fault of a row or of its cell in a column, with the line where rows are lines."""
        place = at + (pointer(row) if column is None else pointer(row, column))
        line = None if self.lines is None else self.lines[row]
        self.faults.add(code, detail, at=place, line=line, column=column)
        self.failed.add(row)

    def note_cells(self, name: str, kind: Kind, found: Sequence[Fault], at: str = "/rows") -> None:
        """Add the faults of a column."""
        for row, code in found:
            self.note(row, code, detail_of(code, kind), column=name, at=at)


def decode_rows(rows: Sequence[Any], columns: Sequence[InputColumn], *, at: str = "/rows") -> Decoded:
    """Decode rows that JSON has already made Python objects.

    Parameters
    ----------
    rows : sequence of dict
        Any order of columns, columns beyond `columns` are left aside.
    columns : sequence of InputColumn
        What to read.
    at : str
        Pointer of the rows in the request.

    Returns
    -------
    Decoded
        Faults point to `/rows/0/amount`; none holds a value.
    """
    decoded = Decoded(len(rows), faults=Faults(limit=sys.maxsize))
    known = rows if all(type(row) is dict for row in rows) else _only_objects(rows, decoded, at)
    numbers = _numbers(known, columns)
    for column in columns:
        name = column.name
        if name in numbers:
            decoded.columns[name] = numbers[name]
            if not column.nullable:
                _note_holes(decoded, column, at)
            continue
        try:
            values = [row[name] for row in known]
        except KeyError:
            if column.optional and not any(name in row for row in known):
                continue
            values = [row.get(name) for row in known]
            if not column.optional:
                _note_lacking(decoded, column, at, known, {other.name for other in columns})
        _keep(decoded, column, from_values(values, column.type), at)
    _first_by_row(decoded.faults, at)
    decoded.extra = _extra(known, columns)
    return decoded


def decode_row(
    row: Mapping[str, Any], columns: Sequence[InputColumn]
) -> dict[str, float | str | None] | None:
    """Decode one row without arrays; None where anything is odd, which `decode_rows` finds words for."""
    typed: dict[str, float | str | None] = {}
    for column in columns:
        name = column.name
        if name not in row:
            return None
        value = row[name]
        if type(value) is not float or column.type != "number" or not isfinite(value):
            try:
                value = VALUES[column.type](value)
            except CellFaultError:
                return None
        if not column.nullable and (value is None or value != value):  # noqa: PLR0124 - NaN
            return None
        typed[name] = value
    return typed


def _numbers(rows: Sequence[Mapping[str, Any]], columns: Sequence[InputColumn]) -> dict[str, TypedArray]:
    """Decode the columns of numbers all at once; none of them when some row has a fault in one."""
    names = [column.name for column in columns if column.type == "number" and not column.optional]
    if not rows or len(names) < 2:  # of one name itemgetter gives the value bare
        return {}
    try:
        cells = list(chain.from_iterable(map(itemgetter(*names), rows)))
    except KeyError:
        return {}
    numbers = plain_numbers(cells)
    if numbers is None:
        return {}
    by_column = np.ascontiguousarray(numbers.reshape(len(rows), len(names)).T)
    return dict(zip(names, by_column, strict=True))


def _first_by_row(faults: Faults, at: str) -> None:
    """List faults as who corrects the rows meets them: they were found column by column."""
    faults.found.sort(key=lambda fault: int(fault.pointer[len(at) + 1 :].partition("/")[0]))
    faults.limit = MAX_LISTED_ERRORS
    del faults.found[MAX_LISTED_ERRORS:]


def _note_lacking(
    decoded: Decoded, column: InputColumn, at: str, rows: Sequence[Mapping[str, Any]], asked: set[str]
) -> None:
    """Note the rows without a column; a column that nobody asked for may be the one that is meant."""
    for index, row in enumerate(rows):
        if column.name not in row:
            detail = detail_of("missing_column", column.type)
            # Only for faults that will be listed: comparing names takes its time.
            if index < MAX_LISTED_ERRORS:
                near = nearest(column.name, (name for name in row if name not in asked), 3)
                detail += f"; the row has {listed(near)}" if near else ""
            decoded.note(index, "missing_column", detail, column=column.name, at=at)


def _note_absent(decoded: Decoded, column: InputColumn, others: Sequence[str], header: int | None) -> None:
    """Note that a table lacks a column, on the line of its header where it has one."""
    detail = detail_of("missing_column", column.type)
    if len(decoded.faults.found) < MAX_LISTED_ERRORS:
        near = nearest(column.name, others, 3)
        detail += f"; the table has {listed(near)}" if near else ""
    place = pointer("rows", 0, column.name)
    decoded.faults.add("missing_column", detail, at=place, line=header, column=column.name)
    decoded.failed.update(range(decoded.n))


def decode_body(
    data: bytes, media_type: MediaType, columns: Sequence[InputColumn], limits: IntakeLimits
) -> Decoded:
    """Decode a whole body of rows in any media type.

    Raises
    ------
    InvalidError
        The table itself has faults (`service.rows.raw`), or is larger than the limits.
    MalformedError
        The bytes are not of the media type.
    """
    return decode_table(read_raw(io.BytesIO(data), media_type, limits), columns)


def decode_table(raw: RawTable, columns: Sequence[InputColumn]) -> Decoded:
    """Decode a table that was read in any media type."""
    decoded, asked = Decoded(raw.rows, lines=raw.lines), {column.name for column in columns}
    for column in columns:
        if column.name not in raw.names:
            if not column.optional:
                if raw.kind == "text":
                    check_separator(raw.names)
                others = [name for name in raw.names if name not in asked]
                _note_absent(decoded, column, others, 1 if raw.kind == "text" else None)
            continue
        typed, found = decode_column(raw, raw.names.index(column.name), column.type)
        _keep(decoded, column, (typed, found), "/rows")
    decoded.extra = tuple(sorted(set(raw.names) - asked))
    return decoded


def _keep(decoded: Decoded, column: InputColumn, typed: Typed, at: str) -> None:
    array, found = typed
    decoded.columns[column.name] = array
    if found:
        decoded.note_cells(column.name, column.type, found, at)
    if not column.nullable:
        _note_holes(decoded, column, at)


def _note_holes(decoded: Decoded, column: InputColumn, at: str) -> None:
    holes = np.flatnonzero(missing(decoded.columns[column.name])).tolist()
    if holes:
        found = [(row, "missing_value") for row in holes if row not in decoded.failed]
        decoded.note_cells(column.name, column.type, found, at)


def _only_objects(rows: Sequence[Any], decoded: Decoded, at: str) -> list[Mapping[str, Any]]:
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            decoded.note(index, "wrong_type", "a row is an object", at=at)
    return [row if isinstance(row, dict) else _Nothing() for row in rows]


class _Nothing(dict[str, Any]):
    """Stands for a row that is no object: every column of it is missing, and its fault is already noted."""

    def __missing__(self, _: str) -> None:
        return None

    def __contains__(self, _: object) -> bool:
        return True


def _extra(rows: Sequence[Mapping[str, Any]], columns: Sequence[InputColumn]) -> tuple[str, ...]:
    asked = {column.name for column in columns}
    sent = set[str]().union(*rows)
    return tuple(sorted(sent - asked))
