"""What is odd about a column that is taken in all the same: perhaps it is not what its owner thinks."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

from service.domain.datasets import ColumnRole, IntakeOptions
from service.domain.errors import listed
from service.rows.cells import MISSING_MARKS, Kind, is_number
from service.rows.columns import TypedArray
from service.rows.inference import odd_cells
from service.rows.raw import RawTable

#: A text column with more values than this, of which nearly all differ, names rows.
_ID_ROWS, _ID_SHARE = 50, 0.9
_SHOWN_LINES = 5
#: Cells that are looked at for amounts, and the share of them that must be some.
_LOOKED_AT, _MOST = 1000, 0.9
_SIGN: Final = r"(?:[€$£¥₹%]|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN)"
_GROUPED: Final = r"[+-]?(?:\d{1,3}(?:[ .,'\u00a0]\d{3})+|\d+)(?:[.,]\d+)?"
_COMMA: Final = r"[+-]?[\d. ]*\d,\d+|[+-]?\d{1,3}(?:,\d{3})+\.\d+"
#: A number with a sign of money or percent, or with a comma: to a person an amount, to a program a word.
_AMOUNT: Final = re.compile(rf"{_SIGN}\s*{_GROUPED}|{_GROUPED}\s*{_SIGN}|{_COMMA}", re.ASCII)


def odd_numbers(raw: RawTable, index: int, kind: Kind, options: IntakeOptions) -> str | None:
    """Say which cells make a category of what is mostly numbers; None where nothing does."""
    if raw.kind != "text" or kind != "category" or raw.names[index] in options.types:
        return None
    rows = odd_cells(raw.columns[index])
    if not rows:
        return None
    lines = [str(row + 2 if raw.lines is None else raw.lines[row]) for row in rows[:_SHOWN_LINES]]
    more = ", ..." if len(rows) > _SHOWN_LINES else ""
    return (
        f"most cells are numbers, but {len(rows)} are not (line {', '.join(lines)}{more}), so it is taken as "
        "a category: leave these cells empty, or declare its type"
    )


def amounts(raw: RawTable, index: int, kind: Kind, options: IntakeOptions) -> str | None:
    """Say how amounts are written, where a column of words holds some as people write them."""
    if raw.kind != "text" or kind not in ("category", "text") or raw.names[index] in options.types:
        return None
    column = raw.columns[index]
    if not isinstance(column, pa.ChunkedArray):
        return None
    cells = [cell.strip() for cell in column.slice(0, _LOOKED_AT).to_pylist() if cell is not None]
    given = [cell for cell in cells if cell.lower() not in MISSING_MARKS]
    found = sum(_AMOUNT.fullmatch(cell) is not None for cell in given)
    numbers = sum(map(is_number, given))
    if not found or found + numbers < _MOST * len(given):
        return None
    return (
        "its cells look like amounts with a sign of money, a percent sign or a comma: they are words and no "
        "numbers: write the number alone and with a point, such as 54.67 or 1234.5"
    )


def similar_classes(classes: Iterable[str]) -> str | None:
    """Say which classes differ in letter case or spaces alone; None where none do."""
    alike = defaultdict[str, list[str]](list)
    for label in classes:
        alike["".join(label.split()).casefold()].append(label)
    found = [listed(labels) for labels in alike.values() if len(labels) > 1]
    if not found:
        return None
    return (
        f"some classes differ in letter case or spaces alone ({'; '.join(found)}): are they different ones?"
    )


def looks_like_id(name: str, kind: Kind, column: TypedArray, options: IntakeOptions) -> bool:
    """Tell whether nearly every value of an undeclared text column is different."""
    if kind not in ("category", "text") or name in options.roles:
        return False
    given = [value for value in column if value is not None]
    return len(given) > _ID_ROWS and len(set(given)) > _ID_SHARE * len(given)


def set_ids_aside(
    roles: dict[str, ColumnRole],
    kinds: Mapping[str, Kind],
    columns: Mapping[str, TypedArray],
    options: IntakeOptions,
) -> dict[str, str]:
    """Take columns that look like ids out of the features, and say so for each."""
    told = dict[str, str]()
    for name, role in roles.items():
        if role == "feature" and looks_like_id(name, kinds[name], columns[name], options):
            roles[name] = "ignore" if "id" in roles.values() else "id"
            told[name] = (
                f"nearly every value is different, so its role is {roles[name]} and nothing is learnt from "
                "it; give it the role feature if it is one"
            )
    return told
