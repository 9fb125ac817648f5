"""/v1/cost-specs: costs with a name, checked and explained."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.conditions import IMMUTABLE, REVALIDATE
from service.api.context import Receipted, Tenant, Wired
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.cost_specs import CostSpec, NamedCosts, NamelessCosts
from service.domain.costs import Costs
from service.usecases import cost_specs
from service.usecases.cost_specs import Meaning, meaning_of, meaning_of_kept

router = APIRouter(route_class=StrictRoute, tags=["cost-specs"])

EXAMPLE: JsonDict = {
    "id": "cs_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "name": "card-fraud",
    "revision": 3,
    "currency": "EUR",
    "costs": {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}}},
    "cells": [
        {"name": "fn", "true": "positive", "action": "negative", "cost": {"per": {"amount": 1.0}, "min": 15}}
    ],
    "checks": {
        "reasonable": None,
        "explanation": "the costs depend on the row: a training counts the rows in which ...",
        "per_row": True,
        "dominated_actions": [],
    },
    "consequences": ["flag when p > 0.0291 at amount 500"],
    "created_at": "2026-01-05T09:30:00Z",
}
_BODY = Body(
    openapi_examples={
        "binary": {"value": {"name": "card-fraud", "currency": "EUR", "fn": 500, "fp": 10}},
        "nested": {"value": {"name": "card-fraud", "costs": {"fn": 500, "fp": 10}}},
        "matrix": {
            "value": {
                "name": "triage",
                "classes": ["a", "b", "c"],
                "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]],
                "orientation": "rows_true",
            }
        },
    }
)


class Cost(BaseModel):
    """One cost with its name."""

    name: str = Field(description="fn, fp, tp, tn, or true class x action.")
    true: str
    action: str
    cost: Any = Field(description="A number, or an object with fixed, per, min and max.")


class Checks(BaseModel):
    """What was checked."""

    reasonable: bool | None = Field(description="Null where it depends on the row.")
    explanation: str | None = Field(description="Why `reasonable` is not true.")
    per_row: bool
    dominated_actions: list[str] = Field(description="Actions that another one beats for every class.")


class MeaningOut(BaseModel):
    """What costs mean."""

    cells: list[Cost]
    checks: Checks
    consequences: list[str] = Field(description="What is decided, in words.")


class CostSpecOut(MeaningOut):
    """A revision of named costs."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    name: str
    revision: int
    currency: str | None
    costs: Costs = Field(description="As they were written.")
    created_at: datetime

    @classmethod
    def of(cls, spec: CostSpec, meaning: Meaning | None = None) -> "CostSpecOut":
        """Show a cost spec."""
        return cls(
            id=spec.id,
            name=spec.name,
            revision=spec.revision,
            currency=spec.currency,
            costs=spec.costs,
            created_at=spec.created_at,
            **_shown(meaning or meaning_of_kept(spec.costs)),
        )


def _shown(meaning: Meaning) -> dict[str, Any]:
    return {"cells": meaning.cells, "checks": meaning.checks, "consequences": meaning.consequences}


@router.post(
    "/v1/cost-specs",
    operation_id="create_cost_spec",
    summary="Keep costs under a name",
    status_code=201,
    responses=responses(400, 413, 415, 422, 503),
)
def create_cost_spec(
    *,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    receipt: Receipted,
    body: Annotated[NamedCosts, _BODY],
) -> CostSpecOut:
    """Check costs and keep them; the same name again makes its next revision, with an id of its own."""
    spec, meaning = cost_specs.create_cost_spec(
        wired.sessions, tenant, body.name, body.currency, body.priced, at=body.at, receipt=receipt
    )
    response.headers["Location"] = f"/v1/cost-specs/{spec.id}"
    return CostSpecOut.of(spec, meaning)


@router.post(
    "/v1/cost-specs/validate",
    operation_id="validate_cost_spec",
    summary="Check costs without keeping them",
    responses=responses(400, 413, 415, 422),
)
def validate_cost_spec(*, body: Annotated[NamelessCosts, _BODY]) -> MeaningOut:
    """Check costs and say what they lead to; the name may be left out."""
    return MeaningOut(**_shown(meaning_of(body.priced, body.at)))


@router.get(
    "/v1/cost-specs",
    operation_id="list_cost_specs",
    summary="List cost specs",
    responses=responses(400, 422, 503),
)
def list_cost_specs(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[CostSpecOut]:
    """List all revisions, newest first."""
    found = cost_specs.list_cost_specs(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, found, key=lambda spec: spec.id, show=CostSpecOut.of)


@router.get(
    "/v1/cost-specs/{cost_spec}",
    operation_id="read_cost_spec",
    summary="Read a cost spec",
    responses=responses(404, 503),
)
def read_cost_spec(*, response: Response, wired: Wired, tenant: Tenant, cost_spec: str) -> CostSpecOut:
    """Read one revision by its id, or the latest one of a name."""
    found = cost_specs.read_cost_spec(wired.readers, tenant, cost_spec)
    etag = f'"{found.id}"'
    response.headers.update(
        {"ETag": etag, "Cache-Control": IMMUTABLE if found.id == cost_spec else REVALIDATE}
    )
    return CostSpecOut.of(found)
