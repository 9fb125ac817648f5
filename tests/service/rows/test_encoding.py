"""Tables on the way out: formulas escaped in CSV, JSON without NaN."""

import csv
import io
import json

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from service.domain.datasets import InputColumn
from service.rows import chosen, decode_rows, encode_table
from service.rows.media import CSV, JSON, NDJSON

SCHEMA = [InputColumn("=name", "text"), InputColumn("x", "number"), InputColumn("at", "timestamp")]
ROWS = [
    {"=name": text, "x": -1.5, "at": "2024-01-01T00:00:00Z"}
    for text in ("=cmd|'/C calc'!A0", "+1+2", "-a", "@a", "\tb", "\rc", "plain", "-1")
] + [{"=name": None, "x": None, "at": None}]


def test_csv_cells_are_no_formulas():
    lines = encode_table(decode_rows(ROWS, SCHEMA).columns, SCHEMA, CSV).decode().split("\r\n")
    assert lines[0] == "'=name,x,at"
    assert lines[1] == "'=cmd|'/C calc'!A0,-1.5,2024-01-01T00:00:00Z"
    assert [line.lstrip('"')[:2] for line in lines[2:7]] == ["'+", "'-", "'@", "'\t", "'\r"]
    moment = "-1.5,2024-01-01T00:00:00Z"
    assert lines[7:] == [f"plain,{moment}", f"-1,{moment}", ",,", ""]


def test_json_keeps_text_as_it_is():
    columns = decode_rows(ROWS, SCHEMA).columns
    assert json.loads(encode_table(columns, SCHEMA, JSON)) == ROWS
    lines = encode_table(columns, SCHEMA, NDJSON).decode().splitlines()
    assert [json.loads(line) for line in lines] == ROWS


def test_csv_numbers_are_spelled_as_python_spells_them():
    numbers = [0.0, -0.0, 0.1, 1e-4, 9.999e-5, 5e-324, -1e15, 9999999999999998.0, 1e16, 1.7e308, 1 / 3, None]
    written = encode_table({"x": np.array(numbers, float)}, [InputColumn("x", "number")], CSV).decode()
    assert written.split("\r\n") == ["x", *map(repr, numbers[:-1]), '""', ""]


TEXTS = st.none() | st.text(st.sampled_from(list("ab,\"\n\r[]\\'é☃ ")), max_size=4)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[TEXTS] * width), min_size=1, max_size=4)))
def test_csv_is_what_python_writes(rows):
    names = [f"n{column}" for column in range(len(rows[0]))]
    columns = {
        name: np.array(cells, object) for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    }
    schema = [InputColumn(name, "text") for name in names]
    twin = io.StringIO(newline="")
    csv.writer(twin).writerows([names, *rows])
    # Carriage returns begin a formula in some spreadsheets, which Python does not know.
    assume(not any(cell and cell.startswith("\r") for row in rows for cell in row))
    assert encode_table(columns, schema, CSV) == twin.getvalue().encode()


def test_few_texts_by_their_places():
    column = chosen(["yes", "no", None], np.array([1, 0, -1]))
    assert column.to_pylist() == ["no", "yes", None]
    assert encode_table({"a": column}, [InputColumn("a", "text")], CSV) == b'a\r\nno\r\nyes\r\n""\r\n'


def test_no_rows():
    empty = decode_rows([], SCHEMA).columns
    assert json.loads(encode_table(empty, SCHEMA, JSON)) == []
    assert encode_table(empty, SCHEMA, CSV) == b"'=name,x,at\r\n"
