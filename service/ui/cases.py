"""One decision and its reasons, in log-odds and in money; and deciding one row by hand."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.api.access import opened_by
from service.api.context import Sender, Tenant, Wired
from service.api.versions import Number
from service.domain.decision_records import DecisionRecord
from service.domain.errors import CostboostError, NotFoundError
from service.domain.faults import checked
from service.domain.feedback import FeedbackItem
from service.domain.predictions import Selector
from service.ui.forms import Form, Submitted, is_plain
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases import feedback, models, recording
from service.usecases.cases import Case, decide_row, look_at
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["predictions"])

PATH = "/ui/models/{model}/versions/{version}/decide"
#: Reasons that are drawn, the strongest; the others are summed.
_SHOWN = 12
#: Models that are listed, and their newest decisions.
_MODELS, _NEWEST = 50, 20


@dataclass(frozen=True)
class Step:
    """A bar of the waterfall, in percent of its width."""

    feature: str
    value: Any
    contribution: float
    expected_cost: float | None
    begin: float
    width: float


@router.get("/ui/cases")
def find_case(
    request: Request,
    wired: Wired,
    tenant: Tenant,
    prediction: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """Ask for the id of a decision, or for a row to decide."""
    if prediction is not None and prediction.strip():
        record, _ = recording.read_record(wired.readers, tenant, prediction.strip())
        return RedirectResponse(f"/ui/cases/{record.id}", 303)
    views = models.list_models(wired.readers, tenant, _MODELS, None)
    known = [view.model for view in views]
    records = recording.newest_records(wired.readers, tenant, known, _NEWEST)
    names = {model.id: model.name for model in known}
    # One look for each version, not for each decision.
    versions = {(one.model_id, one.version_number): one for one in records}
    currencies = {key: _currency(wired, one, names[one.model_id]) for key, one in versions.items()}
    return render(request, "cases.html", views=views, records=records, names=names, currencies=currencies)


@router.get("/ui/cases/{prediction}")
def show_case(request: Request, wired: Wired, tenant: Tenant, prediction: str) -> Response:
    """Show the record of a decision, and its reasons where the row was kept."""
    record, model = recording.read_record(wired.readers, tenant, prediction)
    case, why_not = None, None
    currency = None if model is None else _currency(wired, record, model.name)
    if model is None:
        why_not = "The model was deleted since."
    elif record.row is None:
        why_not = (
            f"The row was not kept. The settings of {model.name} say whether rows of its decisions are; "
            "those of decisions from then on have their reasons here."
        )
    else:
        selector = Selector(tenant, model.name, None, record.version_number)
        try:
            loaded = request.app.state.scoring.load(selector)
            case = look_at(loaded, record.row, record.costs)
        except CostboostError as error:
            why_not = f"No reasons can be told: {error.detail}."
    steps = None if case is None else waterfall(case)
    return render(
        request,
        "case.html",
        record=record,
        model=model,
        case=case,
        steps=steps,
        currency=currency,
        why_not=why_not,
        known=feedback.read(wired.readers, tenant, record.id),
    )


@router.post("/ui/cases/{prediction}/label")
@opened_by("feedback")
def give_label(request: Request, wired: Wired, tenant: Tenant, form: Submitted, prediction: str) -> Response:
    """Take in what a decided row turned out to be."""
    record, model = recording.read_record(wired.readers, tenant, prediction)
    label = form.verbatim("label") or form.required("label")
    item = {"prediction_id": prediction, "label": label, "amount": form.amount("amount")}
    feedback.give(wired.sessions, tenant, [checked(FeedbackItem, item)])
    currency = None if model is None else _currency(wired, record, model.name)
    return render(
        request, "parts/labelled.html", label=item["label"], amount=item["amount"], currency=currency
    )


@router.get(PATH)
def show_form(request: Request, wired: Wired, tenant: Tenant, model: str, version: Number) -> Response:
    """Ask for a row; an ordinary one is filled in."""
    found = models.read_version(wired.readers, tenant, model, version)
    keeps_rows = models.read_model(wired.readers, tenant, model).model.record_rows
    return render(request, "decide.html", model=model, version=found, keeps_rows=keeps_rows)


@router.get(PATH + "/ready")
def get_ready(request: Request, tenant: Tenant, model: str, version: Number) -> Response:
    """Load what deciding needs, while somebody still reads the form: the first time it takes seconds."""
    loaded = request.app.state.scoring.load(Selector(tenant, model, None, version))
    look_at(loaded, loaded.version.schema["example"])
    return Response(status_code=204)


@router.post(PATH)
def decide(
    *, request: Request, wired: Wired, sender: Sender, form: Submitted, model: str, version: Number
) -> Response:
    """Decide a row, and say why."""
    selector = Selector(sender.tenant, model, None, version)
    loaded = request.app.state.scoring.load(selector)
    row = _row(form, loaded.version.schema)
    case = look_at(loaded, row)
    record = None
    if "keep" in form:
        record = decide_row(loaded, selector, row)
        request.app.state.recorder.write([record])
    return render(
        request,
        "parts/decided.html",
        case=case,
        steps=waterfall(case),
        record=record,
        currency=currency_of(wired.readers, sender.tenant, loaded.version),
    )


def _currency(wired: Wiring, record: DecisionRecord, model: str) -> str | None:
    """What the costs of a record were counted in; None where its version is gone."""
    try:
        version = models.read_version(wired.readers, record.tenant_id, model, record.version_number)
    except NotFoundError:
        return None
    return currency_of(wired.readers, record.tenant_id, version)


def waterfall(case: Case) -> list[Step]:
    """Bars from the baseline to the number that is explained, the strongest push first."""
    ranked = sorted(case.reasons, key=lambda one: -abs(one.contribution))
    shown = [one for one in ranked[:_SHOWN] if one.contribution]
    rest = ranked[len(shown) :]
    parts = [(one.feature, one.value, one.contribution, one.expected_cost) for one in shown]
    if rest:
        told = "1 other column" if len(rest) == 1 else f"{len(rest)} other columns"
        parts.append((told, None, sum(one.contribution for one in rest), None))
    ends, at = [case.baseline], case.baseline
    for _, _, contribution, _ in parts:
        at += contribution
        ends.append(at)
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    steps = []
    for number, (feature, value, contribution, cost) in enumerate(parts):
        begin, end = sorted((ends[number], ends[number + 1]))
        bar = 100 * (begin - low) / span, 100 * (end - begin) / span
        steps.append(Step(feature, value, contribution, cost, *bar))
    return steps


def _row(form: Form, schema: Any) -> dict[str, Any]:
    """The row of a form: numbers and truths as JSON has them, an empty field as missing."""
    row: dict[str, Any] = {"id": form.text("id")} if "id" in form else {}
    given = form.cells("row")
    for column in schema["columns"]:
        text = given.get(column["name"])
        row[column["name"]] = None if text is None else _cell(text, column["type"])
    return row


def _cell(text: str, kind: str) -> Any:
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind != "number" or not is_plain(text.strip()):
        return text  # the decoder says what is wrong with it
    return float(text)
