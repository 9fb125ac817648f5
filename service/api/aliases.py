"""/v1/models/{model}/aliases: movable pointers to versions."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import opened_by
from service.api.conditions import REVALIDATE, require_absence, require_match, require_no_match
from service.api.context import Sender, Tenant, Wired
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.models import Alias
from service.domain.training import NAME_PATTERN
from service.usecases import models

router = APIRouter(route_class=StrictRoute, tags=["models"])

PATH = "/v1/models/{model}/aliases/{alias}"

AliasName = Annotated[str, Path(pattern=NAME_PATTERN, examples=["champion"])]


class AliasIn(BaseModel):
    """Where an alias shall point, and why."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"version": 8, "reason": "saves 4 % more on March"}}
    )

    version: int = Field(strict=True, ge=1, lt=2**31)
    reason: str = Field(default="", max_length=2000)


class AliasOut(BaseModel):
    """Where an alias points."""

    model: str
    name: str
    version: int
    reason: str
    updated_at: datetime

    @classmethod
    def of(cls, model: str, alias: Alias) -> "AliasOut":
        """Show an alias."""
        return cls(
            model=model,
            name=alias.name,
            version=alias.version_number,
            reason=alias.reason,
            updated_at=alias.updated_at,
        )


def etag_of(alias: Alias) -> str:
    """Strong tag: an alias made anew under its old name has another id."""
    return f'"{alias.id}.{alias.revision}"'


@router.get(
    PATH,
    operation_id="read_alias",
    summary="Read an alias",
    responses=responses(404, 503),
)
@opened_by("registry", "train", "predict")
def read_alias(*, response: Response, wired: Wired, tenant: Tenant, model: str, alias: str) -> AliasOut:
    """Read where an alias points; `ETag` is what `If-Match` wants."""
    found = models.read_alias(wired.readers, tenant, model, alias)
    response.headers.update({"ETag": etag_of(found), "Cache-Control": REVALIDATE})
    return AliasOut.of(model, found)


@router.put(
    PATH,
    operation_id="put_alias",
    summary="Make or move an alias",
    responses={
        201: {"description": "Made", "model": AliasOut},
        **responses(400, 404, 412, 413, 415, 422, 428, 503),
    },
)
def put_alias(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    sender: Sender,
    model: str,
    alias: AliasName,
    wish: AliasIn,
) -> AliasOut:
    """Make an alias, or move it: then `If-Match` is required."""

    def guard(present: Alias | None) -> None:
        if present is None:
            require_no_match(request)
        else:
            require_absence(request)
            require_match(request, etag_of(present))

    placed, made = models.put_alias(
        wired.sessions,
        sender.tenant,
        model,
        alias,
        guard,
        number=wish.version,
        reason=wish.reason,
        by=sender.actor,
    )
    request.app.state.scoring.forget(sender.tenant, model)
    response.headers["ETag"] = etag_of(placed)
    if made:
        response.status_code = 201
        response.headers["Location"] = request.url.path
    return AliasOut.of(model, placed)


@router.delete(
    PATH,
    operation_id="delete_alias",
    summary="Delete an alias",
    status_code=204,
    responses=responses(404, 412, 428, 503),
)
def delete_alias(*, request: Request, wired: Wired, sender: Sender, model: str, alias: str) -> None:
    """Delete an alias; its version stays. `If-Match` is required."""

    def guard(present: Alias) -> None:
        require_match(request, etag_of(present))

    models.delete_alias(wired.sessions, sender.tenant, model, alias, guard, by=sender.actor)
    request.app.state.scoring.forget(sender.tenant, model)
