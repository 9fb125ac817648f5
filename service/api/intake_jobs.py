"""/v1/intake-jobs: tables that are taken in while nobody waits for them."""

import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.api.job_shapes import JobErrorOut, stand_of
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.waiting import read_waiting
from service.domain.intake_jobs import IntakeJob
from service.domain.training import JobStatus, Progress
from service.usecases import jobs
from service.usecases.intake_jobs import IntakeView

router = APIRouter(route_class=StrictRoute, tags=["datasets"])

PATH = "/v1/intake-jobs"
EXAMPLE: JsonDict = {
    "id": "in_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "status": "succeeded",
    "done": True,
    "name": "card-q3",
    "attempt": 1,
    "progress": {"phase": "done", "round": 0, "rounds": 0, "fraction": 1.0, "metrics": {}},
    "queue_position": None,
    "created_at": "2026-01-05T09:30:00Z",
    "started_at": "2026-01-05T09:30:00Z",
    "finished_at": "2026-01-05T09:32:10Z",
    "heartbeat_at": "2026-01-05T09:32:09Z",
    "result": {"dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51", "rows": 1900000},
    "error": None,
}


class IntakeJobOut(BaseModel):
    """A table on its way to become a dataset; once it is done it has either a result or an error."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    status: JobStatus
    done: bool
    name: str = Field(description="Of the dataset.")
    attempt: int = Field(description="Executions begun so far.")
    progress: Progress | None
    queue_position: int | None = Field(description="1 is the next to start; null when it does not wait.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    heartbeat_at: datetime | None
    result: Mapping[str, Any] | None = Field(description="`dataset`, its id, and `rows`.")
    error: JobErrorOut | None

    @classmethod
    def of(cls, view: IntakeView) -> "IntakeJobOut":
        """Show an intake job."""
        job = view.job
        return cls(
            name=job.options.name,
            **stand_of(view),
        )


@router.get(
    PATH, operation_id="list_intake_jobs", summary="List intake jobs", responses=responses(400, 422, 503)
)
def list_intake_jobs(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    part: ListSlice,
    status: Annotated[JobStatus | None, Query(description="Only jobs that stand so.")] = None,
) -> Page[IntakeJobOut]:
    """List the intake jobs, newest first."""
    found = jobs.list_jobs(wired.readers, IntakeJob, tenant, part.fetch, part.after, status=status)
    return page(request, response, part, found, key=lambda view: view.job.id, show=IntakeJobOut.of)


@router.get(
    PATH + "/{intake_job}",
    operation_id="read_intake_job",
    summary="Read an intake job",
    responses=responses(404, 503),
)
async def read_intake_job(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, intake_job: str
) -> IntakeJobOut:
    """Read how it stands; `Prefer: wait=20` waits up to so many seconds for its end."""
    read = functools.partial(jobs.read, wired.readers, IntakeJob, tenant, intake_job)
    view = await read_waiting(request, response, read)
    return IntakeJobOut.of(view)


@router.post(
    PATH + "/{intake_job}/cancel",
    operation_id="cancel_intake_job",
    summary="End an intake job",
    status_code=202,
    responses=responses(404, 409, 503),
)
def cancel_intake_job(*, response: Response, wired: Wired, tenant: Tenant, intake_job: str) -> IntakeJobOut:
    """Ask it to end; it can no longer succeed once this is answered. Twice is safe."""
    view = jobs.cancel(wired.sessions, wired.queue, IntakeJob, tenant, intake_job)
    response.headers["Location"] = f"{PATH}/{intake_job}"
    return IntakeJobOut.of(view)
