"""How the rows of a job are divided into training, validation and test parts, and a rehearsal of it.

The rehearsal needs the labels and, by the kind of the split, one more column: what cannot be divided is told
before the job is queued.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from costboost.splits import Split, SplitKind, folds, holdout
from service.domain.datasets import Column, Dataset
from service.domain.errors import FieldError
from service.domain.training import SplitSpec, TrainingSpec

Rows = NDArray[np.intp]

#: Weights whose sums, times costs, neither overflow nor vanish.
_WEIGHTS: Final = (1e-12, 1e12)
#: What the library calls the column that each kind of split needs.
_NAMES: Final = {"group": "groups", "time": "times", "predefined": "parts"}


@dataclass(frozen=True)
class Division:
    """How many rows each part has.

    Attributes
    ----------
    folds : int
        May be fewer than were asked for, when a class has fewer rows, groups or times.
    """

    train_rows: int
    test_rows: int
    folds: int


@dataclass(frozen=True)
class _Rehearsed:
    train: Rows
    test: Rows
    parts: list[tuple[Rows, Rows]]


def split_of(spec: TrainingSpec) -> Split:
    """The split of a job as the library has it."""
    given = spec.split
    return Split(kind=given.kind, test_fraction=given.test_fraction, folds=given.folds)


def split_column(spec: TrainingSpec, dataset: Dataset) -> str | None:
    """Column that the split uses: the one it names, else the one of the role group or time."""
    kind = spec.split.kind
    if spec.split.column is not None or kind not in ("group", "time"):
        return spec.split.column
    return dataset.name_of("group" if kind == "group" else "time")


def split_arrays(kind: SplitKind, values: NDArray[Any] | None) -> dict[str, Any]:
    """The column of the split under the name that the library gives it; a stratified one has none."""
    return {_NAMES[kind]: values} if kind in _NAMES else {}


def division_columns(spec: TrainingSpec, dataset: Dataset) -> list[Column]:
    """Columns that :func:`rehearse` reads; none where the counts of the classes say enough."""
    wanted = {split_column(spec, dataset), dataset.name_of("weight")} - {None}
    return [one for one in dataset.columns if one.name in wanted | {dataset.label}] if wanted else []


def rehearse(
    spec: TrainingSpec, dataset: Dataset, columns: Mapping[str, NDArray[Any]]
) -> tuple[Division | None, list[FieldError]]:
    """Divide the rows as the job will.

    Parameters
    ----------
    spec : TrainingSpec
        Its columns exist, as `check` has found.
    dataset : Dataset
    columns : mapping of name to ndarray of shape (rows,)
        At least those of `division_columns`.

    Returns
    -------
    division : Division or None
        None when there are faults.
    faults : list of FieldError
    """
    by, weight = split_column(spec, dataset), dataset.name_of("weight")
    y = _codes(dataset, columns)
    values = None if by is None else columns[by]
    heavy = np.ones(len(y), dtype=np.bool_) if weight is None else columns[weight] > 0
    faults = list(_weightless(dataset, y[heavy]))
    if weight is not None and not faults:
        faults = list(_odd_weights(weight, columns[weight][heavy]))
    if faults:
        return None, faults
    try:
        found = _divided(spec, y, values)
    except ValueError as error:
        return None, [_blamed(spec, y, values, str(error))]
    faults = [*_unvalidated(spec, dataset, y, found), *_too_few_to_stop(spec, y, values, found)]
    return (None, faults) if faults else (_counted(found), [])


def _codes(dataset: Dataset, columns: Mapping[str, NDArray[Any]]) -> Rows:
    """Class of each row: the positive one of two is 1, more are ranked by size, as in training."""
    counts = dataset.class_counts
    positive = dataset.positive_class
    ranked = sorted(counts, key=lambda name: (name == positive, counts[name] if positive is None else 0))
    if dataset.label not in columns:
        return np.repeat(np.arange(len(ranked)), [counts[name] for name in ranked])
    place = {name: code for code, name in enumerate(ranked)}
    return np.array([place[label] for label in columns[dataset.label]], dtype=np.intp)


def _divided(spec: TrainingSpec, y: Rows, values: NDArray[Any] | None) -> _Rehearsed:
    split, side = split_of(spec), split_arrays(spec.split.kind, values)
    train, test = holdout(split, y, seed=spec.seed, **side)
    ours = {name: column[train] for name, column in side.items()}
    parts = folds(split, y[train], **ours)
    return _Rehearsed(train, test, parts)


def _counted(found: _Rehearsed) -> Division:
    return Division(len(found.train), len(found.test), len(found.parts))


def _blamed(spec: TrainingSpec, y: Rows, values: NDArray[Any] | None, detail: str) -> FieldError:
    """Point at the share of the test part when another one would do, else at what divides the rows."""
    if spec.split.kind != "predefined":
        usual = spec.split.model_copy(update={"test_fraction": SplitSpec().test_fraction})
        try:
            _divided(spec.model_copy(update={"split": usual}), y, values)
        except ValueError:
            pass
        else:
            detail = f"with a test part of this share, {detail}"
            return FieldError("/split/test_fraction", "cannot_split", detail)
    at = "/dataset" if spec.split.kind == "stratified" else "/split/column"
    return FieldError(at, "cannot_split", detail)


def _weightless(dataset: Dataset, heavy: Rows) -> Iterator[FieldError]:
    if len(np.unique(heavy)) < len(dataset.classes):
        detail = "each class needs rows with a weight above 0"
        yield FieldError("/dataset", "no_weight", detail, column=dataset.name_of("weight"))


def _odd_weights(name: str, weights: NDArray[np.float64]) -> Iterator[FieldError]:
    low, high = _WEIGHTS
    if not (low <= weights.min() and weights.max() <= high):
        detail = f"weights are 0 or lie between {low:g} and {high:g}: their sums must be numbers"
        yield FieldError("/dataset", "weight_out_of_range", detail, column=name)


def _unvalidated(spec: TrainingSpec, dataset: Dataset, y: Rows, found: _Rehearsed) -> Iterator[FieldError]:
    judged = np.concatenate([valid for _, valid in found.parts])
    if len(np.unique(y[found.train][judged])) < len(dataset.classes):
        detail = "a class has no rows among those that are validated, so nothing can be calibrated on it"
        at = "/split/column" if spec.split.kind != "stratified" else "/split"
        yield FieldError(at, "cannot_split", detail)


def _too_few_to_stop(
    spec: TrainingSpec, y: Rows, values: NDArray[Any] | None, found: _Rehearsed
) -> Iterator[FieldError]:
    """Early stopping sets rows aside in the training part of every fold."""
    if spec.params.get("early_stopping") is None:
        return
    kind = spec.split.kind if spec.split.kind in ("group", "time") else "stratified"
    share = spec.params.get("validation_fraction", 0.1)
    assert isinstance(share, int | float)
    for rows in [found.train[part] for part, _ in found.parts] + [found.train]:
        side = {} if values is None else split_arrays(kind, values[rows])
        try:
            _, aside = holdout(Split(kind, test_fraction=share), y[rows], seed=spec.seed, **side)
            if len(np.unique(y[rows][aside])) < len(np.unique(y)):
                raise ValueError("the rows to set aside lack a class")
        except ValueError as error:
            detail = f"too few rows to set some aside in each fold: {error}"
            yield FieldError("/params/early_stopping", "cannot_split", detail)
            return
