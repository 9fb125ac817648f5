"""Reads Parquet and Arrow streams batch by batch; what a file says about its own size is not believed."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from service.domain.datasets import IntakeLimits
from service.domain.errors import FieldError, MalformedError
from service.rows.columns import arrow_kind
from service.rows.raw import Budget, Faults, RawTable, check_names

_BATCH_ROWS = 8_192


def read_parquet_file(file: BinaryIO, limits: IntakeLimits) -> RawTable:
    """Read a Parquet file as Arrow columns."""
    try:
        source = pq.ParquetFile(file, pre_buffer=False, memory_map=False)
        names = source.schema_arrow.names
        Budget(limits).columns(max(len(names), source.metadata.num_columns))
        return _collect(source.schema_arrow, source.iter_batches(_BATCH_ROWS, use_threads=False), limits)
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _malformed("Parquet file") from error


def read_arrow_stream(file: BinaryIO, limits: IntakeLimits) -> RawTable:
    """Read an Arrow IPC stream as Arrow columns; of one that is in memory they lie in its bytes."""
    try:
        source = pa.BufferReader(file.getvalue()) if isinstance(file, BytesIO) else pa.PythonFile(file, "r")
        batches = pa.ipc.open_stream(source)
        table = _collect(batches.schema, batches, limits)
        # What stands after the end would be passed over in silence, such as the rows of another stream.
        is_whole = not source.read(1)
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _malformed("Arrow stream") from error
    if not is_whole:
        detail = "something follows the end of the Arrow stream; send one stream alone"
        raise MalformedError("malformed", detail, [FieldError("/file", "unreadable", detail)])
    return table


def _malformed(what: str) -> MalformedError:
    detail = f"the body is not a readable {what}"
    return MalformedError("malformed", detail, [FieldError("/file", "unreadable", detail)])


def _collect(schema: pa.Schema, batches: Iterable[Any], limits: IntakeLimits) -> RawTable:
    budget, faults = Budget(limits), Faults()
    budget.columns(len(schema.names))
    check_names(schema.names)
    for field in schema:
        if arrow_kind(field.type) is None:
            faults.add("wrong_type", "a column of this Arrow type is not read", column=field.name)
    faults.refuse("some columns have types that are not read")
    flat = pa.schema([(field.name, _flat(field.type)) for field in schema])
    kept = []
    for batch in batches:
        batch.validate(full=True)
        decoded = batch if batch.schema.equals(flat) else batch.cast(flat)
        budget.take(decoded.num_rows, decoded.nbytes + 8 * decoded.num_rows * len(flat))
        kept.append(decoded)
    table = pa.Table.from_batches(kept, flat)
    return RawTable("arrow", tuple(flat.names), table.columns, table.num_rows)


def _flat(arrow_type: pa.DataType) -> pa.DataType:
    """The type without a dictionary: a batch of a few bytes of indices can stand for gigabytes of text."""
    plain = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    return pa.large_string() if arrow_kind(plain) == "text" else plain
