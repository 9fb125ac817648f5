"""The tables, what mistakes on their rows cost, and the folds."""

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

__all__ = ["CHOOSING", "CONFIRMING", "SETS", "CostSet", "Fold", "is_there", "read_set"]

Costs: TypeAlias = NDArray[np.float64]

#: Cost of a missed positive over that of a false alarm, as multiples of n₋/n₊.
RATIOS = {"ratio": 1.0, "5 × ratio": 5.0}
#: KDD Cup 1999, the official matrix: row: normal, probe, DOS, U2R, R2L in truth; column: as decided.
KDD = [[0, 1, 2, 2, 2], [1, 0, 2, 2, 2], [2, 1, 0, 2, 2], [3, 2, 2, 0, 2], [4, 2, 2, 2, 0]]

#: Where the costs come from: columns of the table, the matrix above, or `RATIOS`.
SETS: dict[str, Literal["columns", "matrix", "ratios"]] = {
    "abalone9_18": "ratios",
    "avila": "ratios",
    "bank_full": "ratios",
    "car_vgood": "ratios",
    "creditcard_fraud": "columns",
    "ecoli4": "ratios",
    "german_credit": "columns",
    "give_me_some_credit": "columns",
    "glass_0_1_6_vs_2": "ratios",
    "heart_statlog": "columns",
    "kddcup99_5class": "matrix",
    "kr_vs_k_zero_one_vs_draw": "ratios",
    "page_blocks0": "ratios",
    "pima": "ratios",
    "segment0": "ratios",
    "vehicle0": "ratios",
    "vowel0": "ratios",
    "yeast1": "ratios",
    "yeast_2_vs_4": "ratios",
}
#: Every other name of the alphabet, fixed before anything was measured here: the default algorithm may be
#: changed by what is seen on the former, and is judged on the latter.
CHOOSING, CONFIRMING = tuple(sorted(SETS))[::2], tuple(sorted(SETS))[1::2]

FOLDS = 5
#: Of the rows that are drawn from a long table.
_SAMPLE_SEED = 0


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to decide on.

    Attributes
    ----------
    train, test : DataFrame
        Features; categories as such, those of the rows to learn from.
    y, y_test : ndarray of int
        Of two classes 1 is the rarer.
    costs, costs_test : dict of variant to ndarray of shape (n, K, K)
        Cost of deciding column c on a row that is of class k.
    test_rows : ndarray of int
        Where the rows to decide on stand in the set.
    seed : int
    """

    train: pd.DataFrame
    test: pd.DataFrame
    y: NDArray[np.intp]
    y_test: NDArray[np.intp]
    costs: dict[str, Costs]
    costs_test: dict[str, Costs]
    test_rows: NDArray[np.intp]
    seed: int

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(next(iter(self.costs.values())).shape[1])

    @property
    def categories(self) -> list[str]:
        """Columns of categories."""
        return [name for name in self.train if isinstance(self.train[name].dtype, pd.CategoricalDtype)]


@dataclass(frozen=True, eq=False)
class CostSet:
    """A table with its costs.

    Attributes
    ----------
    name : str
    features : DataFrame
        Numbers as float64, categories as text or None.
    categories : list of str
    y : ndarray of shape (n,), int
    costs : dict of variant to ndarray of shape (n, K, K)
    fingerprint : str
        Of the file and the rows drawn from it.
    """

    name: str
    features: pd.DataFrame
    categories: list[str]
    y: NDArray[np.intp]
    costs: dict[str, Costs]
    fingerprint: str

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(next(iter(self.costs.values())).shape[1])

    def folds(self, seed: int) -> Iterator[Fold]:
        """Stratified folds, others for each seed."""
        parts = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(self.features, self.y)
        for train, test in parts:
            known, asked = self.features.iloc[train].copy(), self.features.iloc[test].copy()
            for name in self.categories:
                kind = pd.CategoricalDtype(sorted(known[name].dropna().unique()))
                known[name], asked[name] = (
                    known[name].astype(kind),
                    asked[name].where(asked[name].isin(kind.categories)).astype(kind),
                )
            yield Fold(
                known,
                asked,
                self.y[train],
                self.y[test],
                {variant: costs[train] for variant, costs in self.costs.items()},
                {variant: costs[test] for variant, costs in self.costs.items()},
                test,
                seed,
            )


def is_there(folder: Path, name: str) -> bool:
    """Whether the folder holds the set and what it says of it."""
    noted = json.loads((folder / "datasets.json").read_text()) if (folder / "datasets.json").exists() else {}
    return name in noted and (folder / f"{name}.csv.gz").exists()


@cache
def read_set(folder: Path, name: str, most: int) -> CostSet:
    """Read NAME.csv.gz; of a longer table a stratified sample of `most` rows."""
    notes = json.loads((folder / "datasets.json").read_text())[name]
    path = folder / f"{name}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    raw = dict(zip(header, zip(*rows, strict=True), strict=True))
    y = np.array(raw["label"], dtype=np.intp)
    kept = np.arange(len(y))
    if len(y) > most:
        kept, _ = train_test_split(kept, train_size=most, stratify=y, random_state=_SAMPLE_SEED)
        kept = np.sort(kept)
    columns: dict[str, Any] = {column: np.array(raw[column]) for column in header}
    numbers = {column: _numbers(columns[column][kept]) for column in notes["numeric"]}
    texts = {column: _texts(columns[column][kept]) for column in notes["categorical"]}
    features = pd.DataFrame(numbers | texts)
    costs = _costs(SETS[name], {c: columns[c][kept] for c in notes["cost_columns"]}, y[kept])
    made = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return CostSet(name, features, notes["categorical"], y[kept], costs, f"{made}:{len(kept)}")


def _numbers(cells: NDArray[np.str_]) -> NDArray[np.float64]:
    return np.where(cells == "", "nan", cells).astype(np.float64)


def _texts(cells: NDArray[np.str_]) -> NDArray[Any]:
    return np.array([cell or None for cell in cells.tolist()], dtype=object)


def _costs(source: str, given: dict[str, NDArray[np.str_]], y: NDArray[np.intp]) -> dict[str, Costs]:
    if source == "columns":
        each = [given[column].astype(np.float64) for column in ("cost_tn", "cost_fp", "cost_fn", "cost_tp")]
        return {"own": np.stack(each, axis=1).reshape(-1, 2, 2)}
    if source == "matrix":
        return {"own": np.broadcast_to(np.array(KDD, dtype=np.float64), (len(y), 5, 5))}
    ratio = float((y == 0).sum() / (y == 1).sum())
    tables = {variant: [[0.0, 1.0], [factor * ratio, 0.0]] for variant, factor in RATIOS.items()}
    return {variant: np.broadcast_to(np.array(table), (len(y), 2, 2)) for variant, table in tables.items()}
