"""From bytes in any media type to a raw table, and from raw columns to typed ones."""

from collections.abc import Callable, Set
from functools import partial
from typing import BinaryIO, Final

from service.domain.datasets import IntakeLimits
from service.domain.errors import pointer
from service.rows.arrow_reader import read_arrow_stream, read_parquet_file
from service.rows.cells import Kind, detail_of
from service.rows.columns import Fault, Typed, from_arrow, from_text, from_values
from service.rows.csv_reader import read_csv
from service.rows.inference import Inferred, infer_arrow, infer_text, infer_values
from service.rows.json_reader import read_json, read_ndjson
from service.rows.media import ARROW, CSV, JSON, NDJSON, PARQUET, MediaType
from service.rows.raw import Faults, RawTable, refuse

_READERS: Final[dict[MediaType, Callable[[BinaryIO, IntakeLimits], RawTable]]] = {
    JSON: read_json,
    NDJSON: read_ndjson,
    PARQUET: read_parquet_file,
    ARROW: read_arrow_stream,
}
_MIXED = "most cells of the column are of another kind; correct the cell, or declare the type of the column"


def read_raw(
    file: BinaryIO, media_type: MediaType, limits: IntakeLimits, as_text: Set[str] | None = None
) -> RawTable:
    """Read a table whose cells have no types yet.

    Parameters
    ----------
    as_text : set of str, optional
        Columns of a CSV that are wanted as text; of the others those may be read as numbers whose type is
        inferred to be that. All are text when left out.

    Raises
    ------
    InvalidError
        The table has faults or is too large.
    MalformedError
        The bytes are not of the media type.
    """
    if not file.read(1):
        raise refuse("empty_body", "the body is empty")
    file.seek(0)
    try:
        if media_type == CSV:
            return read_csv(file, limits, None if as_text is None else partial(_numbers, as_text=as_text))
        return _READERS[media_type](file, limits)
    except MemoryError:
        raise refuse("dataset_too_large", "the table does not fit into the memory for reading it") from None


def _numbers(first_rows: RawTable, as_text: Set[str]) -> Set[str]:
    return {
        name
        for name, column in zip(first_rows.names, first_rows.columns, strict=True)
        if name not in as_text and infer_text(column) == ("number", [])
    }


def decode_column(raw: RawTable, index: int, kind: Kind) -> Typed:
    """Give one raw column its type."""
    column = raw.columns[index]
    match raw.kind:
        case "text":
            return from_text(column, kind)
        case "values":
            return from_values(column, kind)
        case "arrow":
            return from_arrow(column, kind)


def infer_type(raw: RawTable, index: int) -> Inferred:
    """Infer the type of one raw column."""
    column = raw.columns[index]
    match raw.kind:
        case "text":
            return infer_text(column)
        case "values":
            return infer_values(column)
        case "arrow":
            return infer_arrow(column)


def note_faults(faults: Faults, raw: RawTable, name: str, kind: Kind, found: list[Fault]) -> None:
    """Add the faults of a column with their lines, or with pointers where rows are objects."""
    for row, code in found:
        detail = _MIXED if code == "mixed_types" else detail_of(code, kind)
        line = None if raw.lines is None else raw.lines[row]
        place = "/file" if raw.kind == "text" else pointer("rows", row, name)
        faults.add(code, detail, at=place, line=line, column=name)
