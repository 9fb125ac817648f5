"""What-if: other costs, other shares of the classes, so many reviewers; and keeping the costs that please."""

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Sender, Tenant, Wired
from service.api.datasets import intake_of
from service.api.versions import Number
from service.domain.errors import pointer
from service.domain.faults import checked
from service.domain.predictions import Selector
from service.domain.simulations import SimulationSpec
from service.ui.charts import threshold_chart
from service.ui.costs import costs_of
from service.ui.forms import Form, Submitted, read_number
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of, currency_of_spec
from service.usecases import cost_specs, datasets, models
from service.usecases.simulating import simulate

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["simulations"])

_LISTED = 200
PATH = "/ui/models/{model}/versions/{version}/simulate"


@router.get(PATH)
def show_form(request: Request, wired: Wired, tenant: Tenant, model: str, version: Number) -> Response:
    """Ask what shall be different."""
    found = models.read_version(wired.readers, tenant, model, version)
    return render(
        request,
        "simulate.html",
        model=model,
        version=found,
        columns=found.schema["cost_columns"],
        cost_specs=cost_specs.list_cost_specs(wired.readers, tenant, _LISTED, None),
        datasets=datasets.list_datasets(wired.readers, tenant, _LISTED, None),
    )


@router.post(PATH)
def show_outcome(
    *, request: Request, wired: Wired, sender: Sender, form: Submitted, model: str, version: Number
) -> Response:
    """Say what decisions would cost then."""
    tenant = sender.tenant
    spec, costs = _spec(form)
    found = simulate(wired.readers, intake_of(wired), Selector(tenant, model, None, version), spec)
    table = found.found.get("table")
    currency = currency_of(wired.readers, tenant, found.version)
    if spec.cost_spec is not None:
        currency = currency_of_spec(wired.readers, tenant, spec.cost_spec)
    chart = None
    if table:
        columns = {name: [row[name] for row in table] for name in ("threshold", "cost")}
        chart = threshold_chart(columns, currency)
    return render(
        request,
        "parts/simulated.html",
        found=found.found,
        warnings=found.warnings,
        currency=currency,
        chart=chart,
        costs=json.dumps(costs) if costs else None,
    )


def _spec(form: Form) -> tuple[SimulationSpec, dict[str, Any]]:
    costs, capacity = costs_of(form), form.whole("capacity.max")
    plain: dict[str, Any] = {
        "dataset": form.text("dataset"),
        "cost_spec": form.text("cost_spec"),
        "costs": costs or None,
        "priors": {
            name: read_number(text, pointer("priors", name)) for name, text in form.within("priors").items()
        }
        or None,
        "capacity": None
        if capacity is None
        else {"max": capacity, "per": form.text("capacity.per") or "file"},
    }
    return checked(SimulationSpec, {k: v for k, v in plain.items() if v is not None}), costs
