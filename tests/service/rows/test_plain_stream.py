"""Streams read without a guarded child: what everybody writes, and nothing that grows in the reading."""

import io
import random
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from service.domain.datasets import IntakeLimits
from service.domain.errors import InvalidError, MalformedError
from service.rows.arrow_reader import read_arrow_stream
from service.rows.plain_stream import is_plain_stream

LIMITS = IntakeLimits(rows=100, columns=12, decoded_bytes=1 << 20)
TABLE = pa.table(
    {
        "number": [0.5, None, -1.0],
        "small": pa.array([1, 2, None], pa.int8()),
        "half": pa.array([1.0, 2.0, 3.0], pa.float16()),
        "text": ["a", "ä", None],
        "long": pa.array(["x", "", "y"], pa.large_string()),
        "truth": [True, None, False],
        "moment": pa.array([0, 1, None], pa.timestamp("ms", "Europe/Vienna")),
        "day": pa.array([1, None, 2], pa.date32()),
    }
)


def stream(table, batches=1, **options):
    """A table as somebody sends it."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for _ in range(batches):
            writer.write_table(table)
    return sink.getvalue()


def of_nothing(batches):
    sink = io.BytesIO()
    nothing = pa.record_batch({"a": pa.array([], pa.int8())})
    with pa.ipc.new_stream(sink, nothing.schema) as writer:
        for _ in range(batches):
            writer.write_batch(nothing)
    return sink.getvalue()


def of_polars():
    sink = io.BytesIO()
    pl.DataFrame({"a": [1.0, 2.0]}).write_ipc_stream(sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        stream(TABLE),
        stream(TABLE, batches=5),
        stream(TABLE, metadata_version=pa.ipc.MetadataVersion.V4),
        stream(TABLE)[:-8],
        stream(TABLE.slice(1, 1)),
        stream(TABLE.slice(0, 0)),
        of_nothing(batches=1_000),
        stream(pa.Table.from_pandas(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))),
        of_polars(),
    ],
)
def test_what_everybody_writes_is_plain(body):
    assert is_plain_stream(body, LIMITS)
    assert read_arrow_stream(io.BytesIO(body), LIMITS).rows == pa.ipc.open_stream(body).read_all().num_rows


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"a,b\n1,2\n",
        stream(TABLE)[:-9],
        stream(TABLE)[:200],
        stream(TABLE, compression="zstd"),
        stream(TABLE, compression="lz4"),
        stream(TABLE, use_legacy_format=True),
        stream(TABLE, batches=34),
        of_nothing(batches=1_001),
        stream(pa.table({"a": ["x"] * 101})),
        stream(pa.table({str(i): [1] for i in range(13)})),
        stream(pa.table({"a": pa.array(["x"]).dictionary_encode()})),
        stream(pa.table({"a": pa.nulls(3)})),
        stream(pa.table({"a": [[1.0]]})),
        stream(pa.table({"a": [{"b": 1.0}]})),
        stream(pa.table({"a": pa.array(["x"], pa.string_view())})),
        stream(pa.table({"a": [1]}, schema=pa.schema([pa.field("a", pa.int64(), metadata={"k": "v"})]))),
        stream(pa.table({"a": [1]}).replace_schema_metadata({str(i): "x" for i in range(9)})),
        stream(pa.table({"a": [1]}).replace_schema_metadata({"x": "x" * (1 << 17)})),
    ],
)
def test_anything_else_is_left_to_the_child(body):
    assert not is_plain_stream(body, LIMITS)


def test_columns_do_not_share_their_bytes():
    """Of n columns over the same bytes a small body would become n times as large."""
    size = 8 * 60
    body = stream(pa.table({"a": np.zeros(60), "b": np.ones(60)}))
    apart = struct.pack("<8q", 0, 0, 0, size, size, 0, size, size)
    shared = struct.pack("<8q", 0, 2 * size, 0, 2 * size, 0, 2 * size, 0, 2 * size)
    assert body.count(apart) == 1
    assert is_plain_stream(body, LIMITS)
    body = body.replace(apart, shared)
    assert pa.ipc.open_stream(body).read_all()["a"].to_pylist() == [0.0] * 60
    assert not is_plain_stream(body, LIMITS)


def test_columns_lie_where_numbers_may():
    size = 8 * 60
    body = stream(pa.table({"a": np.zeros(60), "b": np.ones(60)}))
    apart = struct.pack("<8q", 0, 0, 0, size, size, 0, size, size)
    askew = struct.pack("<8q", 0, 0, 4, size, size, 0, size, size)
    assert not is_plain_stream(body.replace(apart, askew), LIMITS)


def test_whatever_is_flipped_stays_within_bounds():
    """Of what is plain Arrow's reader makes a table or a refusal, and no more than there are bytes."""
    chance, plain = random.Random(1), 0
    whole = stream(TABLE, batches=2)
    for _ in range(3_000):
        body = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            body[chance.randrange(len(body))] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        if not is_plain_stream(bytes(body), LIMITS):
            continue
        plain += 1
        try:
            table = read_arrow_stream(io.BytesIO(body), LIMITS)
        except (InvalidError, MalformedError):
            continue
        assert table.rows <= LIMITS.rows
        assert sum(column.nbytes for column in table.columns) <= 8 * len(body)
    assert plain > 1_000
