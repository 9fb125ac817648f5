"""Which type a column has when nobody says so, from all of its cells."""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.domain.datasets import ColumnType
from service.rows import cells
from service.rows.columns import Fault, TypedArray, arrow_kind

#: Up to this share of cells that are no numbers among numbers is a flaw of the data, more is a category.
_FLAW_SHARE = 0.1
#: Long texts that hardly repeat are text, not a category.
_TEXT_LENGTH, _TEXT_DISTINCT = 24, 0.5

Inferred = tuple[ColumnType, list[Fault]]


def infer_text(column: pa.ChunkedArray | TypedArray) -> Inferred:
    """Infer the type of a CSV column; one that was read as numbers has been looked at.

    Returns
    -------
    type, faults
        The faults are the few cells that break a column of numbers (`mixed_types`).
    """
    if isinstance(column, np.ndarray) or _are_plain_numbers(column):
        return "number", []
    counts = _counts(column)
    given = {text: n for text, n in counts.items() if text.strip().lower() not in cells.MISSING_MARKS}
    # A column of nothing but empty cells is taken as numbers that are all missing.
    if all(cells.is_number(text) for text in given):
        return "number", []
    if all(text.strip().lower() in ("true", "false") for text in given):
        return "boolean", []
    if all(cells.is_time(text.strip()) for text in given):
        return "timestamp", []
    flawed = _flawed_numbers(column, given)
    if flawed is not None:
        return flawed
    odd = _odd_times(given)
    return ("timestamp", _mixed(column, odd)) if odd else (_category_or_text(counts), [])


def infer_values(values: Sequence[object]) -> Inferred:
    """Infer the type of a JSON column, whose cells say what they are."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {int, float}:
        return "number", []
    if kinds == {bool}:
        return "boolean", []
    if kinds != {str}:
        return "category", _minority(values)
    counts = dict[str, int]()
    for value in values:
        if isinstance(value, str):
            counts[value] = counts.get(value, 0) + 1
    odd = _odd_times(counts)
    if odd:
        return "timestamp", [(row, "mixed_types") for row, value in enumerate(values) if value in odd]
    return _time_or_words(counts), []


def infer_arrow(column: pa.ChunkedArray) -> Inferred:
    """Infer the type of an Arrow column from its own type and, for text, from its cells."""
    match arrow_kind(column.type):
        case "number":
            return "number", []
        case "boolean":
            return "boolean", []
        case "timestamp":
            return "timestamp", []
        case "text":
            texts = column.cast(pa.large_string())
            counts = _counts(texts)
            odd = _odd_times(counts)
            return ("timestamp", _mixed(texts, odd)) if odd else (_time_or_words(counts), [])
        case _:
            return "category", [(0, "wrong_type")]


def _are_plain_numbers(column: pa.ChunkedArray) -> bool:
    """Fast test for the common case; "01234" is a code, not a number."""
    try:
        pc.cast(pc.if_else(pc.equal(column, ""), None, column), pa.float64())
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(column, r"^[+-]?0\d")).as_py()


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    counted = column.drop_null().value_counts()
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))


def _flawed_numbers(column: pa.ChunkedArray, given: dict[str, int]) -> Inferred | None:
    if any(re.match(r"[+-]?0\d", text) for text in given):
        return None  # codes such as "01234"
    words = {text: n for text, n in given.items() if not cells.is_number(text)}
    return ("number", _mixed(column, set(words))) if _are_flaws(words, given) else None


def _odd_times(given: dict[str, int]) -> set[str]:
    """The few texts that are no times where nearly all are; empty for times and for words."""
    counts = {text.strip(): 0 for text in given}
    for text, n in given.items():
        counts[text.strip()] += n
    counts.pop("", None)
    words, wrong, most = dict[str, int](), 0, max(1.0, _FLAW_SHARE * sum(counts.values()))
    for text, n in counts.items():
        if not cells.is_time(text):
            words[text], wrong = n, wrong + n
            if wrong > most:  # words of some other kind: seen soon, also among a million
                return set()
    return {text for text in given if text.strip() in words} if _are_flaws(words, counts) else set()


def _are_flaws(words: dict[str, int], given: dict[str, int]) -> bool:
    wrong, total = sum(words.values()), sum(given.values())
    return wrong <= max(1, _FLAW_SHARE * total) and total - wrong > 2 * wrong


def _mixed(column: pa.ChunkedArray, words: set[str]) -> list[Fault]:
    rows = pc.indices_nonzero(pc.is_in(column, pa.array(sorted(words), column.type))).to_pylist()
    return [(row, "mixed_types") for row in rows]


def odd_cells(column: pa.ChunkedArray) -> list[int]:
    """Rows of a CSV column that are no numbers where most are; empty for a column of words or of codes."""
    counts = _counts(column)
    given = {text: n for text, n in counts.items() if text.strip().lower() not in cells.MISSING_MARKS}
    words = {text: n for text, n in given.items() if not cells.is_number(text)}
    if 2 * sum(words.values()) >= sum(given.values()) or any(re.match(r"[+-]?0\d", text) for text in given):
        return []
    return list(pc.indices_nonzero(pc.is_in(column, pa.array(list(words), column.type))).to_pylist())


def _time_or_words(counts: dict[str, int]) -> ColumnType:
    given = [text for text in counts if text]
    if given and all(cells.is_time(text) for text in given):
        return "timestamp"
    return _category_or_text(counts)


def _category_or_text(counts: dict[str, int]) -> ColumnType:
    total = sum(counts.values())
    if not total or len(counts) < _TEXT_DISTINCT * total:
        return "category"
    return "text" if sum(map(len, counts)) / len(counts) >= _TEXT_LENGTH else "category"


def _minority(values: Sequence[object]) -> list[Fault]:
    """Cells that are not of the commonest kind of a mixed column."""
    kinds = [_kind(value) for value in values]
    known = [kind for kind in kinds if kind != "null"]
    commonest = max(sorted(set(known)), key=known.count)
    return [
        (i, "wrong_type" if kind == "nested" else "mixed_types")
        for i, kind in enumerate(kinds)
        if kind == "nested" or kind not in ("null", commonest)
    ]


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {int: "number", float: "number", str: "text"}.get(type(value), "nested")
