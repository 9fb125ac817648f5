"""Asking for a training: a form whose parameters are those that the chosen algorithm declares."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from service import learning
from service.api.context import Sender, Tenant, Wired
from service.api.training_jobs import ceilings_of
from service.domain import strict_json
from service.domain.errors import NotFoundError, pointer
from service.domain.faults import checked
from service.domain.training import TrainingJob, TrainingSpec
from service.ui.forms import Form, Submitted, read_number, wrong
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import cost_specs, datasets, jobs, models, training
from service.usecases.planning import plan
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["training-jobs"])

_LISTED = 200
_CHOICES = ("calibration", "decision_rule", "threshold_aim", "train_costs")
Named = Annotated[str | None, Query(max_length=200)]


@dataclass(frozen=True)
class Field:
    """A parameter as a form asks for it.

    Attributes
    ----------
    kind : str
        "number", "whole", "choice" or "text".
    choices : tuple of str
        What can be chosen; of a text: what is suggested.
    """

    name: str
    kind: str
    default: str
    says: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@router.get("/ui/trainings")
def list_trainings(request: Request, wired: Wired, tenant: Tenant, after: After = None) -> Response:
    """List the jobs, newest first."""
    found = jobs.list_jobs(wired.readers, TrainingJob, tenant, FETCH, after)
    part = part_of(found, key=lambda view: view.job.id)
    return render(request, "trainings.html", jobs=part.lines, after=part.after)


@router.get("/ui/trainings/new")
def show_form(
    *,
    request: Request,
    wired: Wired,
    sender: Sender,
    model: Named = None,
    dataset: Named = None,
    cost_spec: Named = None,
) -> Response:
    """Ask what shall be trained."""
    tenant = sender.tenant
    return render(
        request,
        "training_new.html",
        model=model,
        dataset=dataset or (model and _learned_last(wired, tenant, model)),
        cost_spec=cost_spec,
        datasets=datasets.list_datasets(wired.readers, tenant, _LISTED, None),
        cost_specs=cost_specs.list_cost_specs(wired.readers, tenant, _LISTED, None),
    )


def _learned_last(wired: Wiring, tenant: str, model: str) -> str | None:
    """The table of a model's newest version, if there is one."""
    try:
        versions = models.list_versions(wired.readers, tenant, model, 1, None)
    except NotFoundError:
        return None
    return versions[0].dataset_id if versions else None


@router.get("/ui/trainings/algorithms")
def show_algorithms(request: Request) -> Response:
    """Give what can be chosen; after the page, for the first look at the algorithms takes seconds."""
    known = sorted(learning.algorithms(), key=lambda one: (not one.default, one.name))
    return render(request, "parts/algorithms.html", algorithms=known)


@router.get("/ui/trainings/params")
def show_params(request: Request, algorithm: Annotated[str, Query(max_length=100)]) -> Response:
    """Give the fields of an algorithm's parameters."""
    found = learning.algorithm(algorithm)
    if found is None:
        raise NotFoundError("algorithm", algorithm)
    return render(request, "parts/params.html", fields=_fields(algorithm), algorithm=found)


@router.post("/ui/trainings/plan")
def show_plan(request: Request, wired: Wired, tenant: Tenant, form: Submitted) -> Response:
    """Say what would be trained."""
    found = plan(wired.readers, wired.store, tenant, _spec(form), ceilings=ceilings_of(wired))
    return render(request, "parts/plan.html", plan=found)


@router.post("/ui/trainings")
def create_training(request: Request, wired: Wired, tenant: Tenant, form: Submitted) -> Response:
    """Put a training in the queue."""
    view = training.submit(
        wired.sessions,
        wired.readers,
        wired.store,
        queue=wired.queue,
        tenant=tenant,
        spec=_spec(form),
        ceilings=ceilings_of(wired),
    )
    return send_on(request, f"/ui/jobs/{view.job.id}")


def _spec(form: Form) -> TrainingSpec:
    algorithm = form.text("algorithm") or "auto"
    split = {
        "kind": form.text("split.kind"),
        "column": form.verbatim("split.column"),
        "test_fraction": form.amount("split.test_fraction"),
        "folds": form.whole("split.folds"),
    }
    plain = {
        "model": form.required("model"),
        "dataset": form.required("dataset"),
        "cost_spec": form.required("cost_spec"),
        "algorithm": algorithm,
        "params": _params(algorithm, form),
        "search": _search(form),
        "split": _given(split),
        "on_success": _given({"alias": form.text("alias"), "record_rows": "record_rows" in form or None}),
        **_given({name: form.text(name) for name in _CHOICES}),
        **_given({"min_recall": form.amount("min_recall"), "seed": form.whole("seed")}),
    }
    return checked(TrainingSpec, plain)


def _search(form: Form) -> dict[str, Any] | None:
    text = form.text("search.params")
    given = _given({"trials": form.whole("search.trials"), "strategy": form.text("search.strategy")})
    if text is None:
        if given:
            raise wrong(pointer("search", "params"), "missing", "say which parameters are looked for")
        return None
    return {"params": strict_json.parse(text, at=pointer("search", "params"), what="the JSON"), **given}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in values.items() if one is not None}


def _params(algorithm: str, form: Form) -> dict[str, Any]:
    found = learning.algorithm(algorithm)
    known = {} if found is None else found.params["properties"]
    return {
        name: _read(text, known.get(name, {}), pointer("params", name))
        for name, text in form.within("params").items()
    }


def _read(text: str, schema: Mapping[str, Any], at: str) -> Any:
    """A parameter as its schema wants it; whether it is allowed, the estimator says."""
    kinds = _kinds(schema)
    if text in ("true", "false") and "boolean" in kinds:
        return text == "true"
    if text[0] in "{[":
        return strict_json.parse(text, at=at)
    if "string" in kinds or "enum" in kinds:
        try:
            return _number(text, at) if kinds & {"integer", "number"} else text
        except ValueError:
            return text
    if kinds & {"integer", "number"}:
        return _number(text, at)
    raise wrong(at, "wrong_type", "must be one of the values that the field tells")


def _number(text: str, at: str) -> int | float:
    found = read_number(text, at)
    return int(found) if found.is_integer() and "." not in text and "e" not in text.lower() else found


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    parts = schema.get("anyOf", [schema])
    return {"enum" if "enum" in part else part.get("type", "") for part in parts}


def _fields(algorithm: str) -> list[Field]:
    found = learning.algorithm(algorithm)
    assert found is not None
    return [_field(name, schema) for name, schema in found.params["properties"].items()]


def _field(name: str, schema: Mapping[str, Any]) -> Field:
    parts = schema.get("anyOf", [schema])
    kinds = _kinds(schema)
    default, says = _told(schema.get("default")), schema.get("description", "")
    choices = tuple(_told(one) for part in parts for one in part.get("enum", ()))
    if kinds <= {"boolean", "null"}:
        return Field(name, "choice", default, says, ("true", "false"))
    if kinds <= {"enum", "null"}:
        return Field(name, "choice", default, says, choices)
    if kinds <= {"integer", "number", "null"}:
        part = next(one for one in parts if one.get("type") in ("integer", "number"))
        kind = "whole" if "integer" in kinds and "number" not in kinds else "number"
        return Field(name, kind, default, says, (), part.get("minimum"), part.get("maximum"))
    return Field(name, "text", default, says, choices)


def _told(one: Any) -> str:
    return one if isinstance(one, str) else json.dumps(one)
