"""/v1/webhooks: who is told of ended jobs and moved aliases."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Receipted, Tenant, Wired
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.webhooks import Delivery, Webhook, WebhookBody
from service.usecases import webhooks

router = APIRouter(route_class=StrictRoute, tags=["webhooks"])


class WebhookOut(BaseModel):
    """A subscription."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    url: str
    events: list[str]
    created_at: datetime


class NewWebhookOut(WebhookOut):
    """A subscription, with what its deliveries are signed with."""

    secret: str | None = Field(default=None, description="Shown this once.")


class DeliveryOut(BaseModel):
    """An event on its way to a webhook."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    event: str
    status: str = Field(description="pending, delivered or failed.")
    attempts: int
    next_at: datetime = Field(description="When it is tried next, while it is pending.")
    last_status: int | None = Field(description="Status code of the last answer.")
    last_error: str | None = Field(
        description=(
            "refused (no 2xx), unresolved, not_public, not_https, unreachable, tls or timeout; "
            "null after success."
        )
    )
    created_at: datetime
    finished_at: datetime | None


@router.post(
    "/v1/webhooks",
    operation_id="create_webhook",
    summary="Subscribe an address to events",
    status_code=201,
    responses=responses(400, 413, 415, 422, 503),
)
def create_webhook(
    *, response: Response, wired: Wired, tenant: Tenant, body: WebhookBody, receipt: Receipted
) -> NewWebhookOut:
    """Have an address told of events; each post is signed with the secret of the answer."""
    webhook = webhooks.create(wired.sessions, wired.outbound, tenant, body, receipt=receipt)
    response.headers.update({"Location": f"/v1/webhooks/{webhook.id}", "Cache-Control": "no-store"})
    return NewWebhookOut.model_validate(webhook)


@router.get(
    "/v1/webhooks",
    operation_id="list_webhooks",
    summary="List webhooks",
    responses=responses(400, 422, 503),
)
def list_webhooks(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[WebhookOut]:
    """List the webhooks, newest first."""
    found = webhooks.list_webhooks(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, found, key=_key, show=WebhookOut.model_validate)


@router.get(
    "/v1/webhooks/{webhook}",
    operation_id="read_webhook",
    summary="Read a webhook",
    responses=responses(404, 503),
)
def read_webhook(*, wired: Wired, tenant: Tenant, webhook: str) -> WebhookOut:
    """Read a webhook; its secret is not shown again."""
    return WebhookOut.model_validate(webhooks.read(wired.readers, tenant, webhook))


@router.delete(
    "/v1/webhooks/{webhook}",
    operation_id="delete_webhook",
    summary="Delete a webhook",
    status_code=204,
    responses=responses(404, 503),
)
def delete_webhook(*, wired: Wired, tenant: Tenant, webhook: str) -> None:
    """Delete a webhook, with what was still to be delivered to it."""
    webhooks.remove(wired.sessions, tenant, webhook)


@router.get(
    "/v1/webhooks/{webhook}/deliveries",
    operation_id="list_deliveries",
    summary="List what was delivered",
    responses=responses(400, 404, 422, 503),
)
def list_deliveries(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, webhook: str, part: ListSlice
) -> Page[DeliveryOut]:
    """List the deliveries of a webhook, newest first, with how often they were tried."""
    found = webhooks.list_deliveries(wired.readers, tenant, webhook, part.fetch, part.after)
    return page(request, response, part, found, key=_key, show=DeliveryOut.model_validate)


def _key(row: Webhook | Delivery) -> str:
    return row.id
