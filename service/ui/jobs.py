"""One training job: how far it is, as it happens, and the button that ends it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.api.training_jobs import first_event, streamed
from service.domain.cost_specs import CostSpec
from service.domain.datasets import Dataset
from service.domain.errors import NotFoundError
from service.domain.training import TrainingJob
from service.ui.charts import Chart, Line, Written
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import cost_specs, datasets, jobs
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["training-jobs"])


@router.get("/ui/jobs/{job}")
def show_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Response:
    """Show how a job stands; a script keeps it up to date."""
    view = jobs.read(wired.readers, TrainingJob, tenant, job)
    costs = _costs(wired, tenant, view.job.spec.cost_spec)
    currency = None if costs is None else costs.currency
    return render(
        request,
        "job.html",
        job=view.job,
        dataset=_dataset(wired, tenant, view.job.dataset_id),
        costs=costs,
        position=view.queue_position,
        course=_course(),
        rounds=_rounds(view.job.spec.params, currency),
        search=_search(view.job, currency),
        currency=currency,
    )


def _dataset(wired: Wiring, tenant: str, dataset: str) -> Dataset | None:
    """What was trained on, to be called by its name; None where it is gone."""
    try:
        return datasets.read_dataset(wired.readers, tenant, dataset)
    except NotFoundError:
        return None


def _costs(wired: Wiring, tenant: str, cost_spec: str | None) -> CostSpec | None:
    try:
        return None if cost_spec is None else cost_specs.read_cost_spec(wired.readers, tenant, cost_spec)
    except NotFoundError:
        return None


@router.get("/ui/jobs/{job}/events")
async def watch_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Any:
    """Send how the job stands whenever it changes."""
    view = await anyio.to_thread.run_sync(jobs.read, wired.readers, TrainingJob, tenant, job)
    return streamed(request, wired, tenant, view, first_event(request))


@router.post("/ui/jobs/{job}/cancel")
def cancel_job(request: Request, wired: Wired, tenant: Tenant, job: str) -> Response:
    """Ask a job to end."""
    jobs.cancel(wired.sessions, wired.queue, TrainingJob, tenant, job)
    return send_on(request, f"/ui/jobs/{job}")


@dataclass(frozen=True)
class _Search:
    """What a search came to: its trials with their numbers, the cheapest first, and the best one's number."""

    trials: Sequence[tuple[int, Mapping[str, Any]]]
    best: int
    strategy: str
    chart: Chart


def _search(job: TrainingJob, currency: str | None) -> _Search | None:
    found = None if job.result is None else job.result.get("search")
    if found is None:
        return None
    numbered = list(enumerate(found["trials"], 1))
    # Those of the most folds first: the others were given up because they cost more.
    ranked = sorted(
        numbered, key=lambda one: (-one[1]["folds"], one[1]["cost"] is None, one[1]["cost"] or 0.0)
    )
    return _Search(ranked, found["best"] + 1, found["strategy"], _by_trial(numbered, currency))


def _by_trial(numbered: Sequence[tuple[int, Mapping[str, Any]]], currency: str | None) -> Chart:
    costs = [one["cost"] for _, one in numbered]
    most = max(one["folds"] for _, one in numbered)
    whole = [one["cost"] for _, one in numbered if one["folds"] == most and one["cost"] is not None]
    return Chart(
        "trials",
        "Cost by trial",
        "What a row cost with the parameters of each trial, out of fold; the dashed line is the cheapest.",
        "trial",
        [number for number, _ in numbered],
        [
            Line("cost of a row", costs, "money", points=True),
            Line("the cheapest", [min(whole, default=None)] * len(costs), "money", quiet=True),
        ],
        currency=currency,
    )


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
