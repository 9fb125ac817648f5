"""The usual small CSV, read whole: no quotes, no empty lines, as many cells in each line as names."""

import re
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
#: `in` takes ten times as long to find two bytes of which the first is frequent.
_EMPTY_LINE: Final = re.compile(rb"\n\n")
_NO_QUOTES: Final = csv.ParseOptions(quote_char=False, ignore_empty_lines=False)


def read_plain(data: bytes, limits: IntakeLimits) -> RawTable | None:
    """
    Read a body as columns of text, as the strict reader would.

    Returns
    -------
    RawTable or None
        None where anything is unusual: the strict reader shall look, and say what is wrong and where.
    """
    head, _, rest = data.removeprefix(_BOM).partition(b"\n")
    if not rest or _is_odd(data) or b"\t" in head or b";" in head:
        return None
    try:
        names = head.removesuffix(b"\r").decode().split(",")
        check_names(names)
        table = _parsed(rest, names)
        budget = Budget(limits)
        budget.columns(len(names))
        budget.take(table.num_rows, len(data) + _CELL_BYTES * table.num_rows * len(names))
    except (InvalidError, pa.ArrowInvalid, UnicodeDecodeError):
        return None
    if any(pc.max(pc.binary_length(column)).as_py() > _MAX_CELL_BYTES for column in table.columns):
        return None
    return RawTable("text", tuple(names), table.columns, table.num_rows, range(2, 2 + table.num_rows))


def _is_odd(data: bytes) -> bool:
    if b'"' in data or b"\0" in data or _EMPTY_LINE.search(data):
        return True
    return b"\r" in data and (b"\n\r" in data or data.count(b"\r") != data.count(b"\r\n"))


def _parsed(rest: bytes, names: list[str]) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(rest),
        csv.ReadOptions(use_threads=False, column_names=names, block_size=len(rest) + 1),
        _NO_QUOTES,
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()),
            strings_can_be_null=False,
            check_utf8=True,
        ),
    )
