"""Templates to pages: the environment, how values are written, and the headers that every page has."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from service.api.markup import words as with_code
from service.domain.errors import FieldError
from service.domain.problems.registry import PROBLEMS
from service.ui.assets import address_of
from service.ui.remedies import remedy

#: Nothing from elsewhere, nothing inline, no frame around us.
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
#: Holds the API key of who signed in.
COOKIE: Final = "costboost_key"
_NOTHING: Final = "–"
#: What may stand in an address as it is; Starlette leaves the same.
_OF_ADDRESSES: Final = ":/%#?=@[]!$&'()*+,;"
#: A float has up to 309 digits before the point.
_EXACT: Final = Context(prec=330, rounding=ROUND_HALF_UP)


def render(
    request: Request,
    template: str,
    /,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Make a page, or part of one, of a template."""
    state = request.app.state
    shared = {
        "path": request.url.path,
        "needs_keys": state.needs_keys,
        # Who asked may not be known yet where a page refuses.
        "signed_in": COOKIE in request.cookies,
    }
    text = _environment().get_template(template).render(shared | values)
    return HTMLResponse(text, status, {**HEADERS, **(headers or {})})


def is_partial(request: Request) -> bool:
    """Whether part of a page asks, which puts the answer into itself."""
    return request.headers.get("hx-request") == "true"


def send_on(request: Request, address: str) -> Response:
    """Lead on to another page, after a form was taken."""
    if is_partial(request):
        written = quote(address, safe=_OF_ADDRESSES)
        return Response(status_code=200, headers={**HEADERS, "HX-Redirect": written})
    return RedirectResponse(address, 303)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        money=money,
        number=number,
        percent=percent,
        count=count,
        moment=moment,
        value=value,
        cell=cell,
        data=data,
        words=words,
        place=place,
        capitalize_first=lambda text: text[:1].upper() + text[1:],
        prose=prose,
    )
    found.globals.update(asset=address_of, PROBLEMS=PROBLEMS, remedy=remedy)
    return found


def _rounded(amount: float, digits: int) -> str:
    # A half goes away from zero, as in the browser's `toFixed`, which writes the same numbers.
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(amount).quantize(step, context=_EXACT):,f}"


def number(amount: float | None, digits: int = 4) -> str:
    """Write a number: two decimals from 1 on, else `digits` significant ones."""
    if amount is None:
        return _NOTHING
    if isinstance(amount, int):
        return f"{amount:,}"
    if amount == 0 or abs(amount) >= 1:
        return _rounded(amount, 2)
    exponent = Decimal(abs(amount)).adjusted()
    return _rounded(amount, min(digits - 1 - exponent, 12))


def cash(amount: float) -> str:
    """Write an amount of money: two decimals, and below a tenth as many as show two digits."""
    if amount == 0 or abs(amount) >= 0.1:
        return _rounded(amount, 2)
    return _rounded(amount, min(1 - Decimal(abs(amount)).adjusted(), 12))


def money(amount: float | None, currency: str | None = None) -> Markup:
    """Write an amount of money with its currency, where it has one."""
    if amount is None:
        return Markup("–")
    unit = Markup('<span class="unit">{}</span>&nbsp;').format(currency) if currency else ""
    return Markup('<span class="money">{}{}</span>').format(unit, cash(float(amount)))


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share."""
    return _NOTHING if share is None else f"{_rounded(100.0 * share, digits)} %"


def count(amount: float | None) -> str:
    """Write how many: weights of rows make counts that are not whole."""
    if amount is None:
        return _NOTHING
    return f"{int(amount):,}" if float(amount).is_integer() else number(float(amount))


def moment(at: datetime | None) -> Markup | str:
    """Write a time, in UTC."""
    if at is None:
        return _NOTHING
    utc = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    shown = utc.strftime("%Y-%m-%d %H:%M")
    return Markup('<time datetime="{}">{} UTC</time>').format(utc.isoformat(timespec="seconds"), shown)


def value(one: Any) -> str:
    """Write whatever a parameter or a row may hold."""
    if one is None:
        return _NOTHING
    if isinstance(one, bool):
        return "yes" if one else "no"
    if isinstance(one, float):
        return f"{one:.6g}"
    if isinstance(one, dict) and all(isinstance(part, str | int | float | None) for part in one.values()):
        return ", ".join(f"{words(name)} {value(part)}" for name, part in one.items())
    return one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)


def cell(cost: float | Mapping[str, Any], currency: str | None = None) -> Markup:
    """Write what an outcome costs, such as "5.00 + 0.02 x amount, at least 15.00"."""
    if not isinstance(cost, Mapping):
        return money(cost, currency)
    terms = [
        escape(name) if factor == 1 else Markup("{} × {}").format(number(float(factor)), name)
        for name, factor in cost.get("per", {}).items()
    ]
    fixed = cost.get("fixed", 0.0)
    if fixed or not terms:
        terms.insert(0, money(fixed, currency))
    said = Markup(" + ").join(terms)
    for bound, told in (("min", "at least"), ("max", "at most")):
        if (amount := cost.get(bound)) is not None:
            said += Markup(", {} {}").format(told, money(amount, currency))
    return said


def words(name: str) -> str:
    """A name of a field as words."""
    return name.replace("_", " ")


def place(fault: FieldError) -> str:
    """Where a fault is: as the label of a field says it, or the line and column of a table."""
    if fault.line is not None:
        return fault.place
    return " › ".join(part.replace("~1", "/").replace("~0", "~") for part in fault.pointer.split("/") if part)


def prose(text: str) -> Markup:
    """Text in which what stands between backticks is code."""
    return Markup(with_code(text))  # noqa: S704 - escaped there


def data(found: Any) -> Markup:
    """JSON for a script to read; no text in it can end the element that it stands in."""
    text = json.dumps(found, allow_nan=False, separators=(",", ":"), default=str)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704
