"""Two to four versions side by side, with their differences row by row."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Tenant, Wired
from service.ui.rendering import render
from service.ui.routes import PageRoute
from service.ui.units import currency_of
from service.usecases.comparing import compare

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["models"])

Numbers = Annotated[list[Annotated[int, Query(ge=1, lt=2**31)]], Query(max_length=20)]


@router.get("/ui/models/{model}/compare")
def show_comparison(
    request: Request,
    wired: Wired,
    tenant: Tenant,
    model: str,
    version: Numbers = [],  # noqa: B006
) -> Response:
    """Compare versions with the first one named."""
    found = compare(wired.readers, wired.store, tenant, model, version)
    currencies = [currency_of(wired.readers, tenant, one.version) for one in found]
    return render(request, "compare.html", model=model, compared=found, currencies=currencies)
