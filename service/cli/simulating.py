"""`costboost simulate`: what decisions would cost otherwise."""

import json
from typing import Annotated, Any

import typer

from service.cli.explaining import UsageError
from service.cli.options import AsJson, Costs, Url, client_of, read_json
from service.cli.printing import money, write_rows

Capacity = Annotated[
    str | None, typer.Option(help="Reviews at most, such as 400/day; file, hour, day, week or month.")
]


def simulate(
    model: Annotated[str, typer.Argument(help="Name of the model.")],
    costs: Costs = None,
    capacity: Capacity = None,
    priors: Annotated[
        str | None, typer.Option(help='Shares of classes: JSON such as {"fraud": 0.01}.')
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Labelled rows to price; left out: those set aside in training.")
    ] = None,
    version: Annotated[int | None, typer.Option(help="Of the model; the champion if left out.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Say what a model's decisions would cost at other costs, shares of classes or numbers of reviewers."""
    asked = {
        "costs": read_json(costs, "--costs"),
        "capacity": read_capacity(capacity),
        "priors": read_json(priors, "--priors"),
        "dataset": dataset,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    with client_of(url) as client:
        told = client.simulate(model, version=version, **given)
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    write_rows([["", "cost", "95 % interval", "per row"], *_rows(told)])
    if told["shadow_price"] is not None:
        typer.echo(f"a place in the review is worth {money(told['shadow_price'])}")
    for warning in told["warnings"]:
        typer.echo(warning["detail"], err=True)


def _rows(told: dict[str, Any]) -> list[list[str]]:
    rows = [
        ["as it decides now", told["current"]],
        ["least expected cost", told["optimum"]],
        ["saved", told["saved"]],
    ]
    shown = [
        [name, money(cost["cost"]), _interval(cost["ci95"]), money(cost["cost_per_row"])]
        for name, cost in rows
    ]
    for action, cost in told["baselines"]["constant"].items():
        shown.append([f"always {action}", money(cost), "", money(cost / told["rows"])])
    return shown


def _interval(ci95: list[float] | None) -> str:
    return "too few rows" if ci95 is None else f"{money(ci95[0])} to {money(ci95[1])}"


def read_capacity(text: str | None) -> dict[str, Any] | None:
    """`400/day` as the API has it; without a period the whole file is meant.

    Raises
    ------
    UsageError
        It does not begin with a number.
    """
    if text is None:
        return None
    most, _, period = text.partition("/")
    if not most.isdecimal():
        raise UsageError("--capacity is a number of reviews, with a period such as 400/day")
    return {"max": int(most), "per": period or "file"}


COMMANDS = (simulate,)
