"""/v1/api-keys: who may ask, and for what."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.conditions import REVALIDATE
from service.api.context import Receipted, Sender, Tenant, Wired
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.access import MAX_KEY_NAME, ApiKey, Scope
from service.domain.wording import ONE_LINE
from service.usecases import api_keys

router = APIRouter(route_class=StrictRoute, tags=["api-keys"])

EXAMPLE: JsonDict = {
    "id": "key_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "name": "checkout",
    "scopes": ["predict"],
    "created_at": "2026-01-05T09:30:00Z",
    "created_by": "cli",
    "revoked_at": None,
}
_TOKEN = "cb_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51_" + "5e" * 32


class ApiKeyIn(BaseModel):
    """The key that is wanted."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"name": "checkout", "scopes": ["predict"]}}
    )

    name: str = Field(min_length=1, max_length=MAX_KEY_NAME, pattern=ONE_LINE)
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=20)] = Field(
        description="What it may do; `admin` may do everything."
    )


class ApiKeyOut(BaseModel):
    """A key, without its secret."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    created_by: str = Field(description="The key it was made with, or `cli`.")
    revoked_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> "ApiKeyOut":
        """Show a key."""
        return cls(
            id=key.id,
            name=key.name,
            scopes=list(key.scopes),
            created_at=key.created_at,
            created_by=key.created_by,
            revoked_at=key.revoked_at,
        )


class NewApiKey(ApiKeyOut):
    """A key with its secret, shown this once."""

    model_config = ConfigDict(json_schema_extra={"example": {**EXAMPLE, "key": _TOKEN}})

    key: str | None = Field(
        default=None, description="What is sent as `Authorization: Bearer`; a retry is answered without it."
    )


@router.post(
    "/v1/api-keys",
    operation_id="create_api_key",
    summary="Make an API key",
    status_code=201,
    responses=responses(400, 413, 415, 422, 503),
)
def create_api_key(
    *, response: Response, wired: Wired, sender: Sender, receipt: Receipted, wish: ApiKeyIn
) -> NewApiKey:
    """Make a key of the caller's tenant; its secret is in this answer and nowhere else."""
    made, token = api_keys.create_key(
        wired.sessions, sender.tenant, wish.name, wish.scopes, by=sender.actor, receipt=receipt
    )
    response.headers.update({"Location": f"/v1/api-keys/{made.id}", "Cache-Control": "no-store"})
    return NewApiKey(**ApiKeyOut.of(made).model_dump(), key=token)


@router.get(
    "/v1/api-keys", operation_id="list_api_keys", summary="List API keys", responses=responses(400, 422, 503)
)
def list_api_keys(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[ApiKeyOut]:
    """List the keys of the tenant, newest first, revoked ones too."""
    found = api_keys.list_keys(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, found, key=lambda one: one.id, show=ApiKeyOut.of)


@router.get(
    "/v1/api-keys/{api_key}",
    operation_id="read_api_key",
    summary="Read an API key",
    responses=responses(404, 503),
)
def read_api_key(*, response: Response, wired: Wired, tenant: Tenant, api_key: str) -> ApiKeyOut:
    """Read what is known about a key."""
    found = api_keys.read_key(wired.readers, tenant, api_key)
    etag = f'"{found.id}{"" if found.revoked_at is None else ".revoked"}"'
    response.headers.update({"ETag": etag, "Cache-Control": REVALIDATE})
    return ApiKeyOut.of(found)


@router.delete(
    "/v1/api-keys/{api_key}",
    operation_id="revoke_api_key",
    summary="Revoke an API key",
    status_code=204,
    responses=responses(404, 503),
)
def revoke_api_key(*, request: Request, wired: Wired, sender: Sender, api_key: str) -> None:
    """Make a key useless, within five seconds everywhere; twice is safe."""
    api_keys.revoke_key(wired.sessions, sender.tenant, api_key, by=sender.actor)
    request.app.state.keys.forget(api_key)
