"""Typed columns as Parquet: how a dataset is kept."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from service.domain.datasets import InputColumn
from service.rows import times
from service.rows.columns import TypedArray, from_arrow, is_textual

_ROW_GROUP = 65_536


def to_arrow(columns: Mapping[str, TypedArray], schema: Sequence[InputColumn]) -> pa.Table:
    """Typed columns as an Arrow table; what is missing is null."""
    arrays = [_array(columns[column.name], column) for column in schema]
    return pa.Table.from_arrays(arrays, names=[column.name for column in schema])


def from_table(table: pa.Table, schema: Sequence[InputColumn]) -> dict[str, TypedArray]:
    """Typed columns of a table that `to_arrow` made."""
    return {column.name: from_arrow(table.column(column.name), column.type)[0] for column in schema}


def write_parquet(
    path: Path, columns: Mapping[str, TypedArray], schema: Sequence[InputColumn], owner: str = ""
) -> None:
    """Write typed columns; the same columns and owner give the same bytes.

    Parameters
    ----------
    owner : str
        Id that is written into the file, so that equal tables of two owners are two files.
    """
    table = to_arrow(columns, schema).replace_schema_metadata({"costboost.owner": owner})
    pq.write_table(table, path, row_group_size=_ROW_GROUP, compression="zstd")


def read_parquet(file: BinaryIO, schema: Sequence[InputColumn]) -> dict[str, TypedArray]:
    """Read the typed columns named in `schema` from a stored file."""
    names = [column.name for column in schema]
    return from_table(pq.read_table(file, columns=names, use_threads=False), schema)


def read_batches(file: BinaryIO, rows: int = 8_192) -> Iterator[pa.RecordBatch]:
    """Read a stored file a few rows at a time."""
    yield from pq.ParquetFile(file).iter_batches(rows, use_threads=False)


def read_rows(
    file: BinaryIO, schema: Sequence[InputColumn], rows: NDArray[np.int64]
) -> dict[str, TypedArray]:
    """Read some rows of a stored file by their numbers, in the order of the file, a piece at a time."""
    wanted, first, pieces = np.sort(rows), 0, list[pa.RecordBatch]()
    names = [column.name for column in schema]
    for batch in pq.ParquetFile(file).iter_batches(_ROW_GROUP, columns=names, use_threads=False):
        here = wanted[(wanted >= first) & (wanted < first + batch.num_rows)] - first
        pieces.append(batch.take(pa.array(here)))
        first += batch.num_rows
    return from_table(pa.Table.from_batches(pieces), schema)


def holds_text(file: BinaryIO, column: str, text: str) -> bool:
    """Whether a column of a stored file holds a text; a number is meant by its usual spelling."""
    batches = pq.ParquetFile(file).iter_batches(_ROW_GROUP, columns=[column], use_threads=False)
    return any(pc.any(_equal(batch.column(0), text)).as_py() for batch in batches)


def _equal(values: pa.Array, text: str) -> pa.Array:
    if not pa.types.is_floating(values.type):
        return pc.equal(values.cast(pa.string()), text)
    try:
        return pc.equal(values, float(text))
    except ValueError:
        return pa.array([False])


def _array(column: TypedArray | pa.Array, described: InputColumn) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if is_textual(described.type):
        return pa.array(column, pa.string())
    holes = np.isnan(column)
    if described.type == "number" and not holes.any():
        return pa.array(column, pa.float64())
    match described.type:
        case "boolean":
            return pa.array(column == 1.0, pa.bool_(), mask=holes)
        case "timestamp":
            micro = times.to_microseconds(np.where(holes, 0.0, column))
            return pa.array(micro, pa.int64(), mask=holes).cast(pa.timestamp("us", tz="UTC"))
        case _:
            return pa.array(column, pa.float64(), mask=holes)
