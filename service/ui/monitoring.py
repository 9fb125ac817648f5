"""What decisions cost in the end, beside what was expected of them."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Sender, Tenant, Wired
from service.api.performance import DEFAULT_SPAN
from service.domain.outcomes import Span, Window
from service.ui.charts import Chart, Line
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases import models, performance
from service.usecases.performance import VersionPerformance

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["performance"])

_LISTED = 50


@router.get("/ui/monitoring")
def list_models(request: Request, wired: Wired, tenant: Tenant) -> Response:
    """List the models whose decisions can be watched."""
    views = models.list_models(wired.readers, tenant, _LISTED, None)
    return render(request, "monitoring_list.html", views=views)


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
    versions = models.list_versions(wired.readers, sender.tenant, model, 1, None)
    currency = currency_of(wired.readers, sender.tenant, versions[0]) if versions else None
    return render(
        request,
        "monitoring.html",
        model=model,
        found=found,
        window=window,
        days=days,
        charts={one.version: _chart(one, currency) for one in found.versions},
        currency=currency,
    )


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
