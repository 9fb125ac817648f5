"""The usual Arrow stream, told by its headers before Arrow's own reader sees it.

Such a stream cannot stand for more than it holds: its types are flat, nothing in it is compressed, no two
columns share their bytes and nothing is named over and over. So it needs no guarded child to be read in.
The headers are flatbuffers: tables of offsets to their fields (Schema.fbs and Message.fbs of Apache Arrow).
"""

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct, error
from typing import Final

import numpy as np

from service.domain.datasets import IntakeLimits

_CONTINUES: Final = b"\xff\xff\xff\xff"
#: A longer header is none of the usual ones.
_MAX_HEADER_BYTES: Final = 1 << 17
#: More pieces than this are left to a child, for each takes its time.
_MAX_BATCHES: Final = 1_000
#: Notes beside a schema, as pandas makes one.
_MAX_NOTES: Final = 8
#: Columns are used where they lie in the body, which the format has lie so.
_ALIGNED: Final = 8
_SCHEMA, _BATCH = 1, 3
_TIMESTAMP: Final = 10
#: Number of a type -> how many buffers a column of it has: integers, floats, text, bool, dates, times.
_BUFFERS: Final = {2: 2, 3: 2, 5: 3, 6: 2, 8: 2, _TIMESTAMP: 2, 20: 3}

_BYTE, _UINT16, _INT32, _UINT32, _INT64 = map(Struct, ("<B", "<H", "<i", "<I", "<q"))


def is_plain_stream(body: bytes, limits: IntakeLimits) -> bool:
    """Whether a body is an Arrow stream that takes hardly more memory than it has bytes."""
    try:
        messages = _messages(body)
        header, _ = next(messages)
        buffers, rows = _buffers_of_schema(header, limits.columns), 0
        for number, (header, size) in enumerate(messages, 1):
            _require(number <= _MAX_BATCHES)
            rows += _rows_of_batch(header, buffers, size)
    except (_UnusualError, StopIteration, error):
        return False
    return rows <= limits.rows


class _UnusualError(Exception):
    """It may be right all the same."""


def _require(usual: bool) -> None:
    if not usual:
        raise _UnusualError


def _messages(body: bytes) -> Iterator[tuple[bytes, int]]:
    """Header of each message, and the size of what follows it."""
    at = 0
    while at < len(body):
        _require(body[at : at + 4] == _CONTINUES)
        (size,) = _INT32.unpack_from(body, at + 4)
        at += 8
        if size == 0:
            return
        _require(0 < size <= _MAX_HEADER_BYTES)
        header = body[at : at + size]
        _require(len(header) == size)
        beyond = _Table.root(header).number(3, _INT64)
        at += size
        _require(at % _ALIGNED == 0)
        at += beyond
        _require(beyond >= 0 and at <= len(body))
        yield header, beyond


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._read(_INT32, at)
        _require(self._fields >= 0)
        self._size = self._read(_UINT16, self._fields)

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, _UINT32.unpack_from(data)[0])

    def place(self, slot: int) -> int:
        """Where a field lies; 0 where it is left out."""
        entry = 4 + 2 * slot
        offset = self._read(_UINT16, self._fields + entry) if entry + 2 <= self._size else 0
        return self._at + offset if offset else 0

    def number(self, slot: int, kind: Struct) -> int:
        """A whole number; one that is left out is 0."""
        at = self.place(slot)
        return self._read(kind, at) if at else 0

    def table(self, slot: int) -> "_Table":
        return _Table(self._data, self._target(self.place(slot)))

    def vector(self, slot: int) -> tuple[int, int]:
        """Where the items of a vector or text begin, and how many they are."""
        if not self.place(slot):
            return 0, 0
        at = self._target(self.place(slot))
        return at + 4, self._read(_UINT32, at)

    def tables(self, slot: int) -> Iterator["_Table"]:
        start, count = self.vector(slot)
        for item in range(start, start + 4 * count, 4):
            yield _Table(self._data, self._target(item))

    def pairs(self, slot: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """A vector of pairs of whole numbers."""
        start, count = self.vector(slot)
        _require(start + 16 * count <= len(self._data))
        return np.frombuffer(self._data, "<i8", 2 * count, start).reshape(count, 2)

    def _target(self, at: int) -> int:
        return at + self._read(_UINT32, at)

    def _read(self, kind: Struct, at: int) -> int:
        number: int = kind.unpack_from(self._data, at)[0]
        return number


@lru_cache(maxsize=64)
def _buffers_of_schema(header: bytes, max_columns: int) -> int:
    """How many buffers each batch has; clients send the same schema again and again."""
    message = _Table.root(header)
    _require(message.number(1, _BYTE) == _SCHEMA and not message.vector(4)[1])
    schema = message.table(2)
    _require(schema.number(0, _UINT16) == 0 and schema.vector(2)[1] <= _MAX_NOTES and not schema.vector(3)[1])
    _require(schema.vector(1)[1] <= max_columns)
    buffers, names = 0, 0
    for field in schema.tables(1):
        kind = field.number(2, _BYTE)
        is_flat = not (field.place(4) or field.vector(5)[1] or field.vector(6)[1])
        _require(kind in _BUFFERS and is_flat)
        buffers += _BUFFERS[kind]
        names += field.vector(0)[1] + (field.table(3).vector(1)[1] if kind == _TIMESTAMP else 0)
    _require(names <= len(header))
    return buffers


def _rows_of_batch(header: bytes, buffers: int, size: int) -> int:
    message = _Table.root(header)
    _require(message.number(1, _BYTE) == _BATCH and not message.vector(4)[1])
    batch = message.table(2)
    is_compressed = bool(batch.place(3))
    places = batch.pairs(2)
    _require(not is_compressed and not batch.vector(4)[1] and len(places) == buffers)
    starts, sizes = places.T
    _require(bool(((starts >= 0) & (sizes >= 0) & (starts <= size) & (sizes <= size)).all()))
    _require(int(sizes.sum()) <= size)
    _require(not (starts % _ALIGNED).any())
    rows = batch.number(0, _INT64)
    _require(rows >= 0)
    return rows
