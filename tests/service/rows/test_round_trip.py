"""One table, five media types: written in each and read again it is the same, and so are rows to predict."""

import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.datasets import InputColumn, IntakeLimits, IntakeOptions
from service.rows import (
    MEDIA_TYPES,
    decode_body,
    decode_rows,
    encode_table,
    read_parquet,
    read_table,
    write_parquet,
)
from service.rows.columns import from_values

LIMITS = IntakeLimits(rows=1000, columns=50, decoded_bytes=1 << 24)
# What begins like a formula gets an apostrophe in CSV, on purpose.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda text: not text.startswith(("=", "+", "-", "@", "\t", "\r"))
)
CELLS = {
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "timestamp": st.datetimes(
        datetime(1, 1, 2),
        datetime(9999, 12, 30),
        timezones=st.just(UTC),
    ).map(lambda moment: moment.isoformat()),
    "category": TEXT,
    "text": TEXT,
}


@st.composite
def tables(draw):
    """Schema and rows of JSON values, with gaps; names that need quoting among them."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    names = draw(
        st.lists(
            TEXT.filter(lambda name: name.isprintable() and name.strip() and name != "label"),
            min_size=len(kinds),
            max_size=len(kinds),
            unique=True,
        )
    )
    schema = [InputColumn(name, kind) for name, kind in zip(names, kinds, strict=True)]
    cells = {column.name: st.none() | CELLS[column.type] for column in schema}
    rows = draw(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=8))
    return schema, rows


def same(left, right):
    assert left.keys() == right.keys()
    for name, column in left.items():
        other = right[name]
        assert column.dtype == other.dtype
        if column.dtype == object:
            assert column.tolist() == other.tolist()
        else:
            # Bytes, so that -0.0 and the last bit count; NaN first made one.
            assert (
                np.where(np.isnan(column), np.nan, column).tobytes()
                == np.where(np.isnan(other), np.nan, other).tobytes()
            )


@settings(deadline=None, max_examples=60)
@given(tables())
@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_rows_are_the_same_in_every_media_type(media_type, table):
    schema, rows = table
    direct = decode_rows(rows, schema)
    assert direct.errors == ()
    body = encode_table(direct.columns, schema, media_type)
    decoded = decode_body(body, media_type, schema, LIMITS)
    assert decoded.errors == ()
    same(direct.columns, decoded.columns)


@settings(deadline=None, max_examples=30)
@given(table=tables())
def test_datasets_are_the_same_in_every_media_type(table, tmp_path_factory):
    schema, rows = table
    folder = tmp_path_factory.mktemp("tables")
    labelled = [*schema, InputColumn("label", "category")]
    typed = decode_rows([{**row, "label": f"c{i % 2}"} for i, row in enumerate(rows * 2)], labelled).columns
    if len(rows) % 2:
        typed["label"][-1] = "c1"
    options = IntakeOptions(types={column.name: column.type for column in schema})
    seen = []
    for media_type in MEDIA_TYPES:
        path = folder / "body"
        path.write_bytes(encode_table(typed, labelled, media_type))
        found = read_table(path, media_type, options, LIMITS)
        same(typed, found.columns)
        seen.append((found.described, found.labels))
        write_parquet(folder / "stored", found.columns, labelled)
        with (folder / "stored").open("rb") as file:
            same(typed, read_parquet(file, labelled))
    assert all(one == seen[0] for one in seen)


@settings(deadline=None, max_examples=60)
@given(tables())
def test_a_row_alone_is_the_row_of_the_batch(table):
    schema, rows = table
    batch = decode_rows(rows, schema).columns
    for index, row in enumerate(rows):
        same(
            {name: column[index : index + 1] for name, column in batch.items()},
            decode_rows([row], schema).columns,
        )


@settings(deadline=None)
@given(st.lists(st.none() | st.integers() | st.floats() | st.booleans() | st.text(max_size=3), max_size=20))
@pytest.mark.parametrize("kind", sorted(CELLS))
def test_whole_columns_are_their_cells(kind, values):
    """The fast ways give what each cell gives alone."""
    column, faults = from_values(values, kind)
    for index, value in enumerate(values):
        alone, fault = from_values([value], kind)
        assert [(index, code) for _, code in fault] == [one for one in faults if one[0] == index]
        one, other = column[index], alone[0]
        assert one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


def test_stored_bytes_are_the_same_for_the_same_table(tmp_path):
    schema = [InputColumn("x", "number"), InputColumn("c", "category")]
    columns = decode_rows(json.loads('[{"x":1,"c":"a"},{"x":null,"c":null}]'), schema).columns
    for name, owner in (("a", "ds_1"), ("b", "ds_1"), ("c", "ds_2")):
        write_parquet(tmp_path / name, columns, schema, owner)
    stored = [(tmp_path / name).read_bytes() for name in "abc"]
    assert stored[0] == stored[1] != stored[2]
