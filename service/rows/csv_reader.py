"""Reads CSV (RFC 4180, UTF-8, comma, one header line) strictly, with the line of every fault."""

import csv
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO

import pyarrow as pa

from service.domain.datasets import IntakeLimits
from service.rows.plain_csv import Guess, read_plain_file
from service.rows.raw import Budget, Faults, RawTable, check_names, refuse

_BATCH_ROWS = 16_384
#: A longer line is no table; it would also have to fit into memory whole.
_MAX_LINE_BYTES = 1 << 24
#: What a cell takes as a number, beside its text.
_CELL_BYTES = 8
_ONE_LINE = (
    "the file has one line, at most a header; if curl sent it, use --data-binary, as --data drops "
    "the line ends"
)
_BOM = b"\xef\xbb\xbf"


def read_csv(file: BinaryIO, limits: IntakeLimits, guess: Guess | None = None) -> RawTable:
    """Read a whole CSV file as columns of text.

    Parameters
    ----------
    guess : callable, optional
        Given the first rows, names the columns that may be read as numbers (ndarrays of float64).

    Raises
    ------
    InvalidError
        Ragged rows, bad or unclosed quotes, NUL, bytes that are not UTF-8, bad headers, nothing at all,
        or more than the limits allow.
    """
    if (plain := read_plain_file(file, limits, guess)) is not None:
        return plain
    file.seek(0)
    return _read_strictly(file, limits)


def _read_strictly(file: BinaryIO, limits: IntakeLimits) -> RawTable:
    budget, faults = Budget(limits), Faults()
    rows = _records(_decoded_lines(file, budget))
    line, names = next(rows, (1, []))
    if not names:
        raise refuse("empty_body", "the file holds no header")
    first = next(rows, None)
    if first is None:
        raise refuse("empty_body", _ONE_LINE)
    rows = chain([first], rows)
    budget.columns(len(names))
    if "\t" in names[0]:  # no name at all, whatever the table is for
        check_separator(names)
    check_names(names, line)
    lines, batches, batch = array("q"), list[list[pa.Array]](), list[list[str]]()
    for line, row in rows:
        if len(row) != len(names):
            check_separator(names)  # decimals with a comma are cells then
            faults.add("ragged_row", f"has {len(row)} cells, the header has {len(names)}", line=line)
            continue
        batch.append(row)
        lines.append(line)
        if len(batch) == _BATCH_ROWS:
            batches.append(_columns(batch))
            budget.take(len(batch), _CELL_BYTES * len(batch) * len(names))
            batch = []
    budget.take(len(batch), _CELL_BYTES * len(batch) * len(names))
    faults.refuse("some rows do not have one cell for each column")
    batches.append(_columns(batch) if batch else [pa.array([], pa.large_string())] * len(names))
    columns = [pa.chunked_array(chunks) for chunks in zip(*batches, strict=True)]
    return RawTable("text", tuple(names), columns, len(lines), lines)


def check_separator(names: Sequence[str]) -> None:
    """Refuse a table of one column that has another sign where the comma should be.

    Raises
    ------
    InvalidError
    """
    for sign, spoken in (("\t", "tabs"), (";", "semicolons"), ("|", "vertical bars")):
        if len(names) == 1 and sign in names[0]:
            detail = (
                f"the header has no comma but {spoken}: separate the cells by commas, and decimals by points"
            )
            raise refuse("csv_syntax", detail, line=1)


def _columns(batch: list[list[str]]) -> list[pa.Array]:
    return [pa.array(cells, pa.large_string()) for cells in zip(*batch, strict=True)]


def _decoded_lines(file: BinaryIO, budget: Budget) -> Iterator[str]:
    number = 0
    while raw := file.readline(_MAX_LINE_BYTES):
        number += 1
        if number == 1:
            raw = raw.removeprefix(_BOM)
        if len(raw) == _MAX_LINE_BYTES:
            raise refuse("line_too_long", f"a line has more than {_MAX_LINE_BYTES} bytes", line=number)
        budget.take(0, len(raw))
        yield _text(raw, number)


def _text(raw: bytes, line: int) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise refuse("encoding", "the line is not UTF-8", line=line) from None
    if "\0" in text:
        raise refuse("nul", "the line holds a NUL", line=line)
    return text


def _records(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line they begin on; empty lines are skipped."""
    reader = csv.reader(lines, strict=True)
    begun = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _syntax_error(str(error), begun) from None
        if row:
            yield begun, row
        begun = reader.line_num + 1


#: What the parser says -> code and what it means.
_SYNTAX = {
    "unexpected end of data": ("unclosed_quote", "a quote that opens here is never closed"),
    "field larger": (
        "unclosed_quote",
        "a cell is very long; perhaps a quote that opens here is never closed",
    ),
    "new-line character": ("csv_syntax", "a carriage return stands inside a cell without quotes"),
}


def _syntax_error(message: str, line: int) -> Exception:
    found = [fault for text, fault in _SYNTAX.items() if text in message]
    code, detail = found[0] if found else ("csv_quote", "text follows a closing quote")
    return refuse(code, detail, line=line)
