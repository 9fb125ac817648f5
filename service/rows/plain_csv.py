"""The usual CSV: no quotes, no empty lines, as many cells in each line as names; read in bounded memory."""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
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
#: Looked through at once by numpy, whose steps are then not slowed by memory.
_CACHED_BYTES: Final = 1 << 16
#: From so much of a file is guessed which of its columns are numbers.
_SAMPLE_BYTES: Final = 1 << 16
#: Spellings of a missing number.
_MISSING: Final = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "Null", "na", "n/a"]

#: Given the first rows as text, the columns to read as numbers.
Guess = Callable[[RawTable], Set[str]]


class _UnusualError(Exception):
    """The strict reader shall look, and say what is wrong and where."""


@dataclass(frozen=True)
class _Shape:
    names: tuple[str, ...]
    rows: int
    #: Of the header.
    bytes: int
    #: Whether no cell can be longer than is allowed.
    has_short_lines: bool
    #: Columns in which something begins as codes do, such as 01234.
    codes: frozenset[str]


def read_plain(body: bytes, limits: IntakeLimits, numbers: Set[str] = frozenset()) -> RawTable | None:
    """
    Read a body as columns of text, as the strict reader would.

    Parameters
    ----------
    numbers : set of str
        Columns that are read as numbers at once: they are ndarrays of float64 instead.

    Returns
    -------
    RawTable or None
        None where anything is unusual: the strict reader shall look, and say what is wrong and where.
    """
    try:
        head, _, rest = body.partition(b"\n")
        shape = _shape(head + b"\n", [rest] if rest else [], limits, len(body))
        if numbers and not shape.has_short_lines:
            return None
        return _read(pa.BufferReader(rest), shape, numbers)
    except (_UnusualError, InvalidError, pa.ArrowInvalid, UnicodeDecodeError):
        return None


def read_plain_file(file: BinaryIO, limits: IntakeLimits, guess: Guess | None) -> RawTable | None:
    """Read a file likewise, block by block; what `guess` names are numbers where all cells are."""
    try:
        size = file.seek(0, 2)
        file.seek(0)
        shape = _shape(
            file.readline(_BLOCK_BYTES), _pieces(file), limits, size, seeks_codes=guess is not None
        )
        numbers = frozenset[str]()
        if guess is not None and shape.has_short_lines:
            numbers = frozenset(guess(_first_rows(file, shape))) - shape.codes
        return (_read_from(file, shape, numbers) if numbers else None) or _read_from(file, shape, frozenset())
    except (_UnusualError, InvalidError, pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Pieces of whole lines."""
    while piece := file.read(_BLOCK_BYTES):
        yield piece + file.readline(_BLOCK_BYTES)


def _shape(head: bytes, pieces: Any, limits: IntakeLimits, size: int, *, seeks_codes: bool = False) -> _Shape:
    start, head = len(head), head.removeprefix(_BOM)
    if not head.endswith(b"\n") or b"\t" in head or b";" in head or _is_odd(head):
        raise _UnusualError
    names = head.rstrip(b"\r\n").decode().split(",")
    check_names(names)
    rows, has_short_lines, codes, last = 0, True, set[int](), b"\n"
    for piece in pieces:
        if _is_odd(piece) or not last.endswith(b"\n"):
            raise _UnusualError
        rows += _lines(piece)
        has_short_lines = has_short_lines and _has_short_lines(piece)
        if seeks_codes:
            codes |= _codes(piece, len(names))
        last = piece
    rows += not last.endswith(b"\n")
    budget = Budget(limits)
    budget.columns(len(names))
    budget.take(rows, size + _CELL_BYTES * rows * len(names))
    coded = frozenset(names[column] for column in codes)
    return _Shape(tuple(names), rows, start, has_short_lines, coded)


def _is_odd(data: bytes) -> bool:
    if b'"' in data or b"\0" in data:
        return True
    if data.startswith(_BOM):  # in the first cell it is text, which Arrow would leave out
        return True
    has_returns = b"\r" in data
    return has_returns and (
        data.startswith(b"\r") or b"\n\r" in data or data.count(b"\r") != data.count(b"\r\n")
    )


def _lines(piece: bytes) -> int:
    data = np.frombuffer(piece, dtype=np.uint8)
    parts = (data[start : start + _CACHED_BYTES] for start in range(0, len(data), _CACHED_BYTES))
    return sum(int(np.count_nonzero(part == ord("\n"))) for part in parts)


def _has_short_lines(piece: bytes) -> bool:
    """Whether no cell can be too long: each half of what is allowed holds the end of a line."""
    half = _MAX_CELL_BYTES // 2
    return all(piece.find(b"\n", start, start + half) >= 0 for start in range(0, len(piece) - half, half))


def _codes(piece: bytes, width: int) -> set[int]:
    """Columns in which a cell begins with a zero and a digit, after a sign if any."""
    data = np.frombuffer(b"\n\n" + piece, dtype=np.uint8)
    ends = [
        _ends_before_codes(data[start : start + _CACHED_BYTES + 3]) + start
        for start in range(0, len(data) - 3, _CACHED_BYTES)
    ]
    before = np.concatenate(ends) if ends else np.empty(0, np.intp)
    if not before.size:
        return set()
    # Without quotes and with as many cells in each line the commas alone tell the column.
    commas = np.searchsorted(np.flatnonzero(data == ord(",")), before, "right")
    columns = np.where(data[before] == ord("\n"), 0, (commas - 1) % max(width - 1, 1) + 1)
    return set(np.unique(columns).tolist())


def _ends_before_codes(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where what stands before such a cell ends; a zero among the first two bytes or the last is not seen."""
    ends, signs = _is_one_of(data, b",\n"), _is_one_of(data, b"+-")
    begins = (data[2:-1] == ord("0")) & (data[3:] - ord("0") < 10)  # what is below "0" wraps
    before = np.flatnonzero(begins & (ends | signs)[1:-2]) + 1
    before -= signs[before]
    return before[ends[before]]  # a sign may also stand in an exponent


def _is_one_of(data: NDArray[np.uint8], signs: bytes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = data == signs[0]
    for sign in signs[1:]:
        found |= data == sign
    return found


def _first_rows(file: BinaryIO, shape: _Shape) -> RawTable:
    file.seek(shape.bytes)
    sample = file.read(_SAMPLE_BYTES)
    sample += file.readline(_BLOCK_BYTES)
    rows = sample.count(b"\n") + (not sample.endswith(b"\n"))
    return _read(
        BytesIO(sample), _Shape(shape.names, rows, 0, shape.has_short_lines, shape.codes), frozenset()
    )


def _read_from(file: BinaryIO, shape: _Shape, numbers: Set[str]) -> RawTable | None:
    file.seek(shape.bytes)
    try:
        return _read(file, shape, numbers)
    except (_UnusualError, pa.ArrowInvalid):
        if not numbers:
            raise
        return None


def _read(source: Any, shape: _Shape, numbers: Set[str]) -> RawTable:
    types = {name: pa.float64() if name in numbers else pa.large_string() for name in shape.names}
    reader = csv.open_csv(
        source,
        csv.ReadOptions(use_threads=False, column_names=shape.names, block_size=_BLOCK_BYTES),
        _NO_QUOTES,
        csv.ConvertOptions(
            column_types=types, null_values=_MISSING, strings_can_be_null=False, check_utf8=True
        ),
    )
    arrays = [np.empty(shape.rows) if name in numbers else None for name in shape.names]
    texts: list[list[pa.Array]] = [[] for _ in shape.names]
    start = 0
    for batch in reader:
        stop = start + batch.num_rows
        if stop > shape.rows:
            raise _UnusualError
        for column, array, text in zip(batch.columns, arrays, texts, strict=True):
            if array is None:
                text.append(_usual_text(column))
            else:
                array[start:stop] = _usual_numbers(column)
        start = stop
    if start != shape.rows:  # an empty line is skipped
        raise _UnusualError
    columns = [
        pa.chunked_array(text, pa.large_string()) if array is None else array
        for array, text in zip(arrays, texts, strict=True)
    ]
    return RawTable("text", shape.names, columns, shape.rows, range(2, 2 + shape.rows))


def _usual_text(column: pa.Array) -> pa.Array:
    if (pc.max(pc.binary_length(column)).as_py() or 0) > _MAX_CELL_BYTES:
        raise _UnusualError
    return column


def _usual_numbers(column: pa.Array) -> Any:
    """Numbers of which none is spelled as a word."""
    values = column.to_numpy(zero_copy_only=False)
    if np.count_nonzero(np.isfinite(values)) != len(column) - column.null_count:
        raise _UnusualError
    return values
