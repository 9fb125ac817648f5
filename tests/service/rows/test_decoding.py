"""Rows to predict: faults with their places, and what may be left out."""

import time

import numpy as np
import pyarrow as pa
import pytest

from service.domain.datasets import InputColumn, IntakeLimits
from service.domain.errors import InvalidError, MalformedError
from service.rows import decode_body, decode_rows
from service.rows.cells import Kind
from service.rows.columns import from_arrow
from service.rows.media import CSV, JSON, NDJSON

SCHEMA = (
    InputColumn("amount", "number", nullable=False),
    InputColumn("age", "number"),
    InputColumn("zip", "category"),
    InputColumn("new", "boolean"),
)
ROW = {"amount": 12.5, "age": 30, "zip": "01234", "new": True}
LIMITS = IntakeLimits(rows=100, columns=20, decoded_bytes=1 << 20)


def test_a_row_in_any_order_with_more_than_asked():
    decoded = decode_rows([{"id": "tx-1", **dict(reversed(ROW.items()))}], SCHEMA)
    assert decoded.errors == ()
    assert decoded.extra == ("id",)
    assert {name: column.tolist() for name, column in decoded.columns.items()} == {
        "amount": [12.5],
        "age": [30.0],
        "zip": ["01234"],
        "new": [1.0],
    }


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"amount": "12.5"}, "wrong_type", "/rows/1/amount"),
        ({"amount": None}, "missing_value", "/rows/1/amount"),
        ({"amount": ...}, "missing_column", "/rows/1/amount"),
        ({"age": True}, "wrong_type", "/rows/1/age"),
        ({"age": float("inf")}, "not_finite", "/rows/1/age"),
        ({"age": float("nan")}, "not_finite", "/rows/1/age"),
        ({"zip": ["a"]}, "wrong_type", "/rows/1/zip"),
        ({"new": "true"}, "wrong_type", "/rows/1/new"),
    ],
)
def test_faults_point_to_the_cell(change, code, pointer):
    wrong = {name: value for name, value in (ROW | change).items() if value is not ...}
    decoded = decode_rows([ROW, wrong, ROW], SCHEMA)
    assert [(fault.code, fault.pointer) for fault in decoded.errors] == [(code, pointer)]
    assert decoded.failed == {1}
    with pytest.raises(InvalidError) as refused:
        decoded.refuse_faults()
    assert refused.value.code == "invalid_rows"


def test_faults_are_listed_by_row():
    rows = [{"age": "x", "zip": "a", "new": 3}] * 30
    decoded = decode_rows(rows, SCHEMA)
    assert [fault.pointer for fault in decoded.errors[:4]] == [
        "/rows/0/amount",
        "/rows/0/age",
        "/rows/0/new",
        "/rows/1/amount",
    ]
    assert (len(decoded.errors), decoded.faults.total) == (20, 90)


def test_missing_values_and_numbers_for_categories_are_fine():
    decoded = decode_rows([{"amount": 1, "age": None, "zip": 3, "new": None}], SCHEMA)
    assert decoded.errors == ()
    assert decoded.columns["zip"].tolist() == ["3"]
    assert np.isnan(decoded.columns["age"]).all()


@pytest.mark.parametrize("row", [1, None, "a", [ROW]])
def test_a_row_is_an_object(row):
    decoded = decode_rows([row, ROW], SCHEMA)
    assert [(fault.code, fault.pointer) for fault in decoded.errors] == [("wrong_type", "/rows/0")]


def test_names_are_escaped_in_pointers():
    decoded = decode_rows([{}], [InputColumn("a/b~c", "number")])
    assert decoded.errors[0].pointer == "/rows/0/a~1b~0c"


def test_every_fault_counts_and_twenty_are_listed():
    decoded = decode_rows([ROW | {"age": "x"}] * 50, SCHEMA)
    assert (len(decoded.errors), decoded.faults.total, len(decoded.failed)) == (20, 50, 50)


def test_an_optional_column_may_be_absent():
    schema = (*SCHEMA, InputColumn("id", "text", optional=True))
    assert "id" not in decode_rows([ROW], schema).columns
    assert decode_rows([ROW | {"id": 7}, ROW], schema).columns["id"].tolist() == ["7", None]


@pytest.mark.parametrize(
    ("media_type", "body", "line"),
    [
        (CSV, b"amount,age,zip,new\n1,2,a,true\n\nx,2,b,false\n", 4),
        (CSV, b"amount,age,zip,new\n1,2,a,true\n,2,b,false\n", 3),
        (
            NDJSON,
            b'{"amount":1,"age":2,"zip":"a","new":true}\n{"amount":"x","age":2,"zip":"b","new":false}\n',
            2,
        ),
    ],
)
def test_bodies_have_faults_with_lines(media_type, body, line):
    decoded = decode_body(body, media_type, SCHEMA, LIMITS)
    assert [(fault.pointer, fault.line, fault.column) for fault in decoded.errors] == [
        ("/rows/1/amount", line, "amount")
    ]
    assert decoded.failed == {1}


def test_a_body_without_a_column():
    decoded = decode_body(b"age,zip,new,more\n2,a,true,1\n", CSV, SCHEMA, LIMITS)
    assert [(fault.pointer, fault.line, fault.code) for fault in decoded.errors] == [
        ("/rows/0/amount", 1, "missing_column")
    ]
    assert (decoded.extra, decoded.failed) == (("more",), {0})


def test_a_body_that_is_not_of_its_media_type():
    with pytest.raises(MalformedError):
        decode_body(b"amount,age\n", JSON, SCHEMA, LIMITS)


def test_ten_thousand_rows_are_quick_to_decode():
    rows = [dict(ROW) for _ in range(10_000)]
    begun = time.process_time()
    decoded = decode_rows(rows, SCHEMA)
    assert decoded.errors == ()
    assert time.process_time() - begun < 2.0


@pytest.mark.parametrize(
    ("ticks", "kind"),
    [
        (2**62, pa.timestamp("s")),
        (2**62, pa.timestamp("ms", tz="UTC")),
        (2**62, pa.timestamp("us")),
        (-(2**62), pa.timestamp("s")),
        (2**31 - 1, pa.date32()),
        (86_400_000 * 10**10, pa.date64()),
    ],
    ids=str,
)
@pytest.mark.parametrize("wanted", ["timestamp", "number", "category", "label"])
def test_a_moment_beyond_the_calendar_is_a_fault_and_never_another_moment(
    ticks: int, kind: pa.DataType, wanted: Kind
) -> None:
    """In microseconds it would come round, to 1970 for instance."""
    column = pa.chunked_array([pa.array([0, ticks, None], kind)])
    for given in (column, column.dictionary_encode()):
        values, faults = from_arrow(given, wanted)
        assert [row for row, _ in faults] == [1]
        assert values[0] in (0.0, "1970-01-01")
