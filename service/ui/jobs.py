"""One training job: how far it is, as it happens, and the button that ends it."""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.api.training_jobs import first_event, streamed
from service.ui.charts import Chart, Line, Written
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.ui.units import currency_of_spec
from service.usecases import training

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["training-jobs"])


@router.get("/ui/jobs/{job}")
def show_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Response:
    """Show how a job stands; a script keeps it up to date."""
    view = training.read_job(wired.readers, tenant, job)
    currency = currency_of_spec(wired.readers, tenant, view.job.spec.cost_spec)
    return render(
        request,
        "job.html",
        job=view.job,
        position=view.queue_position,
        course=_course(),
        rounds=_rounds(view.job.spec.params, currency),
        currency=currency,
    )


@router.get("/ui/jobs/{job}/events")
async def watch_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Any:
    """Send how the job stands whenever it changes."""
    view = await anyio.to_thread.run_sync(training.read_job, wired.readers, tenant, job)
    return streamed(request, wired, tenant, view, first_event(request))


@router.post("/ui/jobs/{job}/cancel")
def cancel_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Response:
    """Ask a job to end."""
    training.cancel(wired.sessions, wired.queue, tenant, job)
    return send_on(request, f"/ui/jobs/{job}")


def _course() -> Chart:
    return Chart(
        "course",
        "Course",
        "How much of the whole was done after so many seconds, and how much of the present step.",
        "seconds",
        [0.0],
        [
            Line("of the whole", [0.0], "percent"),
            Line("of this step", [0.0], "percent", quiet=True),
        ],
    )


def _rounds(params: Mapping[str, Any], currency: str | None) -> list[Chart]:
    """What the rounds of a booster tell; a script fills it in."""
    error = "What share of the weight each round's learner has wrong: near a half it learns nothing more."
    cost = "What a row set aside costs after each round; the cheapest round is the last one that is kept."
    charts = [_by_round("error", "Error of each round", error, "number", currency)]
    if params.get("early_stopping"):
        charts.append(_by_round("valid_expected_cost", "Cost by round", cost, "money", currency))
    return charts


def _by_round(figure: str, title: str, says: str, written: Written, currency: str | None) -> Chart:
    lines = [Line("this fit", [0.0], written), Line("the fit before", [0.0], written, quiet=True)]
    return Chart(f"rounds-{figure}", title, says, "round", [0.0], lines, currency=currency)
