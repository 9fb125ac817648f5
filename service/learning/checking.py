"""Whether a training job can succeed, asked before it is queued: every fault with its pointer."""

from collections.abc import Iterator

from service.domain.datasets import Column, Dataset
from service.domain.errors import FieldError, InvalidError, pointer
from service.domain.nearest import listed_for
from service.domain.training import TrainingSpec
from service.learning.algorithms import algorithms, check_params, find
from service.learning.division import split_column
from service.learning.pricing import AnyCosts, cost_spec
from service.learning.searching import check_search

#: One row to test on and one for each of two folds.
_MIN_ROWS_OF_A_CLASS = 3


def check(spec: TrainingSpec, dataset: Dataset, costs: AnyCosts) -> list[FieldError]:
    """List what would make the job fail.

    Parameters
    ----------
    spec : TrainingSpec
    dataset : Dataset
    costs : BinaryCosts, MatrixCosts or ActionCosts
        Those of the spec, or of the cost spec that it names.

    Returns
    -------
    list of FieldError
        Empty when the job can be queued.
    """
    return [
        *_check_algorithm(spec, dataset),
        *_check_costs(spec, dataset, costs),
        *_check_split(spec, dataset),
        *_check_rule(spec),
        *_check_classes(spec, dataset),
    ]


def _check_algorithm(spec: TrainingSpec, dataset: Dataset) -> Iterator[FieldError]:
    found = find(spec.algorithm)
    if found is None:
        known = listed_for(spec.algorithm, (one.name for one in algorithms()))
        detail = f"there is no algorithm of this name; there are {known}"
        yield FieldError("/algorithm", "unknown_algorithm", detail)
        return
    yield from check_params(spec.algorithm, spec.params)
    yield from check_search(spec)
    if len(dataset.classes) > 2 and "multiclass" not in found.tasks:
        yield FieldError("/algorithm", "not_binary", "this algorithm is for two classes")


def check_costs(costs: AnyCosts, dataset: Dataset, at: str = "") -> list[FieldError]:
    """List why the rows of a dataset cannot be priced; `at` is the pointer of the costs."""
    faults = list[FieldError]()
    try:
        cost_spec(costs, dataset.classes, dataset.positive_class, at=at)
    except InvalidError as error:
        faults.extend(error.errors)
    columns = {column.name: column for column in dataset.columns}
    for name in costs.columns:
        code, detail = _column_fault(columns.get(name), listed_for(name, columns)) or ("", "")
        for place in costs.places(name) if code else ():
            faults.append(FieldError(at + pointer(*place), code, detail, column=name))
    return faults


def _check_costs(spec: TrainingSpec, dataset: Dataset, costs: AnyCosts) -> list[FieldError]:
    if spec.cost_spec is None:
        return check_costs(costs, dataset, "/costs")
    # Stored costs are named as a whole: the request holds none of their cells.
    faults = check_costs(costs, dataset)
    named = dict.fromkeys((one.code, one.detail, one.column) for one in faults)
    return [FieldError("/cost_spec", code, detail, column=column) for code, detail, column in named]


def _column_fault(column: Column | None, known: str) -> tuple[str, str] | None:
    if column is None:
        return "unknown_column", f"the dataset has no column of this name; it has {known}"
    if column.role in ("label", "ignore"):
        return "wrong_role", f"a column of role {column.role} has no part in costs"
    if column.type not in ("number", "boolean"):
        return "wrong_type", "; ".join(
            [f"costs are computed from numbers, and this column is a {column.type}", *column.doubts.values()]
        )
    if column.missing:
        return "missing_value", "costs cannot be computed where the column is missing"
    return None


def _check_split(spec: TrainingSpec, dataset: Dataset) -> Iterator[FieldError]:
    kind = spec.split.kind
    if kind == "stratified":
        if spec.split.column is not None:
            detail = "a stratified split takes no column; name the kind that does: group, time or predefined"
            yield FieldError("/split/column", "exclusive", detail)
        return
    name = split_column(spec, dataset)
    column = next((one for one in dataset.columns if one.name == name), None)
    if name is None:
        yield FieldError("/split/column", "missing", f"a split of kind {kind} needs a column")
    elif column is None:
        known = listed_for(name, (one.name for one in dataset.columns))
        detail = f"the dataset has no column of this name; it has {known}"
        yield FieldError("/split/column", "unknown_column", detail)
    elif column.role == "label":
        yield FieldError("/split/column", "wrong_role", "the label cannot split the rows")
    elif column.missing:
        yield FieldError("/split/column", "missing_value", "the column has missing values")
    elif kind == "time" and column.type not in ("number", "timestamp"):
        yield FieldError("/split/column", "wrong_type", "times are numbers or timestamps")


def _check_rule(spec: TrainingSpec) -> Iterator[FieldError]:
    if spec.decision_rule == "empirical":
        return
    detail = "is for the rule empirical, which takes a threshold on the score"
    if spec.min_recall is not None:
        yield FieldError("/min_recall", "exclusive", detail)
    if spec.threshold_aim != "cost":
        yield FieldError("/threshold_aim", "exclusive", detail)


def _check_classes(spec: TrainingSpec, dataset: Dataset) -> Iterator[FieldError]:
    if spec.decision_rule == "empirical" and len(dataset.classes) > 2:
        yield FieldError("/decision_rule", "not_binary", "an empirical threshold is for two classes")
    if min(dataset.class_counts.values()) < _MIN_ROWS_OF_A_CLASS:
        detail = f"each class needs at least {_MIN_ROWS_OF_A_CLASS} rows to train, validate and test on"
        yield FieldError("/dataset", "too_few_rows", detail)
