"""What a single cell means: from a Python value (JSON, Arrow) or from text (CSV) to its typed value."""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final, Literal, TypeAlias

from service.domain.datasets import ColumnType, canonical_label
from service.rows.times import rounded_second, seconds_since, spelled_time

#: What a cell is decoded as: a type of column, or a label in its canonical spelling.
Kind: TypeAlias = ColumnType | Literal["label"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Seconds of the years 1 to 9999, which is what dates can name.
FIRST_SECOND, LAST_SECOND = -62_135_596_800.0, 253_402_300_800.0
#: How a number is written, but for infinity.
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII | re.IGNORECASE
)
#: Text that stands for a missing number, time or truth value in CSV; in category and text it stays text.
MISSING_MARKS: Final = frozenset({"", "na", "n/a", "nan", "null"})
#: A longer text cell is a file in the wrong place.
MAX_CELL_LENGTH = 65_536

#: Code of a fault -> what would be right, for each type.
EXPECTED: Final[dict[str, str]] = {
    "number": "expected a number",
    "boolean": "expected true or false",
    "timestamp": "expected an RFC 3339 time, or seconds since 1970",
    "category": "expected text, a number or a truth value",
    "text": "expected text",
    "label": "expected text, a whole number or a truth value",
}
DETAILS: Final[dict[str, str]] = {
    "not_finite": "infinite and NaN numbers are refused",
    "nul": "text holds a NUL character",
    "encoding": "text holds half a surrogate pair",
    "cell_too_long": f"text is longer than {MAX_CELL_LENGTH} characters",
    "missing_value": "a value is needed here",
    "missing_label": "the row has no label",
    "negative_weight": "a weight is not negative",
    "missing_column": "the column is missing",
}


class CellFaultError(Exception):
    """A cell that cannot be what its column is; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def detail_of(code: str, kind: Kind) -> str:
    """Say in words what is wrong with a cell, without its value."""
    return DETAILS.get(code) or EXPECTED[kind]


def number(value: object) -> float:
    """JSON number, NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CellFaultError("wrong_type")
    try:
        result = float(value)
    except OverflowError:
        raise CellFaultError("not_finite") from None
    if not math.isfinite(result):
        raise CellFaultError("not_finite")
    return result


def boolean(value: object) -> float:
    """JSON true, false, 1 or 0; NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float) and value in (0, 1):
        return float(value)
    raise CellFaultError("wrong_type")


def timestamp(value: object) -> float:
    """RFC 3339 text (without zone: UTC), a date, or seconds since 1970; to the microsecond."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return _parse_time(value)
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return _seconds(moment)
    seconds = number(value)
    if not FIRST_SECOND <= seconds < LAST_SECOND:
        raise CellFaultError("wrong_type")
    return rounded_second(seconds)


def category(value: object) -> str | None:
    """Text as it is; a number or truth value in its canonical spelling (3 and 3.0 are "3")."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return _checked(value)
    if not isinstance(value, bool | int | float):
        raise CellFaultError("wrong_type")
    if isinstance(value, float) and not math.isfinite(value):
        raise CellFaultError("not_finite")
    return canonical_label(value)


def text_of(value: object) -> str | None:
    """What names a thing, spelled as a category; None for what is neither text nor a number."""
    try:
        return category(value)
    except CellFaultError:
        return None


def label(value: object) -> str | None:
    """The canonical spelling of a label; of a time too, so that it is the same class in every media type."""
    text = category(value)
    spelled = None if text is None else canonical_label(text)
    if spelled is None or spelled.lower() == "nan":
        return None
    if is_time(spelled):
        return spelled_time(_parse_time(spelled))
    if spelled.lower().lstrip("+-") in ("inf", "infinity"):
        raise CellFaultError("not_finite")
    return spelled


def number_text(text: str) -> float:
    """Number of a CSV cell."""
    stripped = text.strip()
    if NUMBER.fullmatch(stripped) or _INFINITE.fullmatch(stripped):
        return number(float(stripped))
    return _missing_or_fault(stripped)


def boolean_text(text: str) -> float:
    """Truth value of a CSV cell: true, false (any case), 1, 0."""
    stripped = text.strip().lower()
    known = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}.get(stripped)
    return _missing_or_fault(stripped) if known is None else known


def timestamp_text(text: str) -> float:
    """Time of a CSV cell."""
    stripped = text.strip()
    if NUMBER.fullmatch(stripped):
        return timestamp(float(stripped))
    return _parse_time(stripped) if _TIME.fullmatch(stripped) else _missing_or_fault(stripped)


def is_time(text: str) -> bool:
    """Whether text can be read as a time."""
    try:
        _parse_time(text)
    except CellFaultError:
        return False
    return True


def is_number(text: str) -> bool:
    """Whether text is written as a number, finite or not, without a leading zero (that would be a code)."""
    stripped = text.strip()
    has_zero = re.match(r"[+-]?0\d", stripped) is not None
    return bool(NUMBER.fullmatch(stripped) and not has_zero) or bool(_INFINITE.fullmatch(stripped))


#: Type -> decoder of a Python value.
VALUES: Final[dict[Kind, Callable[[object], float | str | None]]] = {
    "number": number,
    "boolean": boolean,
    "timestamp": timestamp,
    "category": category,
    "text": category,
    "label": label,
}
#: Type -> decoder of CSV text.
TEXTS: Final[dict[Kind, Callable[[str], float | str | None]]] = {
    "number": number_text,
    "boolean": boolean_text,
    "timestamp": timestamp_text,
    "category": category,
    "text": category,
    "label": label,
}


def _missing_or_fault(text: str) -> float:
    if text.lower() in MISSING_MARKS:
        return math.nan
    raise CellFaultError("wrong_type")


def _parse_time(text: str) -> float:
    if not _TIME.fullmatch(text):
        raise CellFaultError("wrong_type")
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        raise CellFaultError("wrong_type") from None


def _seconds(moment: datetime) -> float:
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return seconds_since(utc - _EPOCH)


def _checked(text: str) -> str:
    if "\0" in text:
        raise CellFaultError("nul")
    if len(text) > MAX_CELL_LENGTH:
        raise CellFaultError("cell_too_long")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise CellFaultError("encoding") from None
    return text
