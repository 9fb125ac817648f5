"""API keys of a tenant, and what was done with them and everything else."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.api_keys import ApiKeyIn
from service.api.context import Sender, Tenant, Wired
from service.domain.access import SCOPES
from service.domain.faults import checked
from service.ui.forms import Submitted
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import api_keys, audit_log

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["api-keys"])

_KEYS = 200


@router.get("/ui/keys")
def show_keys(request: Request, wired: Wired, tenant: Tenant, after: After = None) -> Response:
    """List keys and the newest entries of the audit log."""
    part = part_of(audit_log.list_entries(wired.readers, tenant, FETCH, after), key=lambda one: one.id)
    return render(
        request,
        "keys.html",
        keys=api_keys.list_keys(wired.readers, tenant, _KEYS),
        entries=part.lines,
        after=part.after,
        scopes=SCOPES,
    )


@router.post("/ui/keys")
def create_key(request: Request, wired: Wired, sender: Sender, form: Submitted) -> Response:
    """Make a key, and show it this once."""
    plain = {"name": form.required("name"), "scopes": form.ticked("scopes")}
    wish = checked(ApiKeyIn, plain)
    made, token = api_keys.create_key(wired.sessions, sender.tenant, wish.name, wish.scopes, by=sender.actor)
    return render(request, "parts/new_key.html", key=made, token=token)


@router.post("/ui/keys/{api_key}/revoke")
def revoke_key(request: Request, wired: Wired, sender: Sender, api_key: str) -> Response:
    """Make a key useless."""
    api_keys.revoke_key(wired.sessions, sender.tenant, api_key, by=sender.actor)
    request.app.state.keys.forget(api_key)
    return send_on(request, "/ui/keys")
