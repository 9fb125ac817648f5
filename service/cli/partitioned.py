"""Training on a folder of Parquet files, each read where its rows are worked on: in threads, or on a cluster.

Here come: of every row its label, its weight and what its costs are computed from; and whole rows that are
drawn to calibrate and to test on. All others stay where they are read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from costboost.partitioned import OnThreads, Partition, Rows, WorkerLostError, fit_on_dask, fit_partitioned
from costboost.row_order import lots
from service import learning
from service.cli.local import LIMITS, LocalModel, Report, checked, dataset_of, local_model, priced, settled
from service.compute import Compute, connected
from service.domain.datasets import Dataset, InputColumn, IntakeOptions
from service.domain.errors import CostboostError, InvalidError, UnavailableError
from service.domain.training import TrainingSpec
from service.rows import TypedArray, decode_column, decode_table, read_raw, read_table
from service.rows.columns import arrow_kind
from service.rows.media import PARQUET
from service.rows.raw import RawTable
from service.rows.roles import settle_roles

#: Rows that are drawn to calibrate on, and as many to test on, at most or a little more.
KEPT_ROWS = 100_000

Mask: TypeAlias = NDArray[np.bool_]
#: Calls a function for each file, and fits a booster to what the sources read.
Each: TypeAlias = Callable[[Callable[[Path], Any], Sequence[Path]], list[Any]]
Fit: TypeAlias = Callable[[Any, Sequence[Callable[[], Rows]], Any], Any]


def train_folder(
    folder: Path, spec: dict[str, Any], options: dict[str, Any], compute: Compute, report: Report
) -> LocalModel:
    """Train on a folder of Parquet files that this process does not load.

    Parameters
    ----------
    folder : Path
        Whoever works on its rows reads it under the same path.
    spec, options : dict
        As for `train_locally`.
    compute : Compute
    report : callable

    Raises
    ------
    InvalidError
        Files, costs or spec are not what they should be.
    UnavailableError
        The cluster cannot be reached, or its workers died.
    """
    asked, told = checked(TrainingSpec, {**spec, "dataset": "local"}), checked(IntakeOptions, options)
    costs = priced(asked)
    paths, names, rows = _files(folder)
    draw = _draw(asked, told, names, rows)
    report("reading", 0, 1, 0.0, {})
    with _place(compute) as (each, fit):
        try:
            kept = Kept.of(each(partial(keep, draw=draw), paths))
        except ValueError as error:
            raise InvalidError("invalid_data", str(error)) from error
        dataset, columns = _read_kept(folder, kept, told)
        faults = learning.check(asked, dataset, costs) or learning.check_partitioned(asked, dataset)
        if faults:
            raise InvalidError("invalid", "this cannot be trained", faults)

        def fitted(booster: Any, codes: Mapping[str, int]) -> Any:
            reading = Reading(draw, dataset, codes)
            return fit(booster, [partial(reading.read, path) for path in paths], partial(_tell, report))

        trained = learning.fit_partitioned(
            settled(asked),
            dataset,
            costs,
            kept=columns,
            is_test=kept.is_test,
            elsewhere=kept.elsewhere,
            fit=fitted,
        )
    report("calibration", 1, 1, 1.0, {})
    return local_model(trained, dataset, costs)


# What is done where rows are


@dataclass(frozen=True)
class Draw:
    """Which rows are kept: drawn by what they contain, so that it does not matter in which file they are.

    Attributes
    ----------
    test, calibration : float
        Shares of all rows.
    by : str or None
        Column of groups, whose rows stay together; left out: all columns but text.
    label : str
    numbers : tuple of str
        Weight, and what costs are computed from.
    """

    test: float
    calibration: float
    seed: int
    by: str | None
    label: str
    numbers: tuple[str, ...]

    def of(self, raw: RawTable) -> tuple[Mask, Mask]:
        """Rows that are kept, and those of them to test on."""
        kinds = {name: arrow_kind(column.type) for name, column in zip(raw.names, raw.columns, strict=True)}
        read = {name: kind for name, kind in kinds.items() if kind != "text"}
        by: dict[str, Any] = read if self.by is None else {self.by: "category"}
        columns = {name: decode_column(raw, raw.names.index(name), kind)[0] for name, kind in by.items()}
        drawn = lots(columns, raw.rows, self.seed)
        return drawn < self.test + self.calibration, drawn < self.test


@dataclass(frozen=True)
class Kept:
    """What comes here of the files."""

    rows: pa.Table
    is_test: Mask
    elsewhere: dict[str, TypedArray]

    @classmethod
    def of(cls, parts: Sequence["Kept"]) -> "Kept":
        """Put together what comes of each."""
        return cls(
            pa.concat_tables([part.rows for part in parts]),
            np.concatenate([part.is_test for part in parts]),
            {name: np.concatenate([part.elsewhere[name] for part in parts]) for name in parts[0].elsewhere},
        )


def keep(path: Path, draw: Draw) -> Kept:
    """Read of a file what comes to the process that asks."""
    with _named(path):
        raw = _raw(path)
        is_kept, is_test = draw.of(raw)
        table = pa.table(dict(zip(raw.names, raw.columns, strict=True)))
        told = decode_table(raw, [InputColumn(name, "number") for name in draw.numbers])
        told.refuse_faults()
        elsewhere = {draw.label: _labels(raw, draw.label)} | told.columns
        return Kept(
            table.filter(pa.array(is_kept)),
            is_test[is_kept],
            {name: values[~is_kept] for name, values in elsewhere.items()},
        )


@dataclass(frozen=True)
class Reading:
    """How rows are read that a booster is fitted to."""

    draw: Draw
    dataset: Dataset
    codes: Mapping[str, int]

    def read(self, path: Path) -> Rows:
        """Rows of a file that are not kept."""
        features = sorted(column.name for column in self.dataset.columns_of("feature"))
        weight = self.dataset.name_of("weight")
        wanted = {*features} if weight is None else {*features, weight}
        with _named(path):
            raw = _raw(path)
            decoded = decode_table(raw, [one for one in self.dataset.input_columns if one.name in wanted])
            decoded.refuse_faults()
            labels = _labels(raw, self.dataset.label)
        is_kept, _ = self.draw.of(raw)
        return Rows(
            np.column_stack([decoded.columns[name][~is_kept] for name in features]),
            np.array([self.codes[label] for label in labels[~is_kept]], dtype=np.intp),
            sample_weight=None if weight is None else decoded.columns[weight][~is_kept],
        )


def _raw(path: Path) -> RawTable:
    with path.open("rb") as file:
        return read_raw(file, PARQUET, LIMITS)


def _labels(raw: RawTable, label: str) -> TypedArray:
    labels, faults = decode_column(raw, raw.names.index(label), "label")
    holes = sum(one is None for one in labels)
    if faults or holes:
        raise InvalidError("missing_label", f"{holes or len(faults)} rows have no label")
    return labels


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say in which file something is wrong, by an error that travels between processes."""
    try:
        yield
    except CostboostError as error:
        told = [f"{one.column}: {one.detail}" for one in error.errors[:1] if one.column]
        raise ValueError(f"{path}: {told[0] if told else error.detail}") from None


# What is done here


def _files(folder: Path) -> tuple[list[Path], tuple[str, ...], int]:
    """The files of a folder, their columns, and how many rows they have."""
    # What writes in parts may call a folder of them so.
    paths = sorted(path for path in folder.absolute().rglob("*.parquet") if not path.is_dir())
    if not paths:
        raise InvalidError("invalid", f"{folder} has no file that ends in .parquet")
    rows, first = 0, None
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                schema, n = file.schema_arrow, file.metadata.num_rows
        except pa.ArrowException:
            raise InvalidError("invalid_data", f"{path} is no readable Parquet file") from None
        first = first or schema
        if not schema.equals(first):
            raise InvalidError("invalid_data", f"{path} has other columns or types than {paths[0].name}")
        rows += n
    if first is None or not rows:
        raise InvalidError("empty_body", f"the files of {folder} have no rows")
    return paths, tuple(first.names), rows


def _draw(asked: TrainingSpec, told: IntakeOptions, names: tuple[str, ...], rows: int) -> Draw:
    roles = settle_roles(names, told)
    named = {role: name for name, role in roles.items()}
    by = asked.split.column or named.get("group") if asked.split.kind == "group" else None
    needed = set() if asked.costs is None else set(asked.costs.columns)
    if "weight" in named:
        needed.add(named["weight"])
    test = asked.split.test_fraction
    return Draw(
        min(test, KEPT_ROWS / rows),
        min((1.0 - test) / asked.split.folds, KEPT_ROWS / rows),
        asked.seed,
        by if by in names else None,
        named["label"],
        # A name that no column has is told by the check of the costs, with those there are.
        tuple(sorted(needed & set(names))),
    )


def _read_kept(folder: Path, kept: Kept, told: IntakeOptions) -> tuple[Dataset, dict[str, TypedArray]]:
    """The kept rows, read as any table is that is trained on."""
    if not kept.rows.num_rows:
        raise InvalidError("invalid_data", "too few rows to keep some for calibration and test")
    with TemporaryDirectory() as folder_of_kept:
        path = Path(folder_of_kept) / f"{folder.name}.parquet"
        pq.write_table(kept.rows, path)
        try:
            table = read_table(path, PARQUET, told, LIMITS)
        except InvalidError as error:
            raise _without_rows(error) from None
        return dataset_of(path, table), table.columns


def _without_rows(error: InvalidError) -> InvalidError:
    """The same without the numbers of rows: those that are kept are numbered anew, and nobody has them."""
    found = [
        replace(one, pointer="/file") if one.pointer.startswith("/rows/") else one for one in error.errors
    ]
    return InvalidError(error.code, error.detail, tuple(dict.fromkeys(found)))


def _tell(report: Report, number: int, rounds: int, figures: Mapping[str, float]) -> None:
    report("boosting", number, rounds, 0.99 * number / rounds, figures)


@contextmanager
def _place(compute: Compute) -> Iterator[tuple[Each, Fit]]:
    """Where rows are worked on."""
    if compute.url == "local":
        with ThreadPoolExecutor(compute.n_jobs, "costboost-rows") as pool:
            yield lambda call, paths: list(pool.map(call, paths)), partial(_fit_here, pool, compute.n_jobs)
        return
    from distributed.scheduler import KilledWorker

    with connected(compute, direct=True) as client:
        try:
            yield (
                lambda call, paths: client.gather(client.map(call, paths, pure=False)),
                lambda booster, sources, tell: fit_on_dask(booster, sources, client, tell),
            )
        except (KilledWorker, WorkerLostError) as error:
            detail = "workers of the cluster died again and again: their rows may not fit into their memory"
            raise UnavailableError("compute_unavailable", detail) from error


def _fit_here(pool: ThreadPoolExecutor, n: int, booster: Any, sources: Sequence[Any], tell: Any) -> Any:
    shares = [sources[first::n] for first in range(n)]
    partitions = list(pool.map(Partition, filter(None, shares)))
    return fit_partitioned(booster, OnThreads(partitions, pool), tell)
