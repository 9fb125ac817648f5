"""Many rows of JSON, read straight into the columns of a version: half the work of an object for each row.

Only what is plainly right is read so. Anything else is left to `service.domain.predictions.decode` and
`decode_rows`, which find the places and the words.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import msgspec
import numpy as np

from service.domain.datasets import InputColumn
from service.domain.errors import InvalidError
from service.domain.predictions import PredictOptions, check_options, is_id, may_be_odd
from service.rows.columns import TypedArray, from_values
from service.rows.decoding import Decoded, decode_rows
from service.rows.intake import missing
from service.rows.raw import Faults

#: The column that is given back as it came.
_ID: Final = "id"
#: Compared at once, so that what comes of it stays in the cache.
_CACHED_BYTES: Final = 1 << 16
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')


def decode_typed(body: bytes, columns: tuple[InputColumn, ...]) -> "tuple[PredictOptions, TypedRows] | None":
    """
    Read a body whose rows have just these columns, and perhaps an id.

    Returns
    -------
    tuple of PredictOptions and TypedRows, or None
        None where the body is any other, right or wrong.
    """
    decoder = _decoder(columns)
    if decoder is None:
        return None
    try:
        wish = decoder.decode(body)
        check_options(wish)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidError):
        return None
    sent = TypedRows(wish.rows, columns)
    ids = sent.ids
    names = len(sent) * len(columns) + len(ids)
    if not len(sent) or not all(map(is_id, ids)) or may_be_odd(wish, body, names, _colons(body)):
        return None
    return wish, sent


def _colons(body: bytes) -> int:
    """How many there are; `bytes.count` takes five times as long where they are many."""
    data = np.frombuffer(body, dtype=np.uint8)
    pieces = (data[start : start + _CACHED_BYTES] for start in range(0, len(data), _CACHED_BYTES))
    return sum(int(np.count_nonzero(piece == ord(":"))) for piece in pieces)


@lru_cache(maxsize=64)
def _decoder(columns: tuple[InputColumn, ...]) -> msgspec.json.Decoder[Any] | None:
    if any(_ESCAPED.search(column.name) for column in columns):  # msgspec has no fields of such names
        return None
    names = _fields(columns)
    if _ID in names:  # it would have to come back as it was spelled, not as the column has it
        return None
    fields: list[Any] = [
        (names[column.name], float | None if column.type == "number" else Any)
        for column in sorted(columns, key=_is_other)
    ]
    fields.append((_ID, Any, msgspec.UNSET))
    spelled = {field: name for name, field in names.items()}
    row = msgspec.defstruct("Row", fields, rename=spelled, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(
        msgspec.defstruct(
            "Body",
            [("rows", list[row])],  # type: ignore[valid-type]
            bases=(PredictOptions,),
            forbid_unknown_fields=True,
            gc=False,
            kw_only=True,
        )
    )


def _fields(columns: Iterable[InputColumn]) -> dict[str, str]:
    return {column.name: f"column_{index}" for index, column in enumerate(columns)}


def _is_other(column: InputColumn) -> bool:
    """Numbers come first in a row, so that they can be taken all at once."""
    return column.type != "number"


class TypedRows:
    """Rows that all have the same columns; numbers are floats already."""

    def __init__(self, rows: Sequence[Any], columns: tuple[InputColumn, ...]) -> None:
        self._rows, self._columns = rows, columns
        self._fields = {_ID: _ID} | _fields(columns)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def ids(self) -> list[object]:
        """The ids that rows brought."""
        return [row.id for row in self._rows if row.id is not msgspec.UNSET]

    @property
    def names(self) -> set[str]:
        """Columns that some row has."""
        return {column.name for column in self._columns} | ({_ID} if self.ids else set())

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types."""
        typed = self._decoded(columns) if columns == self._columns else None
        return decode_rows([self._plain(row) for row in self._rows], columns) if typed is None else typed

    def has(self, row: int, name: str) -> bool:
        """Whether a row has a column."""
        return name in self._fields and getattr(self._rows[row], self._fields[name]) is not msgspec.UNSET

    def beyond(self, row: int, known: Set[str]) -> list[str]:
        """Columns of a row that are none of these, sorted."""
        return [name for name in sorted(self._fields.keys() - known) if self.has(row, name)]

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column."""
        return getattr(self._rows[row], self._fields[name]) if self.has(row, name) else None

    def _decoded(self, columns: Sequence[InputColumn]) -> Decoded | None:
        """The typed columns; None if any cell has a fault."""
        decoded = Decoded(len(self._rows), faults=Faults(limit=sys.maxsize))
        decoded.columns = self._numbers()
        for column in columns:
            if column.name not in decoded.columns:
                values = [getattr(row, self._fields[column.name]) for row in self._rows]
                decoded.columns[column.name], faults = from_values(values, column.type)
                if faults:
                    return None
            if not column.nullable and missing(decoded.columns[column.name]).any():
                return None
        asked = {column.name for column in columns}
        decoded.extra = tuple(sorted(self.names - asked))
        return decoded

    def _numbers(self) -> dict[str, TypedArray]:
        names = [column.name for column in self._columns if not _is_other(column)]
        try:
            cells = np.fromiter(self._cells(len(names)), np.float64, len(self._rows) * len(names))
        except TypeError:  # not each is a number: of a list None becomes NaN
            cells = np.array(list(self._cells(len(names))), dtype=np.float64)
        by_column = np.ascontiguousarray(cells.reshape(len(self._rows), len(names)).T)
        return dict(zip(names, by_column, strict=True))

    def _cells(self, columns: int) -> Iterator[float | None]:
        """Row by row the first cells of each."""
        rows = map(itemgetter(slice(columns)), map(msgspec.structs.astuple, self._rows))
        return chain.from_iterable(rows)

    def _plain(self, row: Any) -> dict[str, Any]:
        cells = {name: getattr(row, field, msgspec.UNSET) for name, field in self._fields.items()}
        return {name: value for name, value in cells.items() if value is not msgspec.UNSET}
