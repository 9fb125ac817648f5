"""/v1/audit-log: who did what, and when."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.usecases import audit_log

router = APIRouter(route_class=StrictRoute, tags=["audit-log"])

EXAMPLE: JsonDict = {
    "id": "aud_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "at": "2026-01-07T16:05:12Z",
    "actor": "key_019b76da-8c10-7d2e-a1b4-6f5e4d3c2b1a",
    "action": "alias.put",
    "target": "/v1/models/card-fraud/aliases/champion",
    "details": {"version": 8, "reason": "saves 4 % more on March"},
}


class AuditEntryOut(BaseModel):
    """Something that was done."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE}, from_attributes=True)

    id: str
    at: datetime
    actor: str = Field(
        description="API key or training job; `local` without keys, `cli` for the command line."
    )
    action: str
    target: str
    details: Mapping[str, Any]


@router.get(
    "/v1/audit-log",
    operation_id="list_audit_log",
    summary="List what was done",
    responses=responses(400, 422, 503),
)
def list_audit_log(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[AuditEntryOut]:
    """List key creations and revocations, alias moves and deletions, newest first."""
    found = audit_log.list_entries(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, found, key=lambda one: one.id, show=AuditEntryOut.model_validate)
