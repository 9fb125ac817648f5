"""What decisions cost in the end, beside what was expected of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Sender, Tenant, Wired
from service.api.performance import DEFAULT_SPAN
from service.domain.errors import NotFoundError
from service.domain.outcomes import Span, Window
from service.ui.charts import Chart, Line, drift_chart, reliability_chart
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases import drift as drifting
from service.usecases import models, performance, recording
from service.usecases.drift import VersionDrift
from service.usecases.performance import VersionPerformance
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["performance"])

_LISTED = 50
#: Columns that are drawn, those that moved farthest.
_DRAWN = 12
#: Of the stability index: below it little, above it much.
_LITTLE, _MUCH = 0.1, 0.25


@router.get("/ui/monitoring")
def list_models(request: Request, wired: Wired, tenant: Tenant) -> Response:
    """List the models whose decisions can be watched."""
    views = models.list_models(wired.readers, tenant, _LISTED, None)
    newest = {
        view.model.id: recording.newest_records(wired.readers, tenant, [view.model], 1) for view in views
    }
    return render(request, "monitoring_list.html", views=views, newest=newest)


@router.get("/ui/monitoring/{model}")
def show_performance(
    *,
    request: Request,
    wired: Wired,
    sender: Sender,
    model: str,
    window: Annotated[Window, Query()] = "week",
    days: Annotated[int, Query(ge=1, le=400)] = DEFAULT_SPAN.days,
) -> Response:
    """Set realised beside expected cost, window by window."""
    end = datetime.now(UTC)
    span = Span(end - timedelta(days=days), end)
    found = performance.performance(wired.readers, sender.tenant, model, span, window)
    numbers = {one.version for one in found.versions} | {one.champion for one in found.comparisons}
    currencies = {number: _currency(wired, sender.tenant, model, number) for number in numbers}
    return render(
        request,
        "monitoring.html",
        model=model,
        found=found,
        window=window,
        days=days,
        charts={one.version: _chart(one, currencies[one.version]) for one in found.versions},
        currencies=currencies,
    )


def _currency(wired: Wiring, tenant: str, model: str, number: int) -> str | None:
    """What the costs of a version are counted in; None where it was deleted."""
    try:
        return currency_of(wired.readers, tenant, models.read_version(wired.readers, tenant, model, number))
    except NotFoundError:
        return None


@router.get("/ui/monitoring/{model}/drift")
def show_drift(
    *,
    request: Request,
    wired: Wired,
    tenant: Tenant,
    model: str,
    days: Annotated[int, Query(ge=1, le=400)] = DEFAULT_SPAN.days,
) -> Response:
    """Set what came in, and what was said of it, beside the test; after the page, for all rows are read."""
    end = datetime.now(UTC)
    found = drifting.drift(wired.readers, wired.store, tenant, model, Span(end - timedelta(days=days), end))
    return render(request, "parts/drift.html", model=model, drifts=[_drift(one) for one in found])


@dataclass(frozen=True)
class _Moved:
    """A column, or the probability of a class, and how far it moved in words."""

    name: str
    drift: Any
    told: str


@dataclass(frozen=True)
class _Drift:
    """Drift of one version: what a page tells of it, the farthest first; inputs are None without rows."""

    version: int
    classes: Sequence[Any]
    moved: Sequence[_Moved]
    inputs: Sequence[_Moved] | None
    charts: Sequence[Chart]


def _drift(one: VersionDrift) -> _Drift:
    said = [_moved(f"probability of {each.name}", each.probability) for each in one.classes]
    inputs = None if one.inputs is None else [_moved(each.name, each.drift) for each in one.inputs]
    drawn = [*said, *(inputs or ())[:_DRAWN]]
    charts = [drift_chart(each.name, each.drift, f"drift-{one.version}-{n}") for n, each in enumerate(drawn)]
    for number, each in enumerate(one.classes):
        if each.reliability is not None:
            charts.insert(
                number, reliability_chart(each.name, each.reliability, f"reliability-{one.version}-{number}")
            )
    return _Drift(one.version, one.classes, said, inputs, charts)


def _moved(name: str, drift: Any) -> _Moved:
    """Say how far: what chance alone makes of so few rows is no movement."""
    if drift.psi < max(_LITTLE, 2 * drift.psi_by_chance):
        told = "little"
    else:
        told = "much" if drift.psi > max(_MUCH, 2 * drift.psi_by_chance) else "some"
    return _Moved(name, drift, told)


def _chart(one: VersionPerformance, currency: str | None) -> Chart:
    parts = list(reversed(one.windows))
    return Chart(
        f"version-{one.version}",
        f"Version {one.version}",
        "Mean cost of a row: expected when it was decided, and realised as far as labels are known.",
        "beginning of the window (UTC)",
        [part.span.since.timestamp() for part in parts],
        [
            Line("realised", [part.realised_cost.mean for part in parts], "money", points=True),
            Line("expected", [part.expected_cost for part in parts], "money", points=True, quiet=True),
        ],
        x_written="time",
        currency=currency,
    )
