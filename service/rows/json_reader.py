"""Reads JSON (an array of objects, or {"rows": [...]}) and NDJSON (one object a line) row by row."""

import json
import re
from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from service.domain.datasets import IntakeLimits
from service.domain.errors import FieldError, MalformedError, pointer
from service.rows.raw import Budget, Faults, RawTable, check_names, refuse

MAX_LINE_BYTES = 1 << 24
_SPACE = re.compile(r"[ \t\n\r]*")
_OPENING = re.compile(r'[ \t\n\r]*(\{[ \t\n\r]*"rows"[ \t\n\r]*:[ \t\n\r]*)?\[')
#: What a Python number or text takes in memory beside its content.
_CELL_BYTES = 32

Row = tuple[int | None, Any]


def read_json(file: BinaryIO, limits: IntakeLimits) -> RawTable:
    """Read a JSON file as columns of Python values."""
    return _collect(_elements(_decode(file.read(), None)), limits)


def read_ndjson(file: BinaryIO, limits: IntakeLimits) -> RawTable:
    """Read an NDJSON file as columns of Python values."""
    return _collect(_lines(file), limits)


def read_objects(file: BinaryIO, limits: IntakeLimits) -> list[Any]:
    """Read the values of NDJSON as they are, whatever columns each has."""
    budget, found = Budget(limits), list[Any]()
    for _, value in _lines(file):
        budget.take(1, sum(map(_size, value.values())) if isinstance(value, dict) else _CELL_BYTES)
        found.append(value)
    if not found:
        raise refuse("empty_body", "there are no rows")
    return found


def _collect(rows: Iterator[Row], limits: IntakeLimits) -> RawTable:
    budget, faults, lines = Budget(limits), Faults(), array("q")
    names, columns = tuple[str, ...](), list[list[Any]]()
    for index, (line, row) in enumerate(rows):
        if not isinstance(row, dict):
            faults.add("wrong_type", "a row is an object", at=pointer("rows", index), line=line)
            continue
        if not columns:
            names = tuple(row)
            budget.columns(len(names))
            check_names(names, line)
            columns = [[] for _ in names]
        budget.take(1, sum(map(_size, row.values())))
        if row.keys() != set(names):
            _note_ragged(faults, names, row, index, line)
            continue
        for column, name in zip(columns, names, strict=True):
            column.append(row[name])
        lines.append(line or 0)
    faults.refuse("some rows do not have the columns of the first one")
    if not columns:
        raise refuse("empty_body", "there are no rows")
    return RawTable("values", names, columns, len(lines), lines if lines[0] else None)


def _size(value: object) -> int:
    return _CELL_BYTES + (len(value) if isinstance(value, str) else 0)


def _note_ragged(
    faults: Faults, names: tuple[str, ...], row: dict[str, Any], index: int, line: int | None
) -> None:
    for name in names:
        if name not in row:
            detail = "the row lacks this column of the first row; a missing value is null"
            faults.add("ragged_row", detail, at=pointer("rows", index, name), line=line, column=name)
    if row.keys() - set(names):
        faults.add(
            "ragged_row", "the row has columns that the first row lacks", at=pointer("rows", index), line=line
        )


def _elements(text: str) -> Iterator[Row]:
    """Elements of the array, decoded one at a time so that only the columns are kept."""
    opening = _OPENING.match(text)
    if opening is None:
        raise _malformed('expected an array of objects, or {"rows": [...]}', None)
    position = _skip(text, opening.end())
    is_empty = text[position : position + 1] == "]"
    while not is_empty:
        value, position = _decode_one(text, position, None)
        yield None, value
        position = _skip(text, position)
        if text[position : position + 1] != ",":
            break
        position = _skip(text, position + 1)
    rest = _SPACE.sub("", text[position:])
    if rest != ("]}" if opening.group(1) else "]"):
        raise _malformed("the array of rows does not end as it should", None)


def _lines(file: BinaryIO) -> Iterator[Row]:
    number = 0
    while raw := file.readline(MAX_LINE_BYTES):
        number += 1
        if len(raw) == MAX_LINE_BYTES:
            raise refuse("line_too_long", f"a line has more than {MAX_LINE_BYTES} bytes", line=number)
        text = _decode(raw, number).strip(" \t\r\n")
        if text:
            value, end = _decode_one(text, 0, number)
            if end != len(text):
                raise _malformed("more than one value on a line", number)
            yield number, value


def _decode(raw: bytes, line: int | None) -> str:
    try:
        return raw.decode("utf-8-sig" if line in (None, 1) else "utf-8")
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1 if line is None else line
        raise refuse("encoding", "the line is not UTF-8", line=number) from None


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _decode_one(text: str, position: int, line: int | None) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, position)
    except _DuplicateKeyError:
        number = line or text.count("\n", 0, position) + 1
        raise refuse("duplicate_header", "a row names a column twice", line=number) from None
    except RecursionError:
        raise _malformed("values are nested too deeply", line) from None
    except ValueError as error:  # JSONDecodeError among them, and whole numbers of thousands of digits
        found = getattr(error, "pos", position)
        raise _malformed("not JSON", line or text.count("\n", 0, found) + 1) from None


def _malformed(detail: str, line: int | None) -> MalformedError:
    return MalformedError("malformed", detail, [FieldError("/file", "json_syntax", detail, line)])


class _DuplicateKeyError(Exception):
    """An object names a key twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _DuplicateKeyError
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
