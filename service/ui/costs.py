"""Costs: an editor that says in words what they imply while they are typed, and what is stored."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from service import learning
from service.api.context import Tenant, Wired
from service.domain import strict_json
from service.domain.cost_specs import AnyCosts, NamedCosts, NamelessCosts
from service.domain.datasets import Dataset
from service.domain.errors import CostboostError, pointer
from service.domain.faults import field_errors, refusal
from service.ui.forms import Form, Submitted, read_number, wrong
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import cost_specs, datasets
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["cost-specs"])

_NAMED: TypeAdapter[Any] = TypeAdapter(NamedCosts)
_NAMELESS: TypeAdapter[Any] = TypeAdapter(NamelessCosts)
_CELLS = ("fn", "fp", "tp", "tn")
#: Tables that can be chosen, and those of which columns are proposed where none is.
_LISTED, _PROPOSED = 200, 20
Named = Annotated[str | None, Query(max_length=200)]


@router.get("/ui/costs")
def list_costs(request: Request, wired: Wired, tenant: Tenant, after: After = None) -> Response:
    """List what is stored, newest first."""
    found = cost_specs.list_cost_specs(wired.readers, tenant, FETCH, after)
    part = part_of(found, key=lambda one: one.id)
    meanings = [(one, cost_specs.meaning_of_kept(one.costs)) for one in part.lines]
    return render(request, "costs.html", specs=meanings, after=part.after)


@router.get("/ui/costs/new")
def show_editor(
    *, request: Request, wired: Wired, tenant: Tenant, name: Named = None, dataset: Named = None
) -> Response:
    """Ask what mistakes cost; of a table that is named the columns are proposed, else of all new ones."""
    tables = datasets.list_datasets(wired.readers, tenant, _LISTED, None)
    meant = [one for one in tables if dataset in (one.id, one.name)][:1] or tables[:_PROPOSED]
    numbers = {one.name for table in meant for one in table.columns if one.type in ("number", "boolean")}
    numbers -= {table.label for table in meant}
    return render(
        request, "costs_new.html", name=name, columns=sorted(numbers), datasets=tables, dataset=dataset
    )


@router.post("/ui/costs/words")
def show_words(request: Request, wired: Wired, tenant: Tenant, form: Submitted) -> Response:
    """Say what costs imply, as far as they are written."""
    try:
        plain = costs_of(form)
        if not plain:
            return render(request, "parts/words.html", meaning=None, error=None)
        costs = validated(_NAMELESS, plain).priced
        meaning = cost_specs.meaning_of(costs)
        dataset = _checked_against(wired, tenant, form, costs)
    except CostboostError as error:
        # While somebody types this is no refusal: it says what is still missing.
        return render(request, "parts/words.html", meaning=None, error=error)
    return render(
        request,
        "parts/words.html",
        meaning=meaning,
        error=None,
        ratio=cost_specs.ratio_of(meaning.cells),
        swapped=cost_specs.look_swapped(meaning.cells, dataset),
    )


@router.post("/ui/costs")
def create_costs(request: Request, wired: Wired, tenant: Tenant, form: Submitted) -> Response:
    """Keep costs under a name."""
    costs = costs_of(form)
    if not costs:
        raise wrong(pointer("fn"), "missing", "say what a missed positive costs, and then a false alarm")
    named = {"name": form.required("name"), **costs}
    if (currency := form.text("currency")) is not None:
        named["currency"] = currency.upper()
    body = validated(_NAMED, named)
    dataset = _checked_against(wired, tenant, form, body.priced)
    spec, _ = cost_specs.create_cost_spec(wired.sessions, tenant, body.name, body.currency, body.priced)
    return send_on(request, f"/ui/costs/{spec.id}" + (f"?dataset={dataset.id}" if dataset else ""))


@router.get("/ui/costs/{cost_spec}")
def show_costs(
    *, request: Request, wired: Wired, tenant: Tenant, cost_spec: str, dataset: Named = None
) -> Response:
    """Show one revision and what it leads to; `dataset` is the table that it was made for."""
    found = cost_specs.read_cost_spec(wired.readers, tenant, cost_spec)
    meaning = cost_specs.meaning_of_kept(found.costs)
    return render(
        request,
        "cost_spec.html",
        spec=found,
        meaning=meaning,
        ratio=cost_specs.ratio_of(meaning.cells),
        swapped=cost_specs.look_swapped(meaning.cells, None),
        dataset=dataset,
    )


def _checked_against(wired: Wiring, tenant: str, form: Form, costs: AnyCosts) -> Dataset | None:
    """Find the table that costs are for, if one is chosen.

    Raises
    ------
    InvalidError
        Its rows have not what the costs read.
    """
    called = form.text("dataset")
    if called is None:
        return None
    dataset = datasets.read_dataset(wired.readers, tenant, called)
    if faults := learning.check_costs(costs, dataset):
        raise refusal(faults)
    return dataset


def costs_of(form: Form) -> dict[str, Any]:
    """Costs of a form: its JSON, or its four cells; empty where nothing is written yet.

    Raises
    ------
    InvalidError, MalformedError
    """
    text = form.text("json")
    cells = {name: cell for name in _CELLS if (cell := _cell(form, name)) is not None}
    if text is None:
        return cells
    found = strict_json.parse(text, at="/json", what="the JSON")
    if not isinstance(found, dict):
        raise wrong("/json", "wrong_type", 'must be an object such as {"fn": 500, "fp": 10}')
    if cells:
        raise wrong("/json", "exclusive", f"leave it empty, or else {' and '.join(cells)} above")
    if beside := [name for name in ("name", "currency") if name in found]:
        raise wrong(pointer("json", beside[0]), "exclusive", "has a field of its own: leave it out here")
    return found


def validated(adapter: TypeAdapter[Any], plain: dict[str, Any]) -> Any:
    """Costs as the domain has them.

    Raises
    ------
    InvalidError
    """
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        raise refusal(field_errors(error.errors(), plain)) from None


def _cell(form: Form, name: str) -> float | dict[str, Any] | None:
    fixed = form.amount(f"{name}.fixed")
    factor, column = form.text(f"{name}.factor"), form.verbatim(f"{name}.column")
    bounds = {bound: form.amount(f"{name}.{bound}") for bound in ("min", "max")}
    given: dict[str, Any] = {bound: amount for bound, amount in bounds.items() if amount is not None}
    if column is not None:
        given["per"] = {column: 1.0 if factor is None else read_number(factor, pointer(name, "factor"))}
    elif factor is not None:
        raise wrong(pointer(name, "column"), "missing", "name the column that the factor is for")
    return {"fixed": fixed or 0.0, **given} if given else fixed
