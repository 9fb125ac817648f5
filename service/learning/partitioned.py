"""One training on rows that no process holds: a booster fitted where they lie, calibrated and judged here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.row_order import canonical_order
from service.domain.datasets import Dataset
from service.domain.errors import FieldError, InvalidError
from service.domain.training import SplitSpec, TrainingSpec
from service.learning.fitting import model_of, rows_of, texts_of_warnings
from service.learning.judging import judge
from service.learning.pricing import AnyCosts, PricedCosts, cost_spec

Columns = Mapping[str, NDArray[Any]]
#: Fits a booster to rows elsewhere, whose classes have these codes, and returns it.
Fit = Callable[[Any, Mapping[str, int]], Any]


@dataclass(frozen=True)
class PartitionedTraining:
    """What is left of it; as in `Trained`."""

    artifact: bytes
    metrics: dict[str, Any]
    warnings: tuple[str, ...]
    test_counts: dict[str, int]


def check_partitioned(spec: TrainingSpec, dataset: Dataset) -> list[FieldError]:
    """List what needs all rows in one place; the spec is sound otherwise, as `check` has found."""
    from costboost.boosting._base import CostSensitiveBooster  # noqa: PLC0415 - loads scikit-learn
    from costboost.registry import find  # noqa: PLC0415

    faults = list[FieldError]()
    if not issubclass(find(spec.algorithm).cls, CostSensitiveBooster):
        detail = "the default mixes learners that need all rows in one place; name a booster, such as adacost"
        faults.append(FieldError("/algorithm", "exclusive", detail))
    if spec.search is not None:
        faults.append(FieldError("/search", "exclusive", "a search needs all rows in one place"))
    if spec.train_costs == "row":
        faults.append(
            FieldError("/train_costs", "exclusive", "rows in several places are learned by class_mean")
        )
    if spec.split.kind in ("time", "predefined"):
        detail = "of rows in several places a test part is drawn by row or by group"
        faults.append(FieldError("/split/kind", "exclusive", detail))
    texts = [column for column in dataset.columns_of("feature") if column.type in ("category", "text")]
    detail = "a feature is a number, a boolean or a timestamp where rows are in several places"
    return faults + [FieldError("/roles", "wrong_type", detail, column=column.name) for column in texts]


def fit_partitioned(
    spec: TrainingSpec,
    dataset: Dataset,
    costs: AnyCosts,
    *,
    kept: Columns,
    is_test: NDArray[np.bool_],
    elsewhere: Columns,
    fit: Fit,
) -> PartitionedTraining:
    """Train a version.

    Parameters
    ----------
    spec : TrainingSpec
        Checked by `check` and `check_partitioned`.
    dataset : Dataset
        Of the kept rows.
    costs : BinaryCosts, MatrixCosts or ActionCosts
    kept : mapping of name to ndarray of shape (n,)
        Rows that are not trained on: some to calibrate on, some to test on.
    is_test : ndarray of shape (n,), bool
    elsewhere : mapping of name to ndarray
        Label, weight and columns of costs of the rows that are.
    fit : callable

    Raises
    ------
    InvalidError
        The data cannot be priced or learned as asked.
    """
    from costboost.partitioned import calibrated  # noqa: PLC0415 - only where something is trained
    from costboost.persistence import dump  # noqa: PLC0415

    prices = cost_spec(costs, dataset.classes, dataset.positive_class)
    try:
        rows = rows_of(spec, dataset, kept, prices)
        calibrating, testing = rows.of(np.flatnonzero(~is_test)), rows.of(np.flatnonzero(is_test))
        given: dict[str, Any] = {"types": rows.types, "sample_weight": calibrating.weight}
        # The split was drawn where rows are: the model itself folds nothing.
        model = model_of(spec.model_copy(update={"split": SplitSpec()}), prices)
        with texts_of_warnings() as warned:
            ready = model.prepare(calibrating.columns, calibrating.labels, **given)
            matrix = _class_means(dataset, elsewhere, prices, ready.codes)
            codes = dict(zip(dataset.classes, ready.codes.tolist(), strict=True))
            booster = fit(ready.booster.set_params(cost_matrix=matrix), codes)
            booster.classes_ = model.classes_[np.argsort(ready.codes)]  # which the codes stand for
            calibrated(model, booster, calibrating.columns, calibrating.labels, **given)
        judged = judge(model.scorer(), testing.columns, testing.codes, testing.weight)
        metrics = judged.metrics(spec.seed)
    except (ValueError, ArithmeticError) as error:
        raise InvalidError("invalid_data", str(error)) from error
    return PartitionedTraining(dump(model), metrics, tuple(warned), judged.class_counts)


def _class_means(dataset: Dataset, elsewhere: Columns, prices: PricedCosts, codes: NDArray[np.intp]) -> Any:
    """What a booster learns from: the mean regret of each class of the rows it is fitted to."""
    from costboost.training_costs import TrainingCosts  # noqa: PLC0415 - only where something is trained

    place = {label: code for code, label in enumerate(dataset.classes)}
    labels = elsewhere[dataset.label].tolist()
    strangers = set(labels) - place.keys()
    if strangers:
        raise ValueError(
            f"no row of {len(strangers)} classes came to be kept: they are too rare, or mistakes"
        )
    if len(set(labels)) < len(place):
        raise ValueError("each class needs rows to train on")
    weight = dataset.name_of("weight")
    weights = np.ones(len(labels)) if weight is None else elsewhere[weight]
    y = np.array([place[label] for label in labels], dtype=np.intp)
    numbers = {name: values for name, values in elsewhere.items() if name != dataset.label}
    order = canonical_order(numbers, y)
    return TrainingCosts.of_spec(prices, elsewhere, y, weights).of_rows(order).recoded(codes).matrix()
