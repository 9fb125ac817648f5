"""/v1/datasets: tables to learn from, in and out."""

import functools
from datetime import datetime
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from service.api.accept import preferred
from service.api.conditions import IMMUTABLE, REVALIDATE, is_unchanged, unchanged
from service.api.context import Receipted, Sender, Tenant, Wired
from service.api.downloads import chunks
from service.api.intake_jobs import PATH as JOBS_PATH
from service.api.intake_jobs import IntakeJobOut
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.uploads import is_form, read_options, receive_body, receive_form
from service.api.waiting import RETRY_SECONDS, prefers_async
from service.domain.datasets import ColumnRole, ColumnType, Dataset, IntakeLimits
from service.domain.receipts import Receipt
from service.processes.guard import Guard
from service.rows import MEDIA_TYPES, iterate_csv
from service.rows.media import CSV, PARQUET
from service.usecases import datasets
from service.usecases.datasets import Intake
from service.usecases.intake_jobs import IntakeView, submit
from service.wiring import Wiring

router = APIRouter(route_class=StrictRoute, tags=["datasets"])

EXAMPLE: JsonDict = {
    "id": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "name": "card-q3",
    "media_type": "text/csv",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "bytes": 2718492,
    "rows": 9332,
    "label": "label",
    "classes": ["0", "1"],
    "class_counts": {"0": 8840, "1": 492},
    "positive_class": "1",
    "positive_class_inferred": False,
    "columns": [{"name": "amount", "type": "number", "role": "feature", "missing": 0, "distinct": 8123}],
    "warnings": [],
    "created_at": "2026-01-05T09:30:00Z",
}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The table itself, or a form with `file` and the options as fields.",
        "content": {
            "text/csv": {"schema": {"type": "string"}, "example": "amount,label\n12.5,0\n980,1\n"},
            **dict.fromkeys(MEDIA_TYPES[1:], _BINARY),
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "options": {"type": "string", "description": "All options as one JSON object."},
                    },
                }
            },
        },
    }
}
_JSON_OBJECT = "JSON object, column to "


class ColumnOut(BaseModel):
    """A column as it was understood."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    type: ColumnType
    role: ColumnRole
    missing: int = Field(description="Cells without a value.")
    distinct: int = Field(description="Different values.")


class ColumnNotice(BaseModel):
    """Something odd about a column."""

    model_config = ConfigDict(from_attributes=True)

    code: Literal["looks_like_id", "mostly_numbers", "looks_like_amounts", "similar_classes"]
    column: str
    detail: str


class DatasetOut(BaseModel):
    """A table that was taken in."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE}, from_attributes=True)

    id: str
    name: str
    media_type: str
    sha256: str = Field(description="Of the file as it was sent.")
    bytes: int
    rows: int
    label: str
    classes: list[str]
    class_counts: dict[str, int]
    positive_class: str | None
    positive_class_inferred: bool
    columns: list[ColumnOut]
    warnings: list[ColumnNotice] = Field(description="What is allowed, but perhaps not meant.")
    created_at: datetime

    @classmethod
    def of(cls, dataset: Dataset) -> "DatasetOut":
        """Show a dataset."""
        return cls.model_validate(dataset)


def intake_of(wired: Wiring) -> Intake:
    """What reading an uploaded file may use."""
    settings = wired.settings
    limits = IntakeLimits(settings.max_rows, settings.max_columns, settings.max_decoded_bytes)
    guard = Guard(seconds=settings.intake_seconds, memory_bytes=settings.intake_memory_mb << 20)
    return Intake(wired.store, wired.nursery, limits, guard)


@router.post(
    "/v1/datasets",
    operation_id="create_dataset",
    summary="Upload a table",
    status_code=201,
    response_model=DatasetOut,
    responses={
        202: {"model": IntakeJobOut, "description": "A worker reads it; `Location` is the job."},
        **responses(400, 413, 415, 422, 503),
    },
    openapi_extra=_UPLOAD,
)
async def create_dataset(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    receipt: Receipted,
    name: Annotated[str | None, Query(description="A name to find it by; default that of its file.")] = None,
    label: Annotated[str | None, Query(description="Label column; default `label`.")] = None,
    positive_class: Annotated[str | None, Query(description="Of two classes; default the rarer one.")] = None,
    classes: Annotated[list[str] | None, Query(description="Order of the classes.")] = None,
    roles: Annotated[str | None, Query(description=_JSON_OBJECT + "role.")] = None,
    types: Annotated[str | None, Query(description=_JSON_OBJECT + "type.")] = None,
) -> DatasetOut | Response:
    """Take a table in: typed, checked and kept, or refused with the line of each fault.

    With `Prefer: respond-async`, or when reading takes longer than `COSTBOOST_INTAKE_SECONDS`, a worker does
    it: the answer is then 202 with an intake job.
    """
    listed = classes[0] if classes and len(classes) == 1 and classes[0].startswith("[") else classes
    given = {
        "name": name,
        "label": label,
        "positive_class": positive_class,
        "classes": listed,
        "roles": roles,
        "types": types,
    }
    asked = {option: value for option, value in given.items() if value is not None}
    taken = await _take(request, wired, tenant, receipt, asked)
    if isinstance(taken, Dataset):
        response.headers["Location"] = f"/v1/datasets/{taken.id}"
        return DatasetOut.of(taken)
    headers = {"Location": f"{JOBS_PATH}/{taken.job.id}", "Retry-After": str(RETRY_SECONDS)}
    if prefers_async(request):
        headers["Preference-Applied"] = "respond-async"
    return JSONResponse(IntakeJobOut.of(taken).model_dump(mode="json"), 202, headers)


async def _take(
    request: Request, wired: Wiring, tenant: str, receipt: Receipt | None, asked: dict[str, Any]
) -> Dataset | IntakeView:
    with wired.store.spool() as path:
        if is_form(request):
            form = await receive_form(request, path)
            upload, options = form.upload, read_options(asked | form.fields, form.called)
        else:
            options = read_options(asked)
            upload = await receive_body(request, path)
        intake = intake_of(wired)
        later = functools.partial(
            submit,
            wired.sessions,
            intake,
            queue=wired.queue,
            tenant=tenant,
            upload=upload,
            options=options,
            queued_jobs=wired.settings.max_queued_jobs,
            receipt=receipt,
        )
        if prefers_async(request):
            return await anyio.to_thread.run_sync(later)
        now = functools.partial(
            datasets.create_dataset, wired.sessions, intake, tenant, upload, options, receipt=receipt
        )
        try:
            return await anyio.to_thread.run_sync(now, limiter=intake_limiter(request))
        except datasets.OutOfTimeError:
            return await anyio.to_thread.run_sync(later)


def intake_limiter(request: Request) -> anyio.CapacityLimiter:
    """Tables that are read at a time: each may take all the memory of one reading."""
    state = request.app.state
    if not hasattr(state, "intake_limiter"):
        state.intake_limiter = anyio.CapacityLimiter(2)
    limiter: anyio.CapacityLimiter = state.intake_limiter
    return limiter


@router.get(
    "/v1/datasets", operation_id="list_datasets", summary="List datasets", responses=responses(400, 422, 503)
)
def list_datasets(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[DatasetOut]:
    """List the datasets, newest first."""
    found = datasets.list_datasets(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, found, key=lambda dataset: dataset.id, show=DatasetOut.of)


@router.get(
    "/v1/datasets/{dataset}",
    operation_id="read_dataset",
    summary="Read a dataset",
    responses=responses(404, 503),
)
def read_dataset(*, response: Response, wired: Wired, tenant: Tenant, dataset: str) -> DatasetOut:
    """Read what is known about a dataset, by id; a name means the newest dataset of it."""
    found = datasets.read_dataset(wired.readers, tenant, dataset)
    response.headers.update(_headers(found, is_id=found.id == dataset))
    return DatasetOut.of(found)


@router.get(
    "/v1/datasets/{dataset}/content",
    operation_id="read_dataset_content",
    summary="Download a dataset",
    response_class=Response,
    responses={
        200: {
            "description": "The table.",
            "content": {PARQUET: _BINARY, CSV: {"schema": {"type": "string"}}},
        },
        **responses(404, 406, 409, 503),
    },
)
def read_dataset_content(*, request: Request, wired: Wired, tenant: Tenant, dataset: str) -> Response:
    """Download the typed table as Parquet, or as CSV where `Accept` prefers it.

    In CSV a text that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    media_type = preferred(request.headers.get("accept", "*/*"), (PARQUET, CSV), PARQUET)
    found = datasets.read_dataset(wired.readers, tenant, dataset)
    suffix = "csv" if media_type == CSV else "parquet"
    headers = {
        **_headers(found, is_id=found.id == dataset, suffix=f".{suffix}"),
        "Content-Disposition": f'attachment; filename="{found.id}.{suffix}"',
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
    }
    if is_unchanged(request, headers["ETag"]):
        return unchanged(headers)
    content = wired.store.open(found.content_sha256)
    body = iterate_csv(content) if media_type == CSV else chunks(content)
    return StreamingResponse(body, headers=headers, media_type=media_type)


@router.get(
    "/v1/datasets/{dataset}/profile",
    operation_id="profile_dataset",
    summary="Describe the values of a dataset",
    responses=responses(404, 409, 422, 503),
)
def profile_dataset(*, wired: Wired, tenant: Tenant, dataset: str) -> dict[str, Any]:
    """Give quantiles and a histogram or the frequent values of each column, over all rows and by class.

    `warnings` names what may let a model learn the answer instead of the question: a column that alone tells
    the classes apart or names rows, rows alike in all features but of two classes, repeated rows.
    """
    return datasets.profile_dataset(wired.readers, intake_of(wired), tenant, dataset)


@router.delete(
    "/v1/datasets/{dataset}",
    operation_id="delete_dataset",
    summary="Delete a dataset",
    status_code=204,
    responses=responses(404, 409, 503),
)
def delete_dataset(*, wired: Wired, sender: Sender, dataset: str) -> None:
    """Delete a dataset to which no training job and no version refers."""
    datasets.delete_dataset(wired.sessions, wired.store, sender.tenant, dataset, by=sender.actor)


def _headers(dataset: Dataset, *, is_id: bool, suffix: str = "") -> dict[str, str]:
    # A name can mean another dataset tomorrow.
    return {
        "ETag": f'"{dataset.content_sha256[:32]}{suffix}"',
        "Cache-Control": IMMUTABLE if is_id else REVALIDATE,
    }
