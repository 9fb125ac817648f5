"""`costboost costs`: what decisions cost, stored under names."""

from typing import Annotated, Any

import typer

from service.cli.options import AsJson, Limit, Url, client_of, read_json
from service.cli.printing import show, show_one

NAME = "costs"
group = typer.Typer(help="Costs that a service keeps under names.", no_args_is_help=True)

_SHOWN = ("id", "name", "revision", "currency")
Costs = Annotated[str, typer.Argument(help='JSON such as {"fn": 500, "fp": 10}, or a file that holds it.')]


@group.command("list")
def list_costs(url: Url = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List all revisions of all costs, newest first."""
    with client_of(url) as client:
        show(
            (one.document for one in client.cost_specs()),
            (*_SHOWN, "created_at"),
            limit=limit,
            as_json=as_json,
        )


@group.command("create")
def create_costs(
    name: Annotated[str, typer.Argument(help="The same name again makes the next revision.")],
    costs: Costs,
    currency: Annotated[str | None, typer.Option(help="Such as EUR.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Store costs, and say what they lead to."""
    with client_of(url) as client:
        made = client.create_cost_spec(name, read_json(costs, "COSTS"), currency=currency)
    _explain(made.document, as_json=as_json)


@group.command("show")
def show_costs(
    cost_spec: Annotated[str, typer.Argument(help="Id, or name.")], url: Url = None, as_json: AsJson = False
) -> None:
    """Show costs, and what they lead to."""
    with client_of(url) as client:
        _explain(client.cost_spec(cost_spec).document, as_json=as_json)


@group.command("check")
def check_costs(costs: Costs, url: Url = None, as_json: AsJson = False) -> None:
    """Say what costs lead to, without storing them."""
    with client_of(url) as client:
        _explain(client.check_costs(read_json(costs, "COSTS")), as_json=as_json)


def _explain(document: Any, *, as_json: bool) -> None:
    show_one(document, _SHOWN, as_json=as_json)
    if not as_json:
        for text in document["consequences"]:
            typer.echo(text)
