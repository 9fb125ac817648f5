"""Whole columns: from Python values, from CSV text or from Arrow arrays to typed numpy arrays.

The fast ways below give what `cells` gives cell by cell; whatever they do not understand goes cell by cell,
which also finds the places of the faults.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from service.rows import cells, times
from service.rows.cells import Kind

TypedArray = NDArray[Any]
#: Index of the row and code of the fault.
Fault = tuple[int, str]
Typed = tuple[TypedArray, list[Fault]]

_Cell = TypeVar("_Cell")
#: Of each unit in which Arrow counts moments.
_SECONDS = {"day": 86_400.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PLAIN_NUMBERS = {float, int}
_NUMBERS = {float, int, type(None)}


def is_textual(kind: Kind) -> bool:
    """Whether a column of this type is an array of str or None; the others are float64."""
    return kind in ("category", "text", "label")


def chosen(texts: Sequence[str | None], places: NDArray[np.intp]) -> pa.Array:
    """A column that has a few texts again and again, each told by its place; -1 is the last."""
    return pa.array(texts, pa.string()).take(pa.array(np.where(places < 0, len(texts) - 1, places)))


def from_values(values: Sequence[object], kind: Kind) -> Typed:
    """Decode Python values as JSON and Arrow give them."""
    if kind == "number":
        fast = plain_numbers(values)
        if fast is not None:
            return fast, []
    return _cell_by_cell(values, cells.VALUES[kind], kind)


def from_text(column: pa.ChunkedArray | TypedArray, kind: Kind) -> Typed:
    """Decode the text cells of a CSV column, or numbers that were read as such."""
    if isinstance(column, np.ndarray):
        assert kind == "number"
        return column, []
    if kind == "number":
        fast = _cast_numbers(column)
        if fast is not None:
            return fast, []
    return _by_distinct(column, cells.TEXTS[kind], kind)


def from_arrow(column: pa.ChunkedArray, kind: Kind) -> Typed:
    """Decode an Arrow column; NaN is missing, as pandas writes it."""
    source = arrow_kind(column.type)
    if source == "text":
        return _by_distinct(column, cells.VALUES[kind], kind)
    numbers = _arrow_numbers(column, source)
    if source == kind or (source == "number" and kind == "timestamp"):
        return _checked_numbers(numbers, kind)
    values = _python_values(numbers, source, is_named=is_textual(kind))
    return _cell_by_cell(values, cells.VALUES[kind], kind)


@lru_cache(maxsize=64)  # to ask again takes longer than to read a short column
def arrow_kind(arrow_type: pa.DataType) -> str | None:
    """Name what the cells of an Arrow type are: number, boolean, timestamp or text; None when not read."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        return arrow_kind(arrow_type.value_type)
    if types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type):
        return "text"
    if types.is_boolean(arrow_type):
        return "boolean"
    if types.is_timestamp(arrow_type) or types.is_date(arrow_type):
        return "timestamp"
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return "number" if any(test(arrow_type) for test in numeric) else None


def plain_numbers(values: Sequence[object]) -> TypedArray | None:
    """Decode values that are all finite numbers or None; give None where one is something else."""
    kinds = set(map(type, values))
    if not kinds <= _NUMBERS:
        return None
    try:
        array = np.array(values, dtype=np.float64)  # None becomes NaN
    except OverflowError:
        return None
    finite = np.isfinite(array)
    if kinds <= _PLAIN_NUMBERS:
        return array if finite.all() else None
    given = np.array([value is not None for value in values])
    return array if finite[given].all() else None


def _cast_numbers(column: pa.ChunkedArray) -> TypedArray | None:
    empty = pc.equal(column, "")
    try:
        numbers = pc.cast(pc.if_else(empty, None, column), pa.float64())
    except pa.ArrowInvalid:
        return None
    array = _to_numpy(numbers)
    return None if np.isinf(array).any() else array


def _cell_by_cell(
    values: Iterable[_Cell], decode: Callable[[_Cell], float | str | None], kind: Kind
) -> Typed:
    decoded, faults = list[float | str | None](), list[Fault]()
    for index, value in enumerate(values):
        try:
            decoded.append(decode(value))
        except cells.CellFaultError as fault:
            decoded.append(None)
            faults.append((index, fault.code))
    return _array(decoded, kind), faults


def _by_distinct(column: pa.ChunkedArray, decode: Callable[[Any], Any], kind: Kind) -> Typed:
    """Decode each distinct text once; equal cells then share one object."""
    encoded = column.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    typed, faults = _cell_by_cell(encoded.dictionary.to_pylist(), decode, kind)
    missing = _array([None], kind)
    array = np.concatenate([typed, missing])[codes]
    if not faults:
        return array, []
    wrong = dict(faults)
    rows = np.flatnonzero(np.isin(codes, list(wrong)))
    return array, [(int(row), wrong[int(codes[row])]) for row in rows]


def _arrow_numbers(column: pa.ChunkedArray, source: str | None) -> TypedArray:
    """Column as float64, NaN where null; times in seconds, rounded as `cells.timestamp` does."""
    if source == "timestamp":
        # In microseconds first: the same last bit as from text.
        micro = column.cast(pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False)
        whole = micro.cast(pa.int64()).fill_null(0).to_numpy()
        holes = column.is_null().to_numpy(zero_copy_only=False)
        return np.where(holes, np.nan, np.where(_is_far(column), np.inf, times.to_seconds(whole)))
    is_float64 = pa.types.is_float64(column.type)  # a cast to the same would still take its time
    return _to_numpy(column if is_float64 else column.cast(pa.float64(), safe=False))


def _is_far(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Moments outside the calendar; in microseconds some of them would come round to others."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    unit = "day" if pa.types.is_date32(column.type) else getattr(column.type, "unit", "ms")
    seconds: NDArray[np.float64] = column.cast(whole).fill_null(0).to_numpy() * _SECONDS[unit]
    return (seconds < cells.FIRST_SECOND) | (seconds >= cells.LAST_SECOND)


def _checked_numbers(numbers: TypedArray, kind: Kind) -> Typed:
    if kind == "number" and np.isfinite(numbers).all():
        return numbers, []
    bad = np.isinf(numbers)
    code = "not_finite"
    if kind == "timestamp":
        bad = ~(np.isnan(numbers) | ((numbers >= cells.FIRST_SECOND) & (numbers < cells.LAST_SECOND)))
        numbers = times.rounded(np.where(bad, np.nan, numbers))
        code = "wrong_type"
    return np.where(bad, np.nan, numbers), [(int(row), code) for row in np.flatnonzero(bad)]


def _python_values(numbers: TypedArray, source: str | None, *, is_named: bool) -> list[object]:
    if source == "timestamp" and is_named:
        # What is infinite here is no moment of the calendar, and no text either.
        return [
            value if np.isinf(value) else None if np.isnan(value) else times.spelled_time(value)
            for value in numbers.tolist()
        ]
    if source == "boolean":
        return [None if np.isnan(value) else bool(value) for value in numbers.tolist()]
    return [None if np.isnan(value) else value for value in numbers.tolist()]


def _to_numpy(column: pa.ChunkedArray) -> TypedArray:
    """Column as float64; of one piece without holes the numbers lie where they lay."""
    one = column.chunk(0) if column.num_chunks == 1 else column
    array: TypedArray = one.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return array


def _array(values: Sequence[float | str | None], kind: Kind) -> TypedArray:
    if not is_textual(kind):
        return np.array(values, dtype=np.float64)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
