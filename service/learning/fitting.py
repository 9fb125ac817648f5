"""One training: a test part set aside, a model fitted on the rest, judged in money, and kept as bytes."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.labels import codes_of_classes
from costboost.row_order import canonical_order
from costboost.splits import holdout
from service.domain.datasets import Dataset
from service.domain.errors import InvalidError
from service.domain.training import TrainingSpec
from service.learning.checkpoints import LIBRARIES, Checkpoints
from service.learning.division import split_arrays, split_column, split_of
from service.learning.held_out import dump_test_part, test_part_of
from service.learning.judging import judge, judge_out_of_fold, threshold_found
from service.learning.pricing import AnyCosts, PricedCosts, cost_spec
from service.learning.report import dump_report, report_of
from service.learning.schema import schema_of
from service.learning.searching import run_search, share_of_search

Columns = Mapping[str, NDArray[Any]]
#: phase, round, rounds, fraction of the whole
Report = Callable[[str, int, int, float, Mapping[str, float]], None]


@dataclass(frozen=True)
class Trained:
    """What a training leaves.

    Attributes
    ----------
    artifact : bytes
        The same for the same data, spec and library versions.
    params : dict
        Those of the job, and what its search found.
    search : dict or None
        All trials of the search.
    metrics : dict
        Those of the test part, and under `out_of_fold` those of the rows that were trained on.
    warnings : tuple of str
        What the library warned of during the fit.
    test_counts : dict of str to int
        Rows of each class in the test part.
    report, test_part : bytes
        Read by `learning.load_report` and `learning.load_test_part`.
    schema : dict
        What a row to predict looks like.
    training_seconds : float
        Wall time of the fit.
    """

    artifact: bytes
    params: dict[str, Any]
    search: dict[str, Any] | None
    metrics: dict[str, Any]
    warnings: tuple[str, ...]
    test_counts: dict[str, int]
    report: bytes
    test_part: bytes
    schema: dict[str, Any]
    library_versions: dict[str, str]
    training_seconds: float


@dataclass(frozen=True)
class TrainingRows:
    """The table as a fit takes it; all arrays of shape (n,)."""

    features: Columns
    columns: Columns
    types: dict[str, Any]
    labels: NDArray[Any]
    codes: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    split_by: NDArray[Any] | None

    def of(self, rows: NDArray[np.intp]) -> "TrainingRows":
        """Take some of the rows."""
        return TrainingRows(
            {name: values[rows] for name, values in self.features.items()},
            {name: values[rows] for name, values in self.columns.items()},
            self.types,
            self.labels[rows],
            self.codes[rows],
            None if self.weight is None else self.weight[rows],
            None if self.split_by is None else self.split_by[rows],
        )


def fit(
    spec: TrainingSpec,
    dataset: Dataset,
    columns: Columns,
    costs: AnyCosts,
    progress: Report | None = None,
    *,
    checkpoints: Checkpoints | None = None,
) -> Trained:
    """Train a version.

    Parameters
    ----------
    spec : TrainingSpec
        Already checked by `check`.
    dataset : Dataset
    columns : mapping of name to ndarray of shape (rows,)
        Typed columns of the dataset; columns of role id, subject and ignore need not be there.
    costs : BinaryCosts, MatrixCosts or ActionCosts
    progress : callable, optional
        Called with phase, round, rounds and fraction as the fit goes on.
    checkpoints : Checkpoints, optional
        What was finished before is found there, and what is finished now is kept there.

    Raises
    ------
    InvalidError
        The data cannot be split or priced as asked.
    """
    from costboost.persistence import dump  # noqa: PLC0415 - only where something is trained

    started = time.perf_counter()
    prices = cost_spec(costs, dataset.classes, dataset.positive_class)
    rows = rows_of(spec, dataset, columns, prices)
    try:
        train, test = _holdout(spec, dataset, rows)
        fitted_on = rows.of(train)
        kept = {} if checkpoints is None else {"checkpoints": checkpoints}
        params = _fit_params(spec, fitted_on) | kept
        spec, told = _searched(spec, prices, fitted_on, params, progress)
        model = model_of(spec, prices)
        last = _rest_of(progress, share_of_search(spec))
        with texts_of_warnings() as warned:
            model.fit(fitted_on.columns, fitted_on.labels, **params, progress=last)
        scorer, tested_on = model.scorer(), rows.of(test)
        tested = judge(scorer, tested_on.columns, tested_on.codes, tested_on.weight)
        folded = judge_out_of_fold(model, fitted_on.columns, fitted_on.codes, fitted_on.weight)
        folded_metrics = folded.metrics(spec.seed) | {"threshold": threshold_found(model)}
        metrics = {**tested.metrics(spec.seed), "out_of_fold": folded_metrics}
        report = dump_report(report_of(scorer, tested, folded, tested_on.columns) | {"search": told})
    except (ValueError, ArithmeticError) as error:
        raise InvalidError.at("/dataset", "invalid_data", str(error)) from error
    seconds = time.perf_counter() - started
    return Trained(
        artifact=dump(model),
        params=dict(spec.params),
        search=told,
        metrics=metrics,
        warnings=tuple(warned),
        test_counts=tested.class_counts,
        report=report,
        test_part=dump_test_part(test_part_of(tested, test)),
        schema=schema_of(dataset, fitted_on.columns, prices),
        library_versions={name: version(name) for name in LIBRARIES},
        training_seconds=round(seconds, 3),
    )


@contextmanager
def texts_of_warnings() -> Iterator[list[str]]:
    """What the library warns of, each text once; complete when the block ends."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield texts
    texts += sorted({str(one.message) for one in caught})


def rows_of(spec: TrainingSpec, dataset: Dataset, columns: Columns, prices: PricedCosts) -> TrainingRows:
    """Take from a table what a fit needs."""
    features = {column.name: column.type for column in dataset.columns_of("feature")}
    labels = columns[dataset.label]
    place = {label: code for code, label in enumerate(dataset.classes)}
    weight, by = dataset.name_of("weight"), split_column(spec, dataset)
    return TrainingRows(
        features={name: columns[name] for name in features},
        columns={name: columns[name] for name in sorted(features.keys() | prices.columns)},
        types=dict(features),
        labels=labels,
        codes=np.array([place[label] for label in labels], dtype=np.intp),
        weight=None if weight is None else columns[weight],
        split_by=None if by is None else columns[by],
    )


def _holdout(
    spec: TrainingSpec, dataset: Dataset, rows: TrainingRows
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    ranks = _ranks(dataset, rows)[rows.codes]
    # Rows that are alike in all features are told apart by what they weigh and cost.
    others = [rows.columns[name] for name in sorted(rows.columns.keys() - rows.features.keys())]
    extra = [column for column in (rows.weight, rows.split_by, *others) if column is not None]
    return holdout(
        split_of(spec),
        ranks,
        order=canonical_order(rows.features, ranks, *extra),
        seed=spec.seed,
        **split_arrays(spec.split.kind, rows.split_by),
    )


def _ranks(dataset: Dataset, rows: TrainingRows) -> NDArray[np.intp]:
    """Number of each class that does not depend on its name: the positive one of two is 1."""
    positive = None if dataset.positive_class is None else dataset.classes.index(dataset.positive_class)
    return codes_of_classes(rows.features, rows.codes, positive)


def model_of(spec: TrainingSpec, prices: PricedCosts) -> Any:
    """Make the unfitted model of a spec."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler
    from costboost.model import CostSensitiveModel  # noqa: PLC0415

    return CostSensitiveModel(
        registry.make(spec.algorithm, spec.params, random_state=spec.seed),
        costs=prices,
        calibration=spec.calibration,
        decision_rule=spec.decision_rule,
        threshold_aim=spec.threshold_aim,
        min_recall=spec.min_recall,
        train_costs=spec.train_costs,
        split=split_of(spec),
        random_state=spec.seed,
    )


def _searched(
    spec: TrainingSpec,
    prices: PricedCosts,
    rows: TrainingRows,
    fit_params: Mapping[str, Any],
    progress: Report | None,
) -> tuple[TrainingSpec, dict[str, Any] | None]:
    """The spec with the parameters that its search finds, and all that was tried."""
    if spec.search is None:
        return spec, None
    from costboost.search import search_params  # noqa: PLC0415 - loads scikit-learn and the compiler

    model, share = model_of(spec, prices), share_of_search(spec)
    search = partial(search_params, model, rows.columns, rows.labels, **fit_params)
    found = run_search(spec, search, _first_of(progress, share))
    return spec.model_copy(update={"params": {**spec.params, **found.params}}), found.told


def _first_of(progress: Report | None, share: float) -> Report | None:
    """Progress of a first step that does this share of the whole."""
    if progress is None:
        return None
    return lambda phase, at, rounds, fraction, figures: progress(phase, at, rounds, share * fraction, figures)


def _rest_of(progress: Report | None, share: float) -> Report | None:
    """Progress of what comes after such a step."""
    if progress is None or not share:
        return progress
    rest = 1.0 - share
    return lambda phase, at, rounds, done, figures: progress(phase, at, rounds, share + rest * done, figures)


def _fit_params(spec: TrainingSpec, rows: TrainingRows) -> dict[str, Any]:
    return {
        "types": rows.types,
        "sample_weight": rows.weight,
        **split_arrays(spec.split.kind, rows.split_by),
    }
