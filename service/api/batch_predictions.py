"""/v1/batch-predictions: a table in, its decisions out as a file; done by a worker."""

import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.conditions import IMMUTABLE
from service.api.context import Receipted, Sender, Tenant, Wired
from service.api.datasets import intake_limiter, intake_of
from service.api.downloads import chunks
from service.api.job_shapes import JobErrorOut, stand_of
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.uploads import is_form, receive_form
from service.api.waiting import RETRY_SECONDS, read_waiting
from service.domain import strict_json
from service.domain.batch_predictions import BatchPrediction, BatchSpec, OutputFormat
from service.domain.errors import FieldError, InvalidError, pointer
from service.domain.faults import checked
from service.domain.receipts import Receipt
from service.domain.training import JobStatus, Progress
from service.usecases import batch_predictions, batch_removal, jobs
from service.usecases.batch_child import MEDIA
from service.usecases.batch_predictions import BatchView
from service.usecases.datasets import Upload
from service.wiring import Wiring

router = APIRouter(route_class=StrictRoute, tags=["batch-predictions"])

PATH = "/v1/batch-predictions"
EXAMPLE_SPEC: JsonDict = {
    "model": "card-fraud",
    "dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "output": "csv",
}
EXAMPLE: JsonDict = {
    "id": "bp_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "status": "succeeded",
    "done": True,
    "model": "card-fraud",
    "version": 7,
    "dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "cost_spec": None,
    "rows": 9332,
    "output": "csv",
    "attempt": 1,
    "progress": {"phase": "done", "round": 2, "rounds": 2, "fraction": 1.0, "metrics": {}},
    "queue_position": None,
    "created_at": "2026-01-05T09:30:00Z",
    "started_at": "2026-01-05T09:30:00Z",
    "finished_at": "2026-01-05T09:30:02Z",
    "heartbeat_at": "2026-01-05T09:30:01Z",
    "result": {
        "model": "card-fraud",
        "version": 7,
        "rows": 9332,
        "failed_rows": 0,
        "warnings": [],
        "decisions": {"approve": 8800, "decline": 132, "review": 400},
        "expected_cost": 31200.5,
        "review": {"rows": 400, "tied": 0, "shadow_price": 1.25},
        "metrics": None,
        "bytes": 1048576,
    },
    "error": None,
}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What to predict; or a form with `spec` and the table as `file`.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/BatchSpec"},
                "example": EXAMPLE_SPEC,
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "spec": {"type": "string", "description": "The JSON object, without `dataset`."},
                        "file": {"type": "string", "format": "binary"},
                    },
                }
            },
        },
    }
}


class BatchPredictionOut(BaseModel):
    """A batch prediction; once it is done it has either a result or an error."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    status: JobStatus
    done: bool
    model: str
    version: int
    dataset: str | None = Field(description="null where a file came with the request.")
    cost_spec: str | None
    rows: int
    output: OutputFormat
    attempt: int = Field(description="Executions begun so far.")
    progress: Progress | None
    queue_position: int | None = Field(description="1 is the next to start; null when it does not wait.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    heartbeat_at: datetime | None
    result: Mapping[str, Any] | None = Field(
        description="`rows`, `failed_rows` (a cost cannot be computed: they are empty in the output), "
        "`warnings` (`code`, `rows`, `detail`), `decisions`, `expected_cost`, `review` within a capacity, "
        "`metrics` where labels are known."
    )
    error: JobErrorOut | None

    @classmethod
    def of(cls, view: BatchView) -> "BatchPredictionOut":
        """Show a batch prediction."""
        job = view.job
        return cls(
            model=job.model,
            version=job.version,
            dataset=job.dataset_id,
            cost_spec=job.spec["cost_spec"],
            rows=job.spec["rows"],
            output=job.spec["output"],
            **stand_of(view),
        )


@router.post(
    PATH,
    operation_id="create_batch_prediction",
    summary="Ask for decisions on a table",
    status_code=202,
    response_model=BatchPredictionOut,
    responses=responses(400, 404, 409, 413, 415, 422, 503),
    openapi_extra=BODY,
)
async def create_batch_prediction(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, receipt: Receipted
) -> BatchPredictionOut:
    """Check the rows of a dataset or of a file against a version, and put their prediction in the queue."""
    if is_form(request):
        view = await _submit_form(request, wired, tenant, receipt)
    else:
        spec = checked(BatchSpec, await request.json())
        submit = _submission(request, wired, tenant, spec, receipt)
        view = await anyio.to_thread.run_sync(functools.partial(submit, upload=None))
    response.headers.update({"Location": f"{PATH}/{view.job.id}", "Retry-After": str(RETRY_SECONDS)})
    return BatchPredictionOut.of(view)


async def _submit_form(request: Request, wired: Wiring, tenant: str, receipt: Receipt | None) -> BatchView:
    with wired.store.spool() as path:
        form = await receive_form(request, path)
        unknown = [name for name in form.fields if name != "spec"]
        if unknown:
            detail = "a form has `spec` and `file`"
            faults = [FieldError(pointer(name), "unknown_field", detail) for name in unknown]
            raise InvalidError("invalid", "a part of the form is not known", faults)
        given = strict_json.parse(form.fields.get("spec", "{}"), at="/spec", what="the part `spec`")
        submit = _submission(request, wired, tenant, checked(BatchSpec, given), receipt)
        upload: Upload = form.upload
        return await anyio.to_thread.run_sync(
            functools.partial(submit, upload=upload), limiter=intake_limiter(request)
        )


def _submission(
    request: Request, wired: Wiring, tenant: str, spec: BatchSpec, receipt: Receipt | None
) -> "functools.partial[BatchView]":
    return functools.partial(
        batch_predictions.submit,
        wired.sessions,
        wired.readers,
        request.app.state.scoring,
        intake_of(wired),
        queue=wired.queue,
        tenant=tenant,
        spec=spec,
        queued_jobs=wired.settings.max_queued_jobs,
        receipt=receipt,
    )


@router.get(
    PATH,
    operation_id="list_batch_predictions",
    summary="List batch predictions",
    responses=responses(400, 422, 503),
)
def list_batch_predictions(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    part: ListSlice,
    status: Annotated[JobStatus | None, Query(description="Only jobs that stand so.")] = None,
) -> Page[BatchPredictionOut]:
    """List the batch predictions, newest first."""
    found = jobs.list_jobs(wired.readers, BatchPrediction, tenant, part.fetch, part.after, status=status)
    return page(request, response, part, found, key=lambda view: view.job.id, show=BatchPredictionOut.of)


@router.get(
    PATH + "/{batch_prediction}",
    operation_id="read_batch_prediction",
    summary="Read a batch prediction",
    responses=responses(404, 503),
)
async def read_batch_prediction(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, batch_prediction: str
) -> BatchPredictionOut:
    """Read how it stands; `Prefer: wait=20` waits up to so many seconds for its end."""
    read = functools.partial(jobs.read, wired.readers, BatchPrediction, tenant, batch_prediction)
    view = await read_waiting(request, response, read)
    return BatchPredictionOut.of(view)


@router.post(
    PATH + "/{batch_prediction}/cancel",
    operation_id="cancel_batch_prediction",
    summary="End a batch prediction",
    status_code=202,
    responses=responses(404, 409, 503),
)
def cancel_batch_prediction(
    *, response: Response, wired: Wired, tenant: Tenant, batch_prediction: str
) -> BatchPredictionOut:
    """Ask it to end; it can no longer succeed once this is answered. Twice is safe."""
    view = jobs.cancel(wired.sessions, wired.queue, BatchPrediction, tenant, batch_prediction)
    response.headers["Location"] = f"{PATH}/{batch_prediction}"
    return BatchPredictionOut.of(view)


@router.delete(
    PATH + "/{batch_prediction}",
    operation_id="delete_batch_prediction",
    summary="Delete a batch prediction",
    status_code=204,
    responses=responses(404, 503),
)
def delete_batch_prediction(*, wired: Wired, sender: Sender, batch_prediction: str) -> None:
    """Delete it with its output and the file that came with it; one that is not over ends with it."""
    batch_removal.delete_batch(
        wired.sessions, wired.store, wired.queue, sender.tenant, batch_prediction, by=sender.actor
    )


@router.get(
    PATH + "/{batch_prediction}/output",
    operation_id="read_batch_prediction_output",
    summary="Download the decisions",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One row for each row of the input, in its order.",
            "content": dict.fromkeys(MEDIA.values(), _BINARY),
        },
        **responses(404, 409, 503),
    },
)
def read_output(*, wired: Wired, tenant: Tenant, batch_prediction: str) -> StreamingResponse:
    """Download the table of decisions; its columns are those of `/predict`, and the reasons if asked for."""
    job, file = batch_predictions.open_output(wired.readers, wired.store, tenant, batch_prediction)
    output = job.spec["output"]
    headers = {
        "Content-Disposition": f'attachment; filename="{job.id}.{output}"',
        "Cache-Control": IMMUTABLE,
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(chunks(file), headers=headers, media_type=MEDIA[output])


def schemas() -> dict[str, Any]:
    """Give the components that the body refers to, which FastAPI does not see."""
    schema = BatchSpec.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "BatchSpec": schema}
