"""What in a table may let a model learn the answer, not the question: leaks, ids, twins that disagree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import Column
from service.rows.columns import TypedArray, is_textual
from service.rows.intake import missing

#: A class with fewer rows is told apart by chance.
_FEW: Final = 10
#: So many of a class, or of its pairs with the others, are on its side.
_NEARLY_ALL: Final = 0.999
#: Rows of a category, on average, below which categories name rows.
_ROWS_OF_CATEGORY: Final = 5
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Suspicion:
    """Something that is allowed, but perhaps not meant; `column` is None where it is about rows."""

    code: str
    column: str | None
    detail: str


def suspicions(
    columns: Mapping[str, TypedArray], described: Sequence[Column], label: str, classes: Sequence[str]
) -> list[Suspicion]:
    """Look at every feature alone, and at rows that are alike in all of them.

    Returns
    -------
    list of Suspicion
        `separates_classes`, `missing_tells_class`, `names_rows`, `constant`, `duplicates_disagree`,
        `duplicates`.
    """
    place = {name: code for code, name in enumerate(classes)}
    y = np.array([place[text] for text in columns[label].tolist()], dtype=np.intp)
    features = [column for column in described if column.role == "feature"]
    found = [one for column in features for one in _of_column(column, columns[column.name], y, classes)]
    return [*found, *_of_rows([columns[column.name] for column in features], y)]


def _of_column(
    column: Column, values: TypedArray, y: NDArray[np.intp], classes: Sequence[str]
) -> Iterator[Suspicion]:
    holes = missing(values)
    if column.distinct + (column.missing > 0) < 2:
        yield Suspicion("constant", column.name, "holds one value only, so nothing can be learnt from it")
        return
    for code, name in enumerate(classes):
        if _hides(holes, y == code):
            detail = (
                f"is missing in the rows of class {name} and nearly nowhere else: was it filled in later?"
            )
            yield Suspicion("missing_tells_class", column.name, detail)
    if _names_rows(column, values[~holes]):
        detail = "grows by one from row to row or differs in each: a row's number or id tells nothing new"
        yield Suspicion("names_rows", column.name, detail)
    elif (told := _separated(column, values[~holes], y[~holes], classes)) is not None:
        detail = f"alone tells class {told} from the rest: is it known before the decision?"
        yield Suspicion("separates_classes", column.name, detail)


def _hides(holes: NDArray[np.bool_], own: NDArray[np.bool_]) -> bool:
    if own.sum() < _FEW or (~own).sum() < _FEW:
        return False
    return bool(holes[own].mean() >= _NEARLY_ALL and holes[~own].mean() <= 1.0 - _NEARLY_ALL)


def _names_rows(column: Column, given: TypedArray) -> bool:
    if len(given) < 50:
        return False
    if is_textual(column.type):
        return column.distinct > 0.9 * len(given)
    if column.type != "number" or column.distinct < len(given):
        return False
    steps = np.diff(given)
    return bool((steps == 1).all() or (steps == -1).all())


def _separated(column: Column, given: TypedArray, y: NDArray[np.intp], classes: Sequence[str]) -> str | None:
    """Name of a class that the column alone tells from the rest."""
    for code, name in enumerate(classes):
        own = y == code
        if min(own.sum(), (~own).sum()) < _FEW:
            continue
        share = _purity(given, own) if is_textual(column.type) else _order(given, own)
        if share >= _NEARLY_ALL:
            return name
    return None


def _purity(given: TypedArray, own: NDArray[np.bool_]) -> float:
    """Share of the smaller side that categories put on its side; 0 where there are too many of them."""
    codes = _codes(given)
    rows = np.bincount(codes)
    if len(rows) * _ROWS_OF_CATEGORY > len(given):
        return 0.0
    inside = np.bincount(codes, own)
    wrong = float(np.minimum(inside, rows - inside).sum())
    return 1.0 - wrong / min(float(own.sum()), float((~own).sum()))


def _order(given: TypedArray, own: NDArray[np.bool_]) -> float:
    """Probability that rows of the two sides are in their order, ties counting half; either direction."""
    codes = np.unique(given, return_inverse=True)[1]
    inside, outside = np.bincount(codes, own), np.bincount(codes, ~own)
    below = np.cumsum(outside) - outside
    area = float((inside * (below + 0.5 * outside)).sum() / (inside.sum() * outside.sum()))
    return max(area, 1.0 - area)


def _of_rows(features: Sequence[TypedArray], y: NDArray[np.intp]) -> Iterator[Suspicion]:
    key = np.full(len(y), _GOLDEN)
    for values in features:
        key = _mixed(key ^ _codes(values).astype(np.uint64))
    _, group, rows = np.unique(key, return_inverse=True, return_counts=True)
    pairs = np.unique(group * (int(y.max()) + 1) + y)
    kinds = np.bincount(pairs // (int(y.max()) + 1), minlength=len(rows))
    disagree = int(rows[kinds > 1].sum())
    if disagree:
        detail = f"{disagree} rows have twins of another class, alike in all features: none can decide both"
        yield Suspicion("duplicates_disagree", None, detail)
    if repeated := len(y) - len(pairs):
        told = "1 row is" if repeated == 1 else f"{repeated} rows are"
        detail = f"{told} repeated, label and all: copies in the test part make it look good"
        yield Suspicion("duplicates", None, detail)


def _codes(values: TypedArray) -> NDArray[np.intp]:
    """A number for each distinct value; missing ones have one of their own."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1]
    place: dict[Any, int] = {}
    return np.array([place.setdefault(value, len(place)) for value in values.tolist()], dtype=np.intp)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits (the finaliser of splitmix64: Steele, Lea & Flood 2014)."""
    bits = (bits + _GOLDEN) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
