"""The usual small CSV, read whole: no quotes, no empty lines, as many cells in each line as names."""

from collections.abc import Set
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from service.domain.datasets import IntakeLimits
from service.domain.errors import InvalidError
from service.rows.raw import Budget, RawTable, check_names

_BOM: Final = b"\xef\xbb\xbf"
#: Longer cells are refused by the strict reader, as Python's `csv` does.
_MAX_CELL_BYTES: Final = 131_072
#: What a cell takes as a number, beside its text.
_CELL_BYTES: Final = 8
_NO_QUOTES: Final = csv.ParseOptions(quote_char=False)
#: Read at a time: so much stays in the cache between cutting it into cells and reading these.
_BLOCK_BYTES: Final = 1 << 20


def read_plain(data: bytes, limits: IntakeLimits, numbers: Set[str] = frozenset()) -> RawTable | None:
    """
    Read a body as columns of text, as the strict reader would.

    Parameters
    ----------
    numbers : set of str
        Columns that are read as numbers at once: they are arrays of float64 instead.

    Returns
    -------
    RawTable or None
        None where anything is unusual: the strict reader shall look, and say what is wrong and where.
    """
    head, _, rest = data.removeprefix(_BOM).partition(b"\n")
    if not rest or b"\t" in head or b";" in head or _is_odd(data):
        return None
    try:
        names = head.removesuffix(b"\r").decode().split(",")
        check_names(names)
        table = _parsed(rest, names, numbers)
        budget = Budget(limits)
        budget.columns(len(names))
        budget.take(table.num_rows, len(data) + _CELL_BYTES * table.num_rows * len(names))
    except (InvalidError, pa.ArrowInvalid, UnicodeDecodeError):
        return None
    lines = rest.count(b"\n") + (not rest.endswith(b"\n"))
    if table.num_rows != lines:  # an empty one is skipped
        return None
    if numbers and not _has_short_lines(rest):
        return None
    if not all(_is_usual(column) for column in table.columns):
        return None
    return RawTable("text", tuple(names), table.columns, table.num_rows, range(2, 2 + table.num_rows))


def _is_odd(data: bytes) -> bool:
    if b'"' in data or b"\0" in data:
        return True
    return b"\r" in data and (b"\n\r" in data or data.count(b"\r") != data.count(b"\r\n"))


def _parsed(rest: bytes, names: list[str], numbers: Set[str]) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(rest),
        csv.ReadOptions(use_threads=False, column_names=names, block_size=_BLOCK_BYTES),
        _NO_QUOTES,
        csv.ConvertOptions(
            column_types={name: pa.float64() if name in numbers else pa.large_string() for name in names},
            null_values=[""],
            strings_can_be_null=False,
            check_utf8=True,
        ),
    )


def _has_short_lines(rest: bytes) -> bool:
    """Whether no cell can be too long: each half of what is allowed holds the end of a line."""
    half = _MAX_CELL_BYTES // 2
    return all(rest.find(b"\n", start, start + half) >= 0 for start in range(0, len(rest) - half, half))


def _is_usual(column: pa.ChunkedArray) -> bool:
    """Whether no text is too long, and no number is spelled as a word."""
    if pa.types.is_float64(column.type):
        finite = pc.sum(pc.is_finite(column)).as_py() or 0
        return bool(finite == len(column) - column.null_count)
    return bool((pc.max(pc.binary_length(column)).as_py() or 0) <= _MAX_CELL_BYTES)
