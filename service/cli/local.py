"""Training and deciding in this process: the rooms of the service, without its database and queue.

The same table, spec and library versions give the same bytes as a training job.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from service import learning
from service.domain.cautions import cautions_of_test
from service.domain.costs import Costs
from service.domain.datasets import Dataset, IntakeLimits, IntakeOptions
from service.domain.errors import ConflictError, InvalidError
from service.domain.faults import field_errors
from service.domain.nearest import listed_for
from service.domain.predictions import PredictOptions, check_options
from service.domain.training import TrainingSpec
from service.rows import (
    JsonRows,
    Sent,
    Table,
    TableRows,
    TypedArray,
    encode_table,
    read_objects,
    read_raw,
    read_table,
    text_of,
)
from service.rows.encoding import encode_arrow
from service.rows.media import ARROW, CSV, JSON, NDJSON, PARQUET, MediaType, media_type_of
from service.usecases.predicting import predict, price
from service.usecases.prediction_columns import prediction_columns, schema_of, texts

#: Whoever reads an own file on an own machine sets the limits.
LIMITS = IntakeLimits(rows=1 << 40, columns=1 << 20, decoded_bytes=1 << 50)
_WRITTEN: Mapping[str, MediaType] = {".csv": CSV, ".json": JSON, ".parquet": PARQUET, ".arrow": ARROW}

#: phase, round, rounds, fraction of the whole
Report = Callable[[str, int, int, float, Mapping[str, float]], None]


@dataclass(frozen=True)
class LocalModel:
    """What a training leaves: the bytes of the model, and what to say about it."""

    artifact: bytes
    metrics: dict[str, Any]
    consequences: list[str]
    warnings: list[str]


def train_locally(
    path: Path, spec: dict[str, Any], options: dict[str, Any], report: Report | None = None
) -> LocalModel:
    """Train on a file.

    Parameters
    ----------
    path : Path
        CSV, JSON, NDJSON, Parquet or Arrow, by the end of its name.
    spec, options : dict
        As in the API, without `dataset`.

    Raises
    ------
    InvalidError
        Table, costs or spec are not what they should be; with the place of each fault.
    """
    table = read_table(path, media_type_of("", path.name), checked(IntakeOptions, options), LIMITS)
    dataset = dataset_of(path, table)
    asked = checked(TrainingSpec, {**spec, "dataset": "local"})
    costs = priced(asked)
    faults = learning.check(asked, dataset, costs)
    division, unfit = (None, faults) if faults else learning.rehearse(asked, dataset, table.columns)
    if division is None:
        raise InvalidError("invalid", "this cannot be trained", unfit, len(unfit))
    trained = learning.fit(settled(asked), dataset, table.columns, costs, report)
    return local_model(trained, dataset, costs)


def priced(asked: TrainingSpec) -> Costs:
    """Costs of a spec, or InvalidError."""
    if asked.costs is None:
        raise InvalidError("invalid", "costs are needed: --costs")
    return asked.costs


def settled(asked: TrainingSpec) -> TrainingSpec:
    """Name the algorithm that is meant, with all its parameters but those that are searched."""
    algorithm, params = learning.settle(asked.algorithm, asked.params)
    if asked.search is not None:
        params = {name: value for name, value in params.items() if name not in asked.search.params}
    return asked.model_copy(update={"algorithm": algorithm, "params": params})


def local_model(
    trained: learning.Trained | learning.PartitionedTraining, dataset: Dataset, costs: Costs
) -> LocalModel:
    """Tell of a training what its user should know."""
    cautions = cautions_of_test(trained.test_counts, trained.metrics)
    return LocalModel(
        trained.artifact,
        trained.metrics,
        learning.consequences(learning.cost_spec(costs, dataset.classes, dataset.positive_class)),
        [
            *(detail for _, detail in cautions),
            *trained.warnings,
            *(f"{one.column}: {one.detail}" for one in dataset.warnings),
        ],
    )


def predict_locally(
    model: Path,
    rows: Path,
    suffix: str,
    *,
    costs: Any = None,
    threshold: float | None = None,
    id_column: str | None = None,
) -> tuple[bytes, list[str]]:
    """Decide the rows of a file with a model in a file, and say what is odd about them.

    Parameters
    ----------
    suffix : {".csv", ".json", ".parquet", ".arrow"}
        How the decisions are written.
    id_column : str, optional
        Column of the rows that the decisions have too; `id` if there is one.

    Raises
    ------
    InvalidError, MalformedError
        The file holds no model, the rows are not what it needs, or the threshold is no probability.
    """
    wish = PredictOptions(threshold=threshold)
    check_options(wish)
    try:
        predictor = learning.load(model.read_bytes())
    except ConflictError:
        raise InvalidError("invalid", f"{model} holds no model of this release") from None
    sent = _sent(rows)
    priced = None if costs is None else price(predictor, json.dumps(costs).encode())
    decided = predict(predictor, wish, sent, priced, len(sent))
    actions = (predictor.costs if priced is None else priced.costs).actions
    columns = _ids(sent, id_column or "id") if id_column or "id" in sent.names else {}
    columns |= prediction_columns(
        decided.answers,
        decided.sound,
        len(sent),
        classes=predictor.classes,
        actions=[action.name for action in actions],
    )
    odd = [] if decided.answers is None else learning.unseen(decided.answers)
    told = [f"{said} (rows: {n})" for n, said in odd]
    return encode_table(columns, schema_of(columns), _WRITTEN[suffix]), told


def ids_of(rows: Path, id_column: str) -> pa.Table:
    """Read the column of a file that says which row it is, as text.

    Raises
    ------
    InvalidError
        There is none of this name.
    """
    (values,) = _ids(_sent(rows), id_column).values()
    return pa.table({id_column: pa.array(values, pa.string())})


def written(decisions: pa.Table, suffix: str) -> bytes:
    """Write decisions as the name of a file ends."""
    return encode_arrow(decisions, _WRITTEN[suffix])


def _ids(sent: Sent, named: str) -> dict[str, TypedArray]:
    if named not in sent.names:
        known = listed_for(named, sent.names)
        raise InvalidError("unknown_column", f"the rows have no column {named}; they have {known}")
    return {named: texts([text_of(sent.cell(row, named)) for row in range(len(sent))])}


def _sent(path: Path) -> Sent:
    media_type = media_type_of("", path.name)
    with path.open("rb") as file:
        if media_type == NDJSON:
            return JsonRows(read_objects(file, LIMITS))
        return TableRows(read_raw(file, media_type, LIMITS))


def dataset_of(path: Path, table: Table) -> Dataset:
    """Describe a table that was read from a file as a dataset."""
    content, labels = path.read_bytes(), table.labels
    return Dataset(
        id="local",
        tenant_id="local",
        name=path.name,
        media_type=media_type_of("", path.name),
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content_sha256="",
        rows=table.rows,
        label=labels.column,
        classes=tuple(labels.counts),
        class_counts=labels.counts,
        positive_class=labels.positive,
        positive_class_inferred=labels.positive_inferred,
        columns=table.described,
        created_at=datetime.now(UTC),
    )


def checked(kind: Any, given: dict[str, Any]) -> Any:
    """Options as a value, or InvalidError with the place of each fault."""
    try:
        return kind.model_validate_json(json.dumps(given))
    except ValidationError as error:
        faults = field_errors(error.errors(), given)
        raise InvalidError("invalid", "the options are not what they should be", faults) from None
