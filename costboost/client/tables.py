"""Tables on their way to the service and back: files, pandas, polars and Arrow."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from costboost.client.exchange import File
from costboost.client.results import Dataset

ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
JSON = "application/json"
#: What a file is, by how its name ends.
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".json": JSON,
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
    ".parquet": PARQUET,
    ".arrow": ARROW,
    ".arrows": ARROW,
}


def file_of(table: Any) -> File:
    """A table as a file that can be sent.

    Parameters
    ----------
    table : path, pandas or polars DataFrame, pyarrow Table, or sequence of dicts
        A file is what its name says, and is sent as it is.

    Raises
    ------
    ValueError
        The name of the file does not tell what it is.
    FileNotFoundError
        There is no such file.
    TypeError
        It is no table.
    """
    if isinstance(table, str | Path):
        path = Path(table)
        media_type = MEDIA_TYPES.get(path.suffix.lower())
        if media_type is None:
            raise ValueError(f"a table is a file that ends in one of {', '.join(MEDIA_TYPES)}")
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        return File(path, media_type)
    if isinstance(table, Sequence) and all(isinstance(row, Mapping) for row in table):
        return File(json.dumps([dict(row) for row in table], allow_nan=False).encode(), JSON)
    return File(stream_of(arrow_of(table)), ARROW)


def dataset_of(data: Any) -> str | None:
    """The dataset that is meant, by its id or name; None where `data` is a table.

    Raises
    ------
    ValueError
        A str looks like the name of a file: it would be taken for that of a dataset.
    """
    if isinstance(data, Dataset):
        return data.id
    if not isinstance(data, str):
        return None
    if Path(data).suffix.lower() in MEDIA_TYPES:
        raise ValueError("a str names a dataset of the service; for a file say pathlib.Path(...)")
    return data


def arrow_of(table: Any) -> pa.Table:
    """A data frame as an Arrow table, without copying where that is possible."""
    if isinstance(table, pa.Table):
        return table
    if _package_of(table) == "pandas":
        return pa.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "__arrow_c_stream__"):
        return _plain(pa.table(table))
    raise TypeError(
        "a table in memory is a pandas or polars DataFrame or an Arrow table, "
        f"not {type(table).__name__}; files go to `train` and `predict_batch`"
    )


def stream_of(table: pa.Table) -> bytes:
    """An Arrow table as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parts_of(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """The table, so many rows at a time; an empty one in one part."""
    for start in range(0, max(table.num_rows, 1), rows):
        yield table.slice(start, rows)


def read_stream(content: bytes) -> pa.Table:
    """An Arrow stream as a table."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


def read_parquet(content: bytes) -> pa.Table:
    """A Parquet file as a table."""
    return pq.read_table(io.BytesIO(content))


def with_id(decisions: pa.Table, rows: pa.Table, id_column: str) -> pa.Table:
    """Decisions with the column of their rows that says which row each is, in the first place."""
    if "id" in decisions.column_names:
        decisions = decisions.drop_columns("id")
    return decisions.add_column(0, rows.schema.field(id_column), rows[id_column])


def like(table: pa.Table, given: Any) -> Any:
    """An Arrow table as the kind of table that was given; for anything else as it is."""
    package = _package_of(given)
    if package == "pandas":
        return table.to_pandas()
    if package == "polars":
        import polars  # noqa: PLC0415  only who has given one has it for certain

        return polars.from_arrow(table)
    return table


def _package_of(table: Any) -> str:
    return type(table).__module__.partition(".")[0]


def _plain(table: pa.Table) -> pa.Table:
    """Text without views, which the service's readers do not know."""
    fields = [
        pa.field(field.name, pa.large_string() if pa.types.is_string_view(field.type) else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
