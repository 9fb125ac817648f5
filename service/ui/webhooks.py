"""Webhooks: who is told of what by signed posts, and what became of each post."""

from typing import get_args

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.domain.faults import checked
from service.domain.webhooks import PAUSES, EventType, WebhookBody
from service.ui.forms import Submitted
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import webhooks

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["webhooks"])


@router.get("/ui/webhooks")
def list_webhooks(request: Request, wired: Wired, tenant: Tenant, after: After = None) -> Response:
    """List the webhooks, newest first, and ask for another."""
    found = webhooks.list_webhooks(wired.readers, tenant, FETCH, after)
    part = part_of(found, key=lambda one: one.id)
    return render(request, "webhooks.html", webhooks=part.lines, after=part.after, events=get_args(EventType))


@router.post("/ui/webhooks")
def create_webhook(request: Request, wired: Wired, tenant: Tenant, form: Submitted) -> Response:
    """Subscribe an address, and show this once what its posts are signed with."""
    plain = {"url": form.required("url"), "events": form.ticked("events")}
    wish = checked(WebhookBody, plain)
    made = webhooks.create(wired.sessions, wired.outbound, tenant, wish, receipt=None)
    return render(request, "parts/new_webhook.html", webhook=made)


@router.get("/ui/webhooks/{webhook}")
def show_webhook(
    request: Request, wired: Wired, tenant: Tenant, webhook: str, after: After = None
) -> Response:
    """Show what was posted to an address, newest first."""
    found = webhooks.read(wired.readers, tenant, webhook)
    deliveries = webhooks.list_deliveries(wired.readers, tenant, webhook, FETCH, after)
    part = part_of(deliveries, key=lambda one: one.id)
    return render(
        request,
        "webhook.html",
        webhook=found,
        deliveries=part.lines,
        after=part.after,
        most=len(PAUSES) + 1,
    )


@router.post("/ui/webhooks/{webhook}/delete")
def delete_webhook(request: Request, wired: Wired, tenant: Tenant, webhook: str) -> Response:
    """Post nothing more to an address."""
    webhooks.remove(wired.sessions, tenant, webhook)
    return send_on(request, "/ui/webhooks")
