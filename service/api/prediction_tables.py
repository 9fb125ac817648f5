"""Predictions of a request as a table in any media type of tables."""

from collections.abc import Sequence

from service.rows import Sent, TypedArray, encode_table, text_of
from service.rows.media import MediaType
from service.usecases.predicting import Predicted, Priced
from service.usecases.prediction_columns import prediction_columns, schema_of, spread, texts
from service.usecases.scoring import Loaded


def encode_predictions(
    loaded: Loaded,
    sent: Sent,
    predicted: Predicted,
    priced: Priced | None,
    media_type: MediaType,
    *,
    ids: Sequence[str] = (),
) -> bytes:
    """
    Write one row for each row that was sent.

    It has its `id` if any row brought one, `prediction_id` where decisions are kept (`ids`), and the columns
    of :func:`prediction_columns`; a row with a fault has its id alone.
    """
    columns: dict[str, TypedArray] = {}
    if "id" in sent.names:
        columns["id"] = texts([text_of(sent.cell(row, "id")) for row in range(len(sent))])
    if ids:
        columns["prediction_id"] = spread(texts(list(ids)), predicted.sound, len(sent))
    spec = loaded.predictor.costs if priced is None else priced.costs
    columns |= prediction_columns(
        predicted.answers,
        predicted.sound,
        len(sent),
        classes=loaded.predictor.classes,
        actions=[action.name for action in spec.actions],
    )
    return encode_table(columns, schema_of(columns), media_type)
