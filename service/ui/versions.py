"""A model and one version of it: what it saves, where the threshold should lie, how good and why it is so."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.aliases import AliasIn
from service.api.card_page import card_content
from service.api.context import Sender, Tenant, Wired
from service.api.markup import page
from service.api.models import ModelPatch
from service.api.versions import Number
from service.domain.cautions import cautions_of_model
from service.domain.faults import checked
from service.domain.models import CHAMPION
from service.ui.charts import curve_charts, shape_chart, threshold_chart
from service.ui.forms import Submitted
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases import cards, evaluations, models

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["models"])

_VERSIONS = 100
#: Columns whose shape is shown, the most important ones.
_SHAPES = 8
_CATEGORIES = 24


@router.get("/ui/models/{model}")
def show_model(request: Request, wired: Wired, tenant: Tenant, model: str) -> Response:
    """List the versions of a model."""
    view = models.read_model(wired.readers, tenant, model)
    versions = models.list_versions(wired.readers, tenant, model, _VERSIONS, None)
    currencies = {one.number: currency_of(wired.readers, tenant, one) for one in versions}
    cautions = [detail for _, detail in cautions_of_model(view)]
    return render(
        request, "model.html", view=view, versions=versions, currencies=currencies, cautions=cautions
    )


@router.post("/ui/models/{model}/settings")
def change_settings(request: Request, wired: Wired, tenant: Tenant, form: Submitted, model: str) -> Response:
    """Say what is kept of the decisions of a model."""
    plain = {
        "description": form.text("description") or "",
        "record_rows": "record_rows" in form,
        "retention_days": form.whole("retention_days"),
        "control_share": form.amount("control_share"),
        "shadow_alias": form.text("shadow_alias"),
    }
    wish = checked(ModelPatch, plain)
    changes = wish.model_dump(exclude_unset=True)
    models.change_model(wired.sessions, tenant, model, lambda _: None, changes)
    request.app.state.scoring.forget(tenant, model)
    return send_on(request, f"/ui/models/{model}")


@router.get("/ui/models/{model}/versions/{version}")
def show_version(request: Request, wired: Wired, tenant: Tenant, model: str, version: Number) -> Response:
    """Show one version, money first."""
    found, report = evaluations.read_report(wired.readers, wired.store, tenant, model, version)
    card = cards.read_brief(wired.readers, wired.store, tenant, model, version)
    outcomes = evaluations.read_outcomes(wired.store, found, report)
    curves, currency = report["curves"]["test"], card["costs"]["currency"]
    return render(
        request,
        "version.html",
        model=model,
        version=found,
        card=card,
        currency=currency,
        decided=outcomes["decided"],
        threshold=_threshold(curves, outcomes, found.metrics, card),
        threshold_chart=None
        if curves.get("thresholds") is None
        else threshold_chart(curves["thresholds"], currency),
        curves=_curves(curves),
        shapes=_shapes(card["explanation"]),
    )


@router.get("/ui/models/{model}/versions/{version}/card")
def show_card(wired: Wired, tenant: Tenant, model: str, version: Number) -> Response:
    """Show the model card, as the API gives it to print."""
    card = cards.read_card(wired.readers, wired.store, tenant, model, version)
    return page(f"{model}, version {version}", card_content(card))


@router.post("/ui/models/{model}/versions/{version}/champion")
def make_champion(
    *, request: Request, wired: Wired, sender: Sender, form: Submitted, model: str, version: Number
) -> Response:
    """Let a version answer from now on."""
    plain = {"version": version, "reason": form.text("reason") or ""}
    wish = checked(AliasIn, plain)
    models.put_alias(
        wired.sessions,
        sender.tenant,
        model,
        CHAMPION,
        lambda _: None,
        number=wish.version,
        reason=wish.reason,
        by=sender.actor,
    )
    request.app.state.scoring.forget(sender.tenant, model)
    return send_on(request, f"/ui/models/{model}/versions/{version}")


def _threshold(
    curves: Mapping[str, Any],
    outcomes: Mapping[str, Any],
    metrics: Mapping[str, Any],
    card: Mapping[str, Any],
) -> dict[str, Any] | None:
    """What the slider needs: the table of thresholds to the last digit, and what each outcome costs."""
    table = curves.get("thresholds")
    if table is None:
        return None
    return {
        **table,
        "costs": outcomes["by_outcome"],
        "baseline": metrics["baseline_cost"],
        "decided": metrics["total_cost"],
        "currency": card["costs"]["currency"],
        "cheapest": min(range(len(table["cost"])), key=table["cost"].__getitem__),
    }


def _curves(curves: Mapping[str, Any]) -> list[tuple[str | None, list[Any], Mapping[str, str]]]:
    """Charts with the class that they are about, None where there is one alone, and what is undefined."""
    if curves.get("classes") is None:
        return [(None, curve_charts(curves), curves["undefined"])]
    return [
        (str(one["class"]), curve_charts(one, f"class-{number}-"), one["undefined"])
        for number, one in enumerate(curves["classes"])
    ]


def _shapes(explanation: Mapping[str, Any]) -> list[Any]:
    known = {one["feature"]: one for one in explanation["shapes"] or ()}
    ranked = [
        one["feature"]
        for one in explanation["importance"]
        if one["feature"] in known and one["importance"] > 0
    ]
    explained = {"log_odds": "the log-odds", "score": "the score"}[explanation["explained"]]
    chosen = [known[name] for name in ranked[:_SHAPES]]
    return [
        shape_chart(one, number, explained)
        for number, one in enumerate(chosen)
        if len(one.get("categories", ())) <= _CATEGORIES
    ]
