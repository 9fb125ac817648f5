"""Tables that are sent to be predicted, in any media type but JSON."""

import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from service.domain import strict_json
from service.domain.datasets import InputColumn, IntakeLimits
from service.domain.errors import FieldError, InvalidError, TooLargeError
from service.domain.predictions import check_ids
from service.rows import JsonRows, Sent, TableRows, read_numbers, read_objects, read_raw
from service.rows.media import ARROW, CSV, NDJSON, PARQUET, MediaType
from service.rows.plain_stream import is_plain_stream
from service.usecases.datasets import Intake, guarded


def read_sent(
    intake: Intake,
    body: bytes,
    media_type: MediaType,
    max_rows: int,
    likely: Sequence[InputColumn] = (),
) -> Sent:
    """
    Read the rows of a body; `likely` are the columns that will be asked for, if that is known.

    Parquet and Arrow are opened in a guarded child: they may be far larger than they look. Only an Arrow
    stream whose headers say that it is not is read here.

    Raises
    ------
    TooLargeError
        More than `max_rows` rows.
    InvalidError
        The table has faults.
    MalformedError
        The bytes are not of the media type.
    """
    limits = IntakeLimits(max_rows, intake.limits.columns, intake.limits.decoded_bytes)
    try:
        if media_type == NDJSON:
            return JsonRows(_objects(body, limits))
        if media_type == CSV and (numbers := read_numbers(body, likely, limits)) is not None:
            return numbers
        if body and (media_type == PARQUET or (media_type == ARROW and not is_plain_stream(body, limits))):
            body, media_type = _flattened(intake, body, media_type, limits), ARROW
        table = read_raw(io.BytesIO(body), media_type, limits)
    except InvalidError as error:
        if error.code == "dataset_too_large":
            raise TooLargeError("too_many_rows", error.detail, _in_body(error)) from None
        raise InvalidError(error.code, error.detail, error.errors, error.errors_total) from None
    if not table.rows:
        detail = "at least one row is needed"
        raise InvalidError("empty_body", detail, [FieldError("/file", "too_few", detail)])
    return TableRows(table)


def _objects(body: bytes, limits: IntakeLimits) -> list[Any]:
    rows = read_objects(io.BytesIO(body), limits)
    check_ids(rows)
    if b"\\u" in body:  # only so can a text be none
        for row in body.decode("utf-8-sig").split("\n"):
            if row.strip(" \t\r"):
                strict_json.parse(row, at="/file", what="a row")
    return rows


def _in_body(error: InvalidError) -> list[FieldError]:
    return [FieldError(fault.pointer, "too_many_rows", fault.detail, fault.line) for fault in error.errors]


def _flattened(intake: Intake, body: bytes, media_type: MediaType, limits: IntakeLimits) -> bytes:
    with intake.store.spool() as source, intake.store.spool() as target:
        source.write_bytes(body)
        guarded(
            intake,
            "service.rows.child:flatten",
            {
                "source": str(source),
                "target": str(target),
                "media_type": media_type,
                "limits": asdict(limits),
            },
        )
        return target.read_bytes()
