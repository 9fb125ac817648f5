"""What there is: models and what they save, jobs under way; where nothing is yet, the first steps."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.api.access import opened_by
from service.api.context import Sender, Wired
from service.domain.errors import NotFoundError
from service.domain.models import ModelView, Version
from service.domain.training import TrainingJob
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases import cost_specs, datasets, jobs, models
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["models"])
#: Comes last.
missing = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["probes"])

_JOBS = 8


@dataclass(frozen=True)
class Line:
    """A model in the list: the version that answers, and its newest one."""

    view: ModelView
    champion: Version | None
    currency: str | None


@missing.get("/")
@missing.get("/ui/")
def lead_to_overview() -> Response:
    """Lead a browser to the first page."""
    return RedirectResponse("/ui", 307)


@router.get("/ui")
@opened_by("registry", "train")
def show_overview(request: Request, wired: Wired, sender: Sender, after: After = None) -> Response:
    """Show models, jobs if the caller may see them, and what to do next."""
    tenant = sender.tenant
    part = part_of(models.list_models(wired.readers, tenant, FETCH, after), key=lambda view: view.model.id)
    return render(
        request,
        "overview.html",
        lines=[_line(wired, tenant, view) for view in part.lines],
        after=part.after,
        jobs=jobs.list_jobs(wired.readers, TrainingJob, tenant, _JOBS) if sender.may(["train"]) else [],
        has_data=bool(datasets.list_datasets(wired.readers, tenant, 1, None)),
        has_costs=bool(cost_specs.list_cost_specs(wired.readers, tenant, 1, None)),
    )


def _line(wired: Wiring, tenant: str, view: ModelView) -> Line:
    number = view.champion or view.latest_version
    if number is None:
        return Line(view, None, None)
    version = models.read_version(wired.readers, tenant, view.model.name, number)
    return Line(view, version, currency_of(wired.readers, tenant, version))


@missing.get("/ui/{rest:path}")
def show_missing(rest: str) -> Response:
    """Say that there is no such page."""
    raise NotFoundError("page", f"/ui/{rest}")
