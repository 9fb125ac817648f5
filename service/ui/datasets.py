"""Tables: bringing one, and seeing what is in it."""

import functools
import re
from typing import Any, Final

import anyio.to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Sender, Tenant, Wired
from service.api.datasets import intake_limiter, intake_of
from service.api.uploads import receive_form, validated_options
from service.domain.datasets import Dataset, IntakeOptions
from service.domain.errors import pointer
from service.ui.charts import profile_charts
from service.ui.forms import wrong
from service.ui.lists import FETCH, After, part_of
from service.ui.rendering import render, send_on
from service.ui.routes import PageRoute
from service.usecases import datasets
from service.wiring import Wiring

router = APIRouter(route_class=PageRoute, include_in_schema=False, tags=["datasets"])

#: Columns that are drawn: more would make the page heavy.
_DRAWN = 40
#: A name between commas, which in quotes may hold some itself.
_LISTED: Final = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^,]*?))\s*(?:,|$)')
#: Fields of the form that name columns, one or several by commas, and the role that these get.
_ROLES = ("cost", "id", "time", "group", "weight", "subject", "ignore")


@router.get("/ui/datasets")
def list_datasets(request: Request, wired: Wired, tenant: Tenant, after: After = None) -> Response:
    """List the tables, newest first."""
    found = datasets.list_datasets(wired.readers, tenant, FETCH, after)
    part = part_of(found, key=lambda one: one.id)
    return render(request, "datasets.html", datasets=part.lines, after=part.after)


@router.get("/ui/datasets/new")
def show_form(request: Request) -> Response:
    """Ask for a table."""
    return render(request, "dataset_new.html", roles=_ROLES)


@router.post("/ui/datasets")
async def create_dataset(request: Request, wired: Wired, tenant: Tenant) -> Response:
    """Take a table in."""
    dataset = await _take(request, wired, tenant)
    return send_on(request, f"/ui/datasets/{dataset.id}")


@router.get("/ui/datasets/{dataset}")
def show_dataset(request: Request, wired: Wired, tenant: Tenant, dataset: str) -> Response:
    """Show how a table was understood; what is in it comes after, for it takes a moment."""
    return render(request, "dataset.html", dataset=datasets.read_dataset(wired.readers, tenant, dataset))


@router.get("/ui/datasets/{dataset}/profile")
def show_profile(request: Request, wired: Wired, tenant: Tenant, dataset: str) -> Response:
    """Show what is in each column."""
    profile = datasets.profile_dataset(wired.readers, intake_of(wired), tenant, dataset)
    charts = profile_charts(profile)
    return render(
        request,
        "parts/profile.html",
        profile=profile,
        charts=charts[:_DRAWN],
        left_out=max(0, len(charts) - _DRAWN),
        dataset=dataset,
    )


@router.post("/ui/datasets/{dataset}/delete")
def delete_dataset(request: Request, wired: Wired, sender: Sender, dataset: str) -> Response:
    """Delete a table to which nothing refers."""
    datasets.delete_dataset(wired.sessions, wired.store, sender.tenant, dataset, by=sender.actor)
    return send_on(request, "/ui/datasets")


async def _take(request: Request, wired: Wiring, tenant: str) -> Dataset:
    with wired.store.spool() as path:
        form = await receive_form(request, path)
        create = functools.partial(
            datasets.create_dataset,
            wired.sessions,
            intake_of(wired),
            tenant,
            form.upload,
            _options(form.fields, form.called),
        )
        return await anyio.to_thread.run_sync(create, limiter=intake_limiter(request))


def _options(fields: dict[str, str], called: str | None) -> IntakeOptions:
    # Label and class are called as the table calls them, spaces around them too.
    told = {"name": fields.get("name", "").strip()}
    told |= {name: fields.get(name, "") for name in ("label", "positive_class")}
    plain: dict[str, Any] = {name: text for name, text in told.items() if text}
    if called is not None:
        plain.setdefault("name", called)
    plain["roles"] = roles = dict[str, str]()
    for role in _ROLES:
        for column in _listed(fields.get(f"roles.{role}", "")):
            if column in roles:
                detail = f"a column that is named here is also named under {roles[column]}: it has one role"
                raise wrong(pointer(f"roles.{role}"), "duplicate", detail)
            roles[column] = role
    return validated_options(plain)


def _listed(text: str) -> list[str]:
    """Names between commas, without the spaces around them; in quotes a name is as it is."""
    found = _LISTED.finditer(text)
    names = [match["plain"] or (match["quoted"] or "").replace('""', '"') for match in found]
    return [name for name in names if name]
