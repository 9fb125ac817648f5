"""/v1/training-jobs: asking for a training, watching it, ending it."""

import functools
import hashlib
import time
from collections.abc import AsyncIterator
from typing import Annotated

import anyio
import anyio.to_thread
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.conditions import REVALIDATE
from service.api.context import Receipted, Tenant, Wired
from service.api.datasets import intake_limiter, intake_of
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.specs import read_spec, read_spec_part
from service.api.training_job_shapes import SPEC_BODY, EventOut, EventPage, JobOut, PlanOut
from service.api.uploads import is_form, read_options, receive_form
from service.api.waiting import RETRY_SECONDS, read_waiting
from service.domain.receipts import Receipt
from service.domain.training import JobStatus, TrainingJob, TrainingSpec
from service.usecases import jobs, training
from service.usecases.planning import Ceilings, plan
from service.usecases.training import TrainingView
from service.wiring import Wiring

router = APIRouter(route_class=StrictRoute, tags=["training-jobs"])

PING_SECONDS = 15.0


@router.post(
    "/v1/training-jobs",
    operation_id="create_training_job",
    summary="Ask for a training",
    status_code=202,
    response_model=JobOut,
    responses=responses(400, 413, 415, 422, 503),
    openapi_extra=SPEC_BODY,
)
async def create_training_job(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, receipt: Receipted
) -> JobOut:
    """Check what is asked for and put it in the queue: once this is answered, the job is not lost.

    With a form, dataset, costs and parameters come in one request.
    """
    view = await (_submit_form if is_form(request) else _submit)(request, wired, tenant, receipt)
    response.headers.update(
        {"Location": f"/v1/training-jobs/{view.job.id}", "Retry-After": str(RETRY_SECONDS)}
    )
    return JobOut.of(view)


async def _submit(request: Request, wired: Wiring, tenant: str, receipt: Receipt | None) -> TrainingView:
    spec = await read_spec(request)
    submit = functools.partial(
        training.submit,
        wired.sessions,
        wired.readers,
        wired.store,
        queue=wired.queue,
        tenant=tenant,
        spec=spec,
        ceilings=ceilings_of(wired),
        receipt=receipt,
    )
    return await anyio.to_thread.run_sync(submit)


async def _submit_form(request: Request, wired: Wiring, tenant: str, receipt: Receipt | None) -> TrainingView:
    with wired.store.spool() as path:
        form = await receive_form(request, path, "dataset")
        spec = read_spec_part(form.fields)
        told = {name: text for name, text in form.fields.items() if name != "spec"}
        options = read_options(told, form.called)
        submit = functools.partial(
            training.submit_upload,
            wired.sessions,
            wired.readers,
            wired.queue,
            tenant,
            spec,
            intake=intake_of(wired),
            upload=form.upload,
            options=options,
            ceilings=ceilings_of(wired),
            receipt=receipt,
        )
        return await anyio.to_thread.run_sync(submit, limiter=intake_limiter(request))


def ceilings_of(wired: Wiring) -> Ceilings:
    """The largest limits that a job may ask for."""
    return Ceilings(
        wired.settings.max_job_seconds, wired.settings.max_job_memory_mb, wired.settings.max_queued_jobs
    )


@router.post(
    "/v1/training-jobs/validate",
    operation_id="validate_training_job",
    summary="Check a training without asking for it",
    responses=responses(400, 413, 415, 422, 503),
)
def validate_training_job(*, wired: Wired, tenant: Tenant, spec: TrainingSpec) -> PlanOut:
    """Say what would be trained, or what is wrong with it."""
    return PlanOut.of(plan(wired.readers, wired.store, tenant, spec, ceilings=ceilings_of(wired)))


@router.get(
    "/v1/training-jobs",
    operation_id="list_training_jobs",
    summary="List training jobs",
    responses=responses(400, 422, 503),
)
def list_training_jobs(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    part: ListSlice,
    status: Annotated[JobStatus | None, Query(description="Only jobs that stand so.")] = None,
    model: Annotated[str | None, Query(max_length=64, description="Only jobs for this model.")] = None,
) -> Page[JobOut]:
    """List the training jobs, newest first."""
    found = jobs.list_jobs(
        wired.readers, TrainingJob, tenant, part.fetch, part.after, status=status, model=model
    )
    return page(request, response, part, found, key=lambda view: view.job.id, show=JobOut.of)


@router.get(
    "/v1/training-jobs/{job}",
    operation_id="read_training_job",
    summary="Read a training job",
    responses=responses(404, 503),
)
async def read_training_job(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, job: str
) -> JobOut:
    """Read how a job stands; `Prefer: wait=20` waits up to so many seconds for its end."""
    read = functools.partial(jobs.read, wired.readers, TrainingJob, tenant, job)
    view = await read_waiting(request, response, read)
    shown = JobOut.of(view)
    if shown.done:
        # Whoever has seen the end of a job gets the version it made from the next prediction on.
        request.app.state.scoring.forget(tenant, view.job.model)
    etag = f'"{view.job.attempt}-{hash_of(shown)}"'
    response.headers.update({"ETag": etag, "Cache-Control": REVALIDATE})
    return shown


@router.post(
    "/v1/training-jobs/{job}/cancel",
    operation_id="cancel_training_job",
    summary="End a training job",
    status_code=202,
    responses=responses(404, 409, 503),
)
def cancel_training_job(*, response: Response, wired: Wired, tenant: Tenant, job: str) -> JobOut:
    """Ask a job to end; it can no longer succeed once this is answered. Twice is safe."""
    view = jobs.cancel(wired.sessions, wired.queue, TrainingJob, tenant, job)
    response.headers["Location"] = f"/v1/training-jobs/{job}"
    return JobOut.of(view)


@router.get(
    "/v1/training-jobs/{job}/events",
    operation_id="watch_training_job",
    summary="Watch a training job",
    response_model=EventPage,
    responses={
        200: {"description": "Events, as JSON or as they happen.", "content": {"text/event-stream": {}}},
        **responses(404, 503),
    },
)
async def watch_training_job(*, request: Request, wired: Wired, tenant: Tenant, job: str) -> object:
    """Send how the job stands whenever it changes, until it is done; or its present stand as a list page."""
    view = await _read(wired, tenant, job)
    first = first_event(request)
    if "text/event-stream" not in request.headers.get("accept", ""):
        return EventPage(data=[_event(first, view)])
    return streamed(request, wired, tenant, view, first)


def streamed(
    request: Request, wired: Wiring, tenant: str, view: TrainingView, first: int
) -> StreamingResponse:
    """Send how a job stands whenever it changes, until it is done."""
    stream = _stream(request, wired, tenant, view, first)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    request: Request, wired: Wiring, tenant: str, view: TrainingView, number: int
) -> AsyncIterator[bytes]:
    shown: JobOut | None = None
    sent_at = time.monotonic()
    while not (request.app.state.stopping or await request.is_disconnected()):
        if JobOut.of(view) != shown:
            event = _event(number, view)
            yield f"id: {event.id}\nevent: {event.event}\ndata: {event.data.model_dump_json()}\n\n".encode()
            shown, number, sent_at = event.data, number + 1, time.monotonic()
            if shown.done:
                request.app.state.scoring.forget(tenant, view.job.model)
                return
        elif time.monotonic() - sent_at > PING_SECONDS:
            yield b": ping\n\n"
            sent_at = time.monotonic()
        await anyio.sleep(0.5)
        view = await _read(wired, tenant, view.job.id)


def _event(number: int, view: TrainingView) -> EventOut:
    return EventOut(id=number, event="done" if view.job.status.done else "progress", data=JobOut.of(view))


def first_event(request: Request) -> int:
    """Number of the first event to send: that after the last one a caller has seen."""
    text = request.headers.get("last-event-id", "")
    seen = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    return seen + 1


async def _read(wired: Wiring, tenant: str, job: str) -> TrainingView:
    return await anyio.to_thread.run_sync(jobs.read, wired.readers, TrainingJob, tenant, job)


def hash_of(shown: JobOut) -> str:
    """Short name of a representation."""
    return hashlib.sha256(shown.model_dump_json().encode()).hexdigest()[:32]
