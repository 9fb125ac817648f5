"""Typed columns: any table as named arrays, each value in the one form that its column's type holds.

A number, boolean (0 and 1) or timestamp (seconds since 1970 UTC) is float64 with NaN for missing; a category
or text is an object array of str with None for missing.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

ColumnType = Literal["number", "category", "boolean", "timestamp", "text"]
Columns = Mapping[str, NDArray[Any]]

COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
#: The types that hold str; the others hold float64.
TEXTUAL: tuple[ColumnType, ...] = ("category", "text")


def typed_columns(
    X: Any, types: Mapping[str, ColumnType] | None = None, only: Collection[str] | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, ColumnType]]:
    """Read a table as typed columns, converting each value to what its column holds.

    Parameters
    ----------
    X : mapping of name to array of shape (n,), DataFrame, Arrow table, list of dicts, or array-like (n, d)
        The columns of an array without names are called x0, x1, ….
    types : mapping of name to ColumnType, optional
        Types that are known; the others follow from the values: numbers, booleans and times are what they
        are, anything else is a category.
    only : collection of str, optional
        Names of the columns to read; those that X lacks are left out.

    Returns
    -------
    columns : dict of name to ndarray of shape (n,)
        float64 with NaN for missing (number; boolean as 0 and 1; timestamp as seconds since 1970 UTC), or
        object with str and None (category, text).
    types : dict of name to ColumnType
        The type of each column.

    Raises
    ------
    TypeError
        If X is no table.
    ValueError
        If lengths differ, names repeat, a value does not fit its column, or a number is infinite.
    """
    raw = {name: values for name, values in _raw_columns(X).items() if only is None or name in only}
    lengths = {values.shape for values in raw.values()}
    if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        raise ValueError("the columns must be one-dimensional and of one length")
    given = types or {}
    all_types = {name: given.get(name) or _type_of(values) for name, values in raw.items()}
    return {name: typed_column(name, values, all_types[name]) for name, values in raw.items()}, all_types


def typed_column(name: str, values: NDArray[Any], kind: ColumnType) -> NDArray[Any]:
    """One column as its type holds it; see `typed_columns`.

    Raises
    ------
    ValueError
        If the type is unknown or a value does not fit it.
    """
    if kind not in COLUMN_TYPES:
        raise ValueError(f"column {name!r}: {kind!r} is not a column type")
    if values.dtype.kind == "M":
        values = values.astype(
            "datetime64[us]"
        )  # as Python's datetime; other units would turn into bare integers
    if kind in TEXTUAL:
        return _column_of_text(values)
    numbers = _fast_numbers(values, kind)
    if numbers is None:
        numbers = np.array([_number_of(name, value, kind) for value in values.tolist()], dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} holds an infinite number")
    if kind == "boolean" and not np.isin(numbers[~np.isnan(numbers)], (0.0, 1.0)).all():
        raise ValueError(f"column {name!r} holds a value that is neither true nor false")
    return numbers


def canonical_text(value: object) -> str:
    """The one spelling of a category or label: 1 and 1.0 are "1", True is "true".

    Examples
    --------
    >>> [canonical_text(value) for value in (1, 1.0, 1.5, True, "01")]
    ['1', '1', '1.5', 'true', '01']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def table_of(X: Any) -> Any:
    """A table as columns with names or as an array; one of Arrow and rows with names become a mapping.

    Raises
    ------
    TypeError
        If X is no table.
    ValueError
        If names repeat.
    """
    if isinstance(X, Mapping) or hasattr(X, "iloc"):  # what comes most often
        return X
    if hasattr(X, "column_names"):
        _check_names(X.column_names)
        return dict(zip(X.column_names, map(_decoded, X.columns), strict=True))
    if isinstance(X, Sequence) and not isinstance(X, str | bytes):
        named = [isinstance(row, Mapping) for row in X]
        if not any(named):
            return X
        if all(named):  # a row without one of the names misses its value
            return {name: _objects([row.get(name) for row in X]) for name in _names_of(X)}
    elif hasattr(X, "__array__") or hasattr(X, "shape"):
        return X
    raise TypeError(
        "a table is a DataFrame, an Arrow table, a dict of columns, a list of dicts, or an array of rows and "
        f"columns; this is of type {type(X).__name__}"
    )


def _names_of(rows: Sequence[Mapping[Any, Any]]) -> list[Any]:
    """In the order in which they first come."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _decoded(column: Any) -> Any:
    """A column of Arrow without a dictionary: as an array, one with a dictionary fills what is missing."""
    is_coded = hasattr(column.type, "index_type")
    return column.cast(column.type.value_type) if is_coded else column


def _check_names(names: Collection[Any]) -> None:
    if len({str(name) for name in names}) != len(names):
        raise ValueError("the names of the columns must differ")


def _raw_columns(X: Any) -> dict[str, NDArray[Any]]:
    X = table_of(X)
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        names = list(X) if isinstance(X, Mapping) else list(X.columns)
        _check_names(names)
        return {str(name): _raw_column(X[name]) for name in names}
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"expected a table of rows and columns, got an array of {array.ndim} dimensions")
    return {f"x{j}": array[:, j] for j in range(array.shape[1])}


def _raw_column(values: Any) -> NDArray[Any]:
    """Values as an array; a data frame's extension types (nullable, categorical, time zones) as objects."""
    if isinstance(getattr(values, "dtype", np.dtype(object)), np.dtype):
        return np.asarray(values)
    return _objects(list(values))


def _objects(values: list[Any]) -> NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _type_of(values: NDArray[Any]) -> ColumnType:
    simple: dict[str, ColumnType] = {
        "b": "boolean",
        "i": "number",
        "u": "number",
        "f": "number",
        "M": "timestamp",
    }
    if values.dtype.kind in simple:
        return simple[values.dtype.kind]
    present = [value for value in values.tolist() if not is_missing(value)]
    tests: list[tuple[ColumnType, Callable[[object], bool]]] = [
        ("boolean", lambda value: isinstance(value, bool | np.bool_)),
        ("number", lambda value: isinstance(value, int | float | np.number) and not isinstance(value, bool)),
        ("timestamp", lambda value: isinstance(value, datetime)),
    ]
    return next((kind for kind, fits in tests if present and all(map(fits, present))), "category")


def is_missing(value: object) -> bool:
    """Whether a value of an object column is absent: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


def _column_of_text(values: NDArray[Any]) -> NDArray[Any]:
    column = np.empty(values.shape[0], dtype=object)
    if set(map(type, values.tolist())) <= {str, type(None)}:
        column[:] = values
    else:
        column[:] = [None if is_missing(value) else canonical_text(value) for value in values.tolist()]
    return column


def _fast_numbers(values: NDArray[Any], kind: ColumnType) -> NDArray[np.float64] | None:
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if values.dtype.kind == "M" and kind == "timestamp":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 1e6)
    return None


def _number_of(name: str, value: object, kind: ColumnType) -> float:
    if is_missing(value):
        return math.nan
    if kind == "timestamp" and isinstance(value, datetime):
        # A time without a zone is taken as UTC, as datetime64 is.
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float | np.number | np.bool_):
        return float(cast(float, value))
    raise ValueError(f"column {name!r} holds a value that is not a {kind}")
