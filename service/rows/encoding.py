"""Tables on the way out, in every media type they are read in."""

import csv
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
        yield _csv_lines([[_escaped(name) for name in names]])
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


def _csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _csv_rows(batch: pa.RecordBatch) -> bytes:
    """Lines of cells; where none needs quotes, joined as they are."""
    cells = [_csv_cells(column) for column in batch.columns]
    rows = zip(*(column for column, _ in cells), strict=True)
    if len(cells) < 2 or any(is_quoted for _, is_quoted in cells):
        return _csv_lines(rows)
    return "\r\n".join([*map(",".join, rows), ""]).encode()


def _csv_cells(column: pa.Array) -> tuple[Sequence[str], bool]:
    """Cells of a column, and whether one of them needs quotes."""
    if pa.types.is_float64(column.type):
        return _written(column.to_numpy(zero_copy_only=False)), False
    distinct = column.dictionary_encode()
    texts = [_csv_cell(value) for value in [*distinct.dictionary.to_pylist(), None]]
    cells = [texts[place] for place in distinct.indices.fill_null(-1).to_pylist()]
    return cells, any(map(_QUOTED.search, texts))


def _written(numbers: TypedArray) -> list[str]:
    """Numbers as Python writes them; those without an exponent msgspec writes alike, and faster."""
    if not len(numbers):
        return []
    if (numbers == numbers[0]).all() and numbers[0]:  # not where 0.0 and -0.0 are mixed
        return [repr(float(numbers[0]))] * len(numbers)
    written = msgspec.json.encode(numbers.tolist()).decode()[1:-1].split(",")
    sizes = np.abs(numbers)
    for row in np.flatnonzero(~((sizes >= 1e-4) & (sizes < 1e16))).tolist():  # NaN too
        number = float(numbers[row])
        written[row] = "" if math.isnan(number) else repr(number)
    return written


def _csv_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _json_value(value)
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and not is_number(text) else text


def _json_value(value: object) -> str:
    assert isinstance(value, datetime)
    return value.isoformat().replace("+00:00", "Z")
