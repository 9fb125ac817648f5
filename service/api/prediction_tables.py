"""Predictions as a table: one row each, columns of plain values, in any media type of tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import InputColumn
from service.learning import Answers
from service.rows import Sent, TypedArray, encode_table, text_of
from service.rows.media import MediaType
from service.usecases.predicting import Predicted
from service.usecases.scoring import Loaded


def encode_predictions(
    loaded: Loaded, sent: Sent, predicted: Predicted, media_type: MediaType, ids: Sequence[str] = ()
) -> bytes:
    """Write the table `columns_of` makes; `ids` are those of decision records, when they are kept."""
    columns = columns_of(loaded, sent, predicted, ids)
    schema = [
        InputColumn(name, "text" if values.dtype == object else "number") for name, values in columns.items()
    ]
    return encode_table(columns, schema, media_type)


def columns_of(
    loaded: Loaded, sent: Sent, predicted: Predicted, ids: Sequence[str] = ()
) -> dict[str, TypedArray]:
    """
    Make the columns of n predictions; a row with a fault has its id alone.

    Returns
    -------
    dict of arrays of shape (n,)
        `id` if any row brought one, `prediction_id` if they are kept, `decision`, `label`, `score` (for more
        than two classes one each), `probability_<class>`, `expected_cost_<action>`, `threshold`.
    """
    rows = range(len(sent))
    columns: dict[str, TypedArray] = {}
    if "id" in sent.names:
        columns["id"] = _texts([text_of(sent.cell(row, "id")) for row in rows])
    answers = predicted.answers
    if answers is None:
        names = _number_names(loaded.predictor.classes, loaded.version.schema.get("actions", ()))
        nothing = np.full(len(sent), np.nan)
        empty = _texts([None] * len(sent))
        return columns | {"decision": empty, "label": empty} | dict.fromkeys(names, nothing)
    found: dict[str, TypedArray] = {} if not ids else {"prediction_id": _texts(list(ids))}
    found |= _answered(answers)
    return columns | {name: _spread(values, predicted.sound, len(sent)) for name, values in found.items()}


def _answered(answers: Answers) -> dict[str, TypedArray]:
    labels = [*answers.classes, None]
    numbers = [
        *([answers.score] if answers.score.ndim == 1 else answers.score.T),
        *answers.probabilities.T,
        *answers.expected_cost.T,
        answers.threshold,
    ]
    names = _number_names(answers.classes, answers.actions)
    return {
        "decision": _texts([answers.actions[decision] for decision in answers.decision.tolist()]),
        "label": _texts([labels[label] for label in answers.label.tolist()]),
        **dict(zip(names, numbers, strict=True)),
    }


def _number_names(classes: Sequence[str], actions: Sequence[str]) -> list[str]:
    return [
        *(["score"] if len(classes) == 2 else [f"score_{name}" for name in classes]),
        *(f"probability_{name}" for name in classes),
        *(f"expected_cost_{name}" for name in actions),
        "threshold",
    ]


def _texts(values: Sequence[str | None]) -> TypedArray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _spread(values: NDArray[Any], sound: NDArray[np.intp], n: int) -> TypedArray:
    """Values of the sound rows among all; the others hold nothing."""
    if len(values) == n:
        return values
    column: TypedArray = _texts([None] * n) if values.dtype == object else np.full(n, np.nan)
    column[sound] = values
    return column
