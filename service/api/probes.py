"""/livez /readyz /version /metrics: for those who run the service."""

import platform
from typing import Literal

import anyio
from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import opened_by
from service.api.context import Tenant, Wired
from service.api.figures import figures_of, work_figures
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.usecases import monitoring, readiness

READY_SECONDS = 1.0

router = APIRouter(route_class=StrictRoute, tags=["probes"])


class Live(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """Whether requests can be served, and what is missing."""

    status: Literal["ready", "degraded", "unavailable"] = Field(
        description="degraded: requests are answered, but no worker has lately said that it lives."
    )
    database: bool
    storage: bool
    worker: bool


class VersionInfo(BaseModel):
    """Which release runs."""

    version: str
    python: str


@router.get("/livez", operation_id="livez", summary="Is the process alive")
async def livez() -> Live:
    """Answer at once; nothing is looked at."""
    return Live()


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Can requests be served",
    responses={503: {"model": Ready, "description": "Database or storage is not usable"}},
)
async def readyz(wired: Wired, response: Response) -> Ready:
    """Look, a second at most, at database (migrated), storage (writable) and workers (one lives)."""
    found = readiness.NOTHING
    with anyio.move_on_after(READY_SECONDS):
        found = await anyio.to_thread.run_sync(
            readiness.check, wired.database, wired.store, wired.settings.lease_seconds, abandon_on_cancel=True
        )
    if not (found.database and found.storage):
        response.status_code = 503
        response.headers["Retry-After"] = "5"
    return Ready(status=found.status, database=found.database, storage=found.storage, worker=found.worker)


@router.get("/version", operation_id="version", summary="Which release runs")
async def version(request: Request) -> VersionInfo:
    """Name the release."""
    return VersionInfo(version=request.app.version, python=platform.python_version())


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **responses(401, 403, 503)},
)
@opened_by("admin")
def metrics(request: Request, wired: Wired, tenant: Tenant) -> Response:
    """Give requests, latencies, decisions, jobs and workers in Prometheus' text form."""
    found = monitoring.figures(wired.readers)
    text = figures_of(tenant) + work_figures(found, request.app.state.recorder.waiting)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
