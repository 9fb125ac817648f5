"""The sets as they lie in the data folder, and their folds."""

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.columns import ColumnType
from costboost.features import FeatureEncoder
from costboost.splits import Split, folds

__all__ = ["Table", "is_there", "read_table"]

FOLDS, SEED = 5, 0


@dataclass(frozen=True)
class Table:
    """A set of two classes.

    Parameters
    ----------
    columns : dict of name to ndarray of shape (n,)
    types : dict of name to ColumnType
    y : ndarray of shape (n,), int
        1 is the minority.
    parts : list of (train, test) row indices
    published_folds : bool
        Whether the folds lay in the folder.
    fingerprint : str
        Of the file and its folds.
    """

    columns: dict[str, NDArray[Any]]
    types: dict[str, ColumnType]
    y: NDArray[np.intp]
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    published_folds: bool
    fingerprint: str

    def matrices(self, fold: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows to train on and to test, one-hot cells learned from the former alone."""
        train, test = (
            {name: values[rows] for name, values in self.columns.items()} for rows in self.parts[fold]
        )
        encoder = FeatureEncoder().fit(train, self.types)
        return encoder.transform(train), encoder.transform(test)


def is_there(folder: Path, name: str) -> bool:
    """Whether the folder holds the set and what it says of it."""
    noted = json.loads((folder / "datasets.json").read_text()) if (folder / "datasets.json").exists() else {}
    return name in noted and (folder / f"{name}.csv.gz").exists()


@lru_cache(maxsize=2)
def read_table(folder: Path, name: str) -> Table:
    """Read NAME.csv.gz, with its folds from folds/NAME.folds.csv.gz, else seeded stratified ones."""
    notes = json.loads((folder / "datasets.json").read_text())[name]
    kinds: dict[str, ColumnType] = dict.fromkeys(notes["numeric"], "number")
    kinds |= dict.fromkeys(notes["categorical"], "category")
    path = folder / f"{name}.csv.gz"
    raw = _columns(path)
    y = np.array(raw["label"], dtype=np.intp)
    file = folder / "folds" / f"{name}.folds.csv.gz"
    numbers = np.array(_columns(file)["fold"], dtype=np.intp) if file.exists() else None
    columns = {column: _typed(raw[column], kind) for column, kind in kinds.items()}
    sources = [path, file] if file.exists() else [path]
    fingerprint = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    return Table(columns, kinds, y, list(_parts(y, numbers)), numbers is not None, fingerprint)


def _columns(path: Path) -> dict[str, tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def _typed(values: tuple[str, ...], kind: ColumnType) -> NDArray[Any]:
    if kind == "category":
        return np.array([value or None for value in values], dtype=object)
    return np.array([float(value) if value else np.nan for value in values])


def _parts(
    y: NDArray[np.intp], numbers: NDArray[np.intp] | None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if numbers is None:
        yield from folds(Split(folds=FOLDS), y, seed=SEED)
        return
    for number in np.unique(numbers):
        yield np.flatnonzero(numbers != number), np.flatnonzero(numbers == number)
