"""What Costboost wants to reach, each against a figure of the same run."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal

from .results import OURS, Table, ratio


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    table: str
    case: str
    method: str = OURS

    def samples(self, tables: Mapping[str, Table]) -> list[float]:
        """Its samples; none if it was not measured."""
        return tables[self.table].samples(self.case, self.method) if self.table in tables else []


@dataclass(frozen=True)
class Target:
    """A bound on a number, or on how many times one cell is another.

    Parameters
    ----------
    says : str
        What is compared, in words.
    over : Cell
    under : Cell or None
        None: the bound is on `over` itself.
    sense : {"at least", "at most"}
    bound : float
    """

    says: str
    over: Cell
    under: Cell | None
    sense: Literal["at least", "at most"]
    bound: float

    def value(self, tables: Mapping[str, Table]) -> float | None:
        """The number to compare with the bound; None if it was not measured."""
        over = self.over.samples(tables)
        if self.under is None:
            return median(over) if over else None
        under = self.under.samples(tables)
        return ratio(over, under) if over and under else None

    def is_reached(self, value: float) -> bool:
        """Whether a value keeps the bound."""
        return value >= self.bound if self.sense == "at least" else value <= self.bound


def _faster(says: str, table: str, case: str, peer: str, bound: float, *, ours: str = OURS) -> Target:
    return Target(
        f"{says}: times faster", Cell(table, case, peer), Cell(table, case, ours), "at least", bound
    )


def _share(says: str, table: str, case: str, peer: str, bound: float, *, ours: str = OURS) -> Target:
    return Target(says, Cell(table, case, ours), Cell(table, case, peer), "at most", bound)


def _most(says: str, table: str, case: str, bound: float, method: str = OURS) -> Target:
    return Target(says, Cell(table, case, method), None, "at most", bound)


_FASTAPI = "FastAPI + pydantic + scikit-learn"
_SKLEARN = "scikit-learn AdaBoost"
_HISTGB = "scikit-learn HistGB"

TARGETS: tuple[Target, ...] = (
    _faster("Stumps, 10k × 16, than scikit-learn AdaBoost", "fit", "10k × 16, stumps", _SKLEARN, 80),
    _faster(
        "One round of stumps, 100k × 30, than scikit-learn AdaBoost",
        "round",
        "100k × 30, stumps",
        _SKLEARN,
        150,
    ),
    _faster("Stumps, 100k × 30, than LightGBM", "fit", "100k × 30, stumps", "LightGBM", 3),
    _faster("Stumps, 1M × 30, than LightGBM", "large", "1M × 30, stumps", "LightGBM", 3),
    _faster("Stumps, 100k × 30, than XGBoost", "fit", "100k × 30, stumps", "XGBoost", 3),
    _faster("Stumps, 1M × 30, than XGBoost", "large", "1M × 30, stumps", "XGBoost", 3),
    _faster("Stumps, 100k × 30, than HistGB", "fit", "100k × 30, stumps", _HISTGB, 2.5),
    _faster("Stumps, 1M × 30, than HistGB", "large", "1M × 30, stumps", _HISTGB, 2.5),
    _faster("Depth 3, 1M × 30, than LightGBM", "large", "1M × 30, depth 3", "LightGBM", 2),
    _faster(
        "AdaCost, 10k × 16, than imbalanced-ensemble",
        "adacost",
        "10k × 16, stumps",
        "imbalanced-ensemble AdaCost",
        60,
    ),
    Target(
        "A round where 90 % of the rows share a bin, over a uniform one",
        Cell("skewed", "90 % in one bin"),
        Cell("skewed", "uniform"),
        "at most",
        1.2,
    ),
    Target(
        "Categories and missing values, over numbers alone",
        Cell("mixed", "24 columns, 8 of categories, 5 % missing"),
        Cell("mixed", "24 columns of numbers"),
        "at most",
        1.5,
    ),
    _most("Peak memory of stumps, 1M × 30, over the float32 matrix", "memory", "1M × 30, stumps", 0.5),
    _share("Peak memory of stumps, 1M × 30, over LightGBM's", "memory", "1M × 30, stumps", "LightGBM", 0.5),
    _most("10 times the rows: times the CPU", "growth", "10 times the rows", 12),
    _most("4 times the columns: times the CPU", "growth", "4 times the columns", 4.6),
    _most("10 times the rounds: times the CPU", "growth", "10 times the rounds", 10.5),
    _most(
        "10 times the rounds, without binning: times the CPU",
        "growth",
        "10 times the rounds, without binning",
        10.5,
    ),
    _most(
        "First fit, stumps, nothing compiled: s of CPU",
        "start",
        "first fit, stumps, nothing compiled yet",
        10,
    ),
    _most(
        "First fits of stumps and then of trees, nothing compiled: s of CPU",
        "start",
        "first fit, stumps and trees, nothing compiled yet",
        10,
    ),
    _most(
        "First fits, compiled before, beyond imports: s of CPU",
        "start",
        "first fit, stumps and trees, compiled before",
        0.6,
    ),
    _most(
        "Scoring a row loads none of numba, scikit-learn, scipy, pandas",
        "loaded",
        "numba, scikit-learn, scipy, pandas",
        0,
    ),
    _share("A linear SVM, over LinearSVC at the same gap", "svm", "gap 1e-3", "scikit-learn LinearSVC", 0.5),
    _most("Two fits on two cores, wall over one alone", "cores", "wall of two at once", 1.15),
    _faster(
        "One row, 100 stumps, than scikit-learn AdaBoost", "scoring", "100 stumps, 1 row", _SKLEARN, 1000
    ),
    _faster("One row, 100 stumps, than LightGBM", "scoring", "100 stumps, 1 row", "LightGBM", 5),
    _faster("One row, 100 stumps, than onnxruntime", "scoring", "100 stumps, 1 row", "onnxruntime", 2),
    _faster("1M rows, 100 stumps, than LightGBM", "scoring", "100 stumps, 1M rows", "LightGBM", 15),
    _faster("1M rows, 500 stumps, than LightGBM", "scoring", "500 stumps, 1M rows", "LightGBM", 60),
    Target(
        "1M rows: 500 stumps over 100 stumps",
        Cell("scoring", "500 stumps, 1M rows"),
        Cell("scoring", "100 stumps, 1M rows"),
        "at most",
        2,
    ),
    _faster(
        "100k rows, 300 trees of depth 3, than LightGBM",
        "scoring",
        "300 trees of depth 3, 100k rows",
        "LightGBM",
        4,
    ),
    _faster(
        "100k rows, 300 trees of depth 3, than onnxruntime",
        "scoring",
        "300 trees of depth 3, 100k rows",
        "onnxruntime",
        2.5,
    ),
    _share("One row over HTTP: CPU over MLServer's", "http-cpu", "1 connection", "MLServer", 1 / 3),
    _share("One row over HTTP: p50 over MLServer's", "http-time", "1 connection, p50", "MLServer", 1 / 3),
    _share("One row over HTTP: CPU over MLflow's", "http-cpu", "1 connection", "MLflow", 1 / 10),
    _faster(
        "One row, 16 connections: answers per second, than MLServer",
        "http-rate",
        "16 connections",
        "MLServer",
        5,
    ),
    _faster("10k rows of JSON, than FastAPI with pydantic", "bodies", "10k rows × 30", _FASTAPI, 4),
    _faster("10k rows of CSV, than that JSON", "bodies", "10k rows × 30", _FASTAPI, 8, ours=f"{OURS} CSV"),
    _faster(
        "10k rows of Arrow, than that JSON", "bodies", "10k rows × 30", _FASTAPI, 50, ours=f"{OURS} Arrow"
    ),
    _most("Single rows while batches run: p99, ms", "beside", "beside batches, p99", 10),
    _faster(
        "Single rows while batches run: p99, than batches on the event loop",
        "beside",
        "beside batches, p99",
        _FASTAPI,
        10,
    ),
    _share("Reading a numeric CSV: CPU over polars'", "csv", "read", "polars, float32 schema", 1),
    _most("Reading a numeric CSV: peak over the float32 matrix", "csv-memory", "read", 1.5),
    _most("An upload: MiB beyond rest", "upload-memory", "upload", 16),
    _share("An upload: CPU over UploadFile's", "upload", "upload", "FastAPI UploadFile", 1.2),
)
