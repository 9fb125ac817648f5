"""`costboost datasets`: tables of a service."""

from typing import Annotated

import typer

from service.cli.options import AsJson, File, Limit, Url, client_of, read_roles
from service.cli.printing import show, show_one

NAME = "datasets"
group = typer.Typer(help="Tables that a service has taken in.", no_args_is_help=True)

_SHOWN = ("id", "name", "rows", "label", "class_counts", "positive_class", "created_at")
Dataset = Annotated[str, typer.Argument(help="Its id, or its name and then the newest.")]


@group.command("list")
def list_datasets(url: Url = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List datasets, newest first."""
    with client_of(url) as client:
        columns = ("id", "name", "rows", "label", "created_at")
        show((one.document for one in client.datasets()), columns, limit=limit, as_json=as_json)


@group.command("upload")
def upload(
    file: File,
    label: Annotated[str | None, typer.Option(help="The column that tells the class.")] = None,
    name: Annotated[str | None, typer.Option(help="A name to find it by.")] = None,
    positive_class: Annotated[str | None, typer.Option(help="Of two classes; the rarer if left out.")] = None,
    role: Annotated[list[str] | None, typer.Option(help="COLUMN=ROLE, such as customer=group.")] = None,
    column_type: Annotated[
        list[str] | None, typer.Option("--type", help="COLUMN=TYPE, such as zip=category.")
    ] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Upload a table."""
    roles, types = read_roles(role, "--role"), read_roles(column_type, "--type")
    with client_of(url) as client:
        made = client.create_dataset(
            file, name=name, label=label, positive_class=positive_class, roles=roles, types=types
        )
    show_one(made.document, _SHOWN, as_json=as_json)
    for warning in made.warnings:
        typer.echo(f"{warning['column']}: {warning['detail']}", err=True)


@group.command("show")
def show_dataset(dataset: Dataset, url: Url = None, as_json: AsJson = False) -> None:
    """Show a dataset and its columns."""
    with client_of(url) as client:
        found = client.dataset(dataset)
    show_one(found.document, _SHOWN, as_json=as_json)
    if not as_json:
        typer.echo()
        columns = ("name", "type", "role", "missing", "distinct")
        show(found.columns, columns, limit=len(found.columns), as_json=False)


@group.command("delete")
def delete_dataset(dataset: Dataset, url: Url = None) -> None:
    """Delete a dataset that nothing was trained on."""
    with client_of(url) as client:
        client.delete_dataset(dataset)
