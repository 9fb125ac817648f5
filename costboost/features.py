"""Typed columns in, a float64 matrix out; one row is encoded exactly as the same row in a batch.

Columns are known by their names and taken in the order of the names, categories by what they are: neither
the order of the columns nor that of the rows changes the matrix of a row.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.columns import COLUMN_TYPES, TEXTUAL, Columns, ColumnType
from costboost.ensembles.subsets import CODES


@dataclass(frozen=True)
class Cell:
    """One column of the encoded matrix.

    Attributes
    ----------
    source : str
        Name of the column it is made of.
    category : str or None
        The category it marks with 1; None for the other kinds.
    kind : {"value", "category", "other", "missing", "code"}
        "other" marks a category that is not kept apart, "missing" an absent one; "code" is the number of a
        category.
    """

    source: str
    kind: Literal["value", "category", "other", "missing", "code"]
    category: str | None = None


@dataclass(frozen=True)
class _Categories:
    """What training saw in one column of text."""

    kept: tuple[str, ...]
    other: bool
    missing: bool
    #: Cell of each value; any other value marks `elsewhere`. -1: no cell, training saw nothing of the kind.
    place: dict[str | None, int] = field(init=False, compare=False)
    elsewhere: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        place: dict[str | None, int] = {text: i for i, text in enumerate(self.kept)}
        place[None] = self.width - 1 if self.missing else -1
        object.__setattr__(self, "place", place)
        object.__setattr__(self, "elsewhere", len(self.kept) if self.other else -1)

    @classmethod
    def of(cls, values: NDArray[Any], most: int) -> "_Categories":
        counts = Counter(values.tolist())
        absent = counts.pop(None, 0)
        ranked = sorted(counts, key=lambda text: (-counts[text], text))
        return cls(tuple(ranked[:most]), other=len(ranked) > most, missing=absent > 0)

    @property
    def width(self) -> int:
        return len(self.kept) + self.other + self.missing

    def cells(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """(n,) cell that each value marks."""
        marked = map(self.place.get, values.tolist(), repeat(self.elsewhere))
        return np.fromiter(marked, dtype=np.intp, count=len(values))

    def codes(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) code of each value."""
        number: dict[str | None, float] = {text: float(i) for i, text in enumerate(self.kept)}
        found = map((number | {None: math.nan}).get, values.tolist(), repeat(float(len(self.kept))))
        return np.fromiter(found, dtype=np.float64, count=len(values))

    def code(self, text: str | None) -> float:
        """Number of a category, that of all others if it is not kept; NaN if it is missing."""
        return math.nan if text is None else float(self.place.get(text, len(self.kept)))


#: Categories kept per column: how many usually, and at most.
_MOST = {"cells": (64, 10_000), "codes": (CODES - 1, CODES - 1)}


class FeatureEncoder:
    """Typed columns to a float64 matrix: numbers as they are, categories as one cell each.

    A number, boolean or timestamp becomes one matrix column with NaN where it is missing. A category or text
    becomes one 0/1 column for each of its `max_categories` most frequent values (ties by text), one for all
    others and one for missing values; cells that would be constant in training are left out. A category
    that training never saw counts as one of the others and is reported by `unknown`.

    For learners that take categories as they are, a column of them becomes one matrix column of codes
    instead: 0 for the most frequent category, and so on; the last code for all others, NaN for missing ones.

    Parameters
    ----------
    max_categories : int, optional
        Most categories of one column that get a cell or code of their own, at most 254 codes; 64 cells or 254
        codes if left out.
    categories : {"cells", "codes"}, default "cells"

    Examples
    --------
    >>> columns = {"amount": np.array([5.0, np.nan]), "zip": np.array(["01", None], dtype=object)}
    >>> encoder = FeatureEncoder().fit(columns, {"amount": "number", "zip": "category"})
    >>> encoder.transform(columns)
    array([[ 5.,  1.,  0.],
           [nan,  0.,  1.]])
    """

    def __init__(
        self, max_categories: int | None = None, *, categories: Literal["cells", "codes"] = "cells"
    ) -> None:
        if categories not in _MOST:
            raise ValueError("categories must be 'cells' or 'codes'")
        usual, most = _MOST[categories]
        if max_categories is None:
            max_categories = usual
        if not 1 <= max_categories <= most:
            raise ValueError(f"max_categories must be from 1 to {most}")
        self.max_categories, self.categories = max_categories, categories
        self.types: dict[str, ColumnType] = {}
        self._categories: dict[str, _Categories] = {}

    def fit(self, columns: Columns, types: Mapping[str, ColumnType]) -> "FeatureEncoder":
        """Learn the categories of the columns.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            As `typed_columns` makes them; names without a type are not features.
        types : mapping of name to ColumnType
            The features.

        Returns
        -------
        FeatureEncoder
            Itself.

        Raises
        ------
        ValueError
            If there is no feature, or one has no column.
        """
        if not types:
            raise ValueError("at least one feature is needed")
        self.types = {name: types[name] for name in sorted(types)}
        self._categories = {
            name: _Categories.of(_column(columns, name), self.max_categories)
            for name, kind in self.types.items()
            if kind in TEXTUAL
        }
        return self

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What each matrix column holds, in order."""
        return tuple(cell for name in self.types for cell in self._cells_of(name))

    @property
    def sources(self) -> NDArray[np.intp]:
        """For each matrix column the position of its source in `list(types)`."""
        widths = [self._width(name) for name in self.types]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def n_features(self) -> int:
        """Number of matrix columns."""
        return sum(self._width(name) for name in self.types)

    def transform(self, columns: Columns) -> NDArray[np.float64]:
        """Encode rows.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            As `typed_columns` makes them, in any order; others than the features are ignored.

        Returns
        -------
        ndarray of shape (n, n_features), float64
            One column after another in memory.

        Raises
        ------
        ValueError
            If a feature has no column.
        """
        taken = {name: _column(columns, name) for name in self.types}
        n = next(iter(taken.values())).shape[0]
        if n == 1:
            return np.array([self.encode_row({name: values[0] for name, values in taken.items()})])
        # Column by column in memory: that is how columns come, and how scores are added up.
        has_marks = bool(self._categories) and self.categories != "codes"
        matrix, start = (np.zeros if has_marks else np.empty)((self.n_features, n)).T, 0
        for name, values in taken.items():
            known = self._categories.get(name)
            if known is None:
                matrix[:, start] = values
            elif self.categories == "codes":
                matrix[:, start] = known.codes(values)
            else:
                marked = known.cells(values)
                rows = np.flatnonzero(marked >= 0)
                matrix[rows, start + marked[rows]] = 1.0
            start += self._width(name)
        return matrix

    def encode_row(self, row: Mapping[str, Any]) -> list[float]:
        """Encode one row of plain values; equal to `transform` of it."""
        if not self._categories:
            return [float(row[name]) for name in self.types]
        cells: list[float] = []
        for name in self.types:
            known = self._categories.get(name)
            if known is None:
                cells.append(float(row[name]))
                continue
            if self.categories == "codes":
                cells.append(known.code(row[name]))
                continue
            marked = [0.0] * known.width
            cell = known.place.get(row[name], known.elsewhere)
            if cell >= 0:
                marked[cell] = 1.0
            cells += marked
        return cells

    def unknown(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """Rows whose category has no cell or code of its own.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)

        Returns
        -------
        dict of name to ndarray of shape (n,), bool
            Only the columns with such a row.
        """
        masks = {
            name: np.array([text not in known.place for text in _column(columns, name).tolist()])
            for name, known in self._categories.items()
        }
        return {name: mask for name, mask in masks.items() if mask.any()}

    def unknown_of(self, row: Mapping[str, Any]) -> list[str]:
        """The columns of one row of plain values whose category has no cell or code of its own."""
        return [name for name, known in self._categories.items() if row[name] not in known.place]

    def to_state(self) -> dict[str, Any]:
        """The fitted encoder as plain JSON values."""
        coded = {"coded": True} if self.categories == "codes" else {}
        return coded | {
            "max_categories": self.max_categories,
            "types": dict(self.types),
            "categories": {
                name: {"kept": list(known.kept), "other": known.other, "missing": known.missing}
                for name, known in self._categories.items()
            },
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "FeatureEncoder":
        """The encoder that `to_state` described.

        Raises
        ------
        ValueError
            If the state is not one that `to_state` can make.
        """
        coded = _checked(state.get("coded", False), bool)
        encoder = cls(_checked(state["max_categories"], int), categories="codes" if coded else "cells")
        types = _checked(state["types"], dict)
        if not types or list(types) != sorted(types) or not set(types.values()) <= set(COLUMN_TYPES):
            raise ValueError("the column types are not sound")
        encoder.types = dict(types)
        described = _checked(state["categories"], dict)
        if list(described) != [name for name, kind in types.items() if kind in TEXTUAL]:
            raise ValueError("the categories do not match the columns")
        encoder._categories = {
            name: _categories_of(known, encoder.max_categories) for name, known in described.items()
        }
        return encoder

    def _width(self, name: str) -> int:
        known = self._categories.get(name)
        return 1 if known is None or self.categories == "codes" else known.width

    def _cells_of(self, name: str) -> list[Cell]:
        known = self._categories.get(name)
        if known is None:
            return [Cell(name, "value")]
        if self.categories == "codes":
            return [Cell(name, "code")]
        cells = [Cell(name, "category", text) for text in known.kept]
        return cells + [Cell(name, "other")] * known.other + [Cell(name, "missing")] * known.missing


def _column(columns: Columns, name: str) -> NDArray[Any]:
    if name not in columns:
        raise ValueError(f"column {name!r} is missing")
    return columns[name]


def _checked(value: object, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected a {kind.__name__}, got a {type(value).__name__}")
    return value


def _categories_of(described: object, most: int) -> _Categories:
    known = _checked(described, dict)
    kept = _checked(known["kept"], list)
    if len(kept) > most or len(set(kept)) != len(kept) or not all(type(text) is str for text in kept):
        raise ValueError("the categories are not sound")
    return _Categories(
        tuple(kept), other=_checked(known["other"], bool), missing=_checked(known["missing"], bool)
    )
