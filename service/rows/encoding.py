"""Tables on the way out, in every media type they are read in."""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from service.domain.datasets import InputColumn
from service.rows.cells import is_number
from service.rows.columns import TypedArray
from service.rows.media import ARROW, CSV, JSON, NDJSON, PARQUET, MediaType
from service.rows.parquet import read_batches, to_arrow

#: A cell as it stands in the line.
_Cell = msgspec.Raw
_ARRAYS = msgspec.json.Encoder()

_BATCH_ROWS = 8_192
#: What csv puts a cell in quotes for.
_QUOTED = re.compile(r'[",\r\n]')
#: A spreadsheet takes a cell that begins so for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def encode_table(
    columns: Mapping[str, TypedArray], schema: Sequence[InputColumn], media_type: MediaType
) -> bytes:
    """Encode typed columns as one body."""
    return encode_arrow(to_arrow(columns, schema), media_type)


def encode_arrow(table: pa.Table, media_type: MediaType) -> bytes:
    """Encode an Arrow table as one body."""
    if media_type in (CSV, NDJSON, JSON):
        return b"".join(iterate(table.schema.names, table.to_batches(), media_type))
    sink = io.BytesIO()
    if media_type == ARROW:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    else:
        pq.write_table(table, sink)
    return sink.getvalue()


def write_table(
    path: Path, columns: Mapping[str, TypedArray], schema: Sequence[InputColumn], media_type: MediaType
) -> None:
    """Write typed columns to a file, a few thousand rows at a time."""
    table = to_arrow(columns, schema)
    with path.open("wb") as file:
        if media_type == ARROW:
            with pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table, _BATCH_ROWS)
        elif media_type == PARQUET:
            pq.write_table(table, file, compression="zstd")
        else:
            file.writelines(iterate(table.schema.names, table.to_batches(_BATCH_ROWS), media_type))


def iterate_csv(file: BinaryIO) -> Iterator[bytes]:
    """Yield a stored Parquet file as CSV, a few thousand rows at a time, and close it."""
    with file:
        names = pq.read_schema(file).names
        yield from iterate(names, read_batches(file), CSV)


def iterate(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], media_type: MediaType
) -> Iterator[bytes]:
    """Yield batches as CSV, NDJSON or one JSON array."""
    if media_type == CSV:
        yield ",".join(map(_escaped, names)).encode() + b"\r\n"
        for batch in batches:
            yield _csv_rows(batch)
        return
    opening, between, closing = ("[", ",\n", "]\n") if media_type == JSON else ("", "\n", "\n")
    start = opening
    for batch in batches:
        rows = (json.dumps(row, default=_json_value, ensure_ascii=False) for row in batch.to_pylist())
        text = between.join(rows)
        if text:
            yield (start + text).encode()
            start = between
    yield (opening + closing if start == opening else closing).encode()


def _csv_rows(batch: pa.RecordBatch) -> bytes:
    """Lines of cells, as Python's `csv` writes them."""
    # An empty line would be no row.
    nothing = b'""' if batch.num_columns == 1 else b""
    rows = zip(*(_csv_cells(column, nothing) for column in batch.columns), strict=True)
    # Each row is written as an array of JSON without its brackets: no other way to write numbers is as fast.
    return b"\r\n".join([*[_ARRAYS.encode(row)[1:-1] for row in rows], b""])


def _csv_cells(column: pa.Array, nothing: bytes) -> list[Any]:
    """Cells of a column: numbers that msgspec writes as Python does, all others written already."""
    if pa.types.is_float64(column.type):
        return _csv_numbers(column.to_numpy(zero_copy_only=False), nothing)
    distinct = column.dictionary_encode()
    texts = (_csv_cell(value).encode() for value in [*distinct.dictionary.to_pylist(), None])
    cells = [_Cell(text or nothing) for text in texts]
    return [cells[place] for place in distinct.indices.fill_null(-1).to_pylist()]


def _csv_numbers(numbers: TypedArray, nothing: bytes) -> list[Any]:
    cells: list[Any] = numbers.tolist()
    if cells and cells[0] and (numbers == cells[0]).all():  # not where 0.0 and -0.0 are mixed
        return [_Cell(repr(cells[0]).encode())] * len(cells)
    sizes = np.abs(numbers)
    for row in np.flatnonzero(~((sizes >= 1e-4) & (sizes < 1e16))).tolist():  # with an exponent, or NaN
        cells[row] = _Cell(nothing if math.isnan(cells[row]) else repr(cells[row]).encode())
    return cells


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _json_value(value)
    return _escaped(str(value))


def _escaped(text: str) -> str:
    """Make a text a cell: no formula, and in quotes where it must be."""
    if text.startswith(_FORMULA_STARTS) and not is_number(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _json_value(value: object) -> str:
    assert isinstance(value, datetime)
    return value.isoformat().replace("+00:00", "Z")
