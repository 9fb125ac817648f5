"""Rows read straight into the columns of a version are those that the general reader reads."""

import json
from typing import Any

import numpy as np
import pytest

from service.domain.datasets import InputColumn
from service.domain.predictions import decode
from service.rows import JsonRows, decode_typed

COLUMNS = (
    InputColumn("amount", "number", nullable=False),
    InputColumn("hour", "number"),
    InputColumn("new", "boolean"),
    InputColumn("when", "timestamp"),
    InputColumn("an odd näme, it's", "category"),
)
ROW = {"amount": 1.5, "hour": 3, "new": True, "when": "2026-01-01", "an odd näme, it's": "a"}
SOUND: list[dict[str, Any]] = [
    ROW,
    {**ROW, "hour": None, "new": 0, "when": 1.5, "an odd näme, it's": 3},
    {**ROW, "amount": 2**63 + 1, "hour": -0.0, "id": "x", "an odd näme, it's": None},
    {"id": 7, **dict(reversed(ROW.items())), "amount": 10**25, "hour": 1e-320},
    {**ROW, "id": None, "amount": 0.1 + 0.2, "hour": 9007199254740993},
]


def _body(rows: list[dict[str, Any]], **options: Any) -> bytes:
    return json.dumps({**options, "rows": rows}, ensure_ascii=False).encode()


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[:2], COLUMNS[2:]])
def test_columns_and_cells_are_those_of_the_general_reader(columns: tuple[InputColumn, ...]) -> None:
    names = {"id", *(column.name for column in columns)}
    body = _body([{name: row[name] for name in row if name in names} for row in SOUND], threshold=0.5)
    read = decode_typed(body, columns)
    assert read is not None
    wish, typed = read
    plain = JsonRows(decode(body).rows)
    assert (wish.threshold, len(typed), typed.names) == (0.5, len(SOUND), plain.names)
    one, other = typed.decode(columns), plain.decode(columns)
    assert (one.extra, one.faults.total) == (other.extra, 0)
    for name, values in other.columns.items():
        assert one.columns[name].dtype == values.dtype
        assert repr(one.columns[name].tolist()) == repr(values.tolist())
    for row in range(len(SOUND)):
        for name in [*names - {"amount", "hour"}, "nowhere"]:
            assert typed.has(row, name) == plain.has(row, name)
            assert typed.cell(row, name) == plain.cell(row, name)


def test_other_columns_than_expected_are_found_as_well() -> None:
    read = decode_typed(_body(SOUND), COLUMNS)
    assert read is not None
    asked = (*COLUMNS[:2], InputColumn("fee", "number", nullable=False))
    one, other = read[1].decode(asked), JsonRows(SOUND).decode(asked)
    assert one.errors == other.errors
    assert one.extra == other.extra
    assert np.array_equal(one.columns["hour"], other.columns["hour"], equal_nan=True)


def test_names_that_json_escapes_are_left_to_the_general_reader() -> None:
    assert decode_typed(b'{"rows": [{"a\\"b": 1}]}', (InputColumn('a"b', "number"),)) is None


def test_a_fault_of_a_cell_is_told_as_by_the_general_reader() -> None:
    rows = [ROW, {**ROW, "amount": None, "new": "maybe"}, {**ROW, "when": "soon"}]
    read = decode_typed(_body(rows), COLUMNS)
    assert read is not None
    assert read[1].decode(COLUMNS).errors == JsonRows(rows).decode(COLUMNS).errors


@pytest.mark.parametrize(
    "body",
    [
        _body([]),
        _body([ROW, {**ROW, "colour": 1}]),
        _body([ROW, {name: ROW[name] for name in ("amount", "hour")}]),
        _body([{**ROW, "amount": "3.0"}]),
        _body([{**ROW, "hour": True}]),
        _body([{**ROW, "id": [1]}]),
        _body([{**ROW, "id": True}]),
        _body([ROW], threshold=2),
        _body([ROW], rule="x"),
        _body([ROW]).replace(b'"hour": 3', b'"hour": 3, "hour": 4'),
        _body([ROW]).replace(b"1.5", b"NaN"),
        _body([ROW]).replace(b"1.5", b"1e999"),
        _body([ROW]).replace(b'"a"', b'"\\u0061"'),
        _body([ROW])[:-1],
        b"[" * 100_000,
        b"\xff",
        b"",
    ],
)
def test_whatever_is_not_plainly_right_is_left_to_the_general_reader(body: bytes) -> None:
    assert decode_typed(body, COLUMNS) is None


def test_a_column_named_id_is_left_to_the_general_reader() -> None:
    columns = (InputColumn("id", "number"), InputColumn("amount", "number"))
    assert decode_typed(b'{"rows":[{"id":1,"amount":1,"amount":2}]}', columns) is None
    assert decode_typed(b'{"rows":[{"id":1,"amount":1}]}', columns) is None
