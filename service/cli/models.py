"""`costboost models`: what a service has been taught."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import AsJson, Limit, Url, client_of, writable
from service.cli.printing import metrics_rows, show, show_one, write_rows

if TYPE_CHECKING:
    from costboost.client import Client

NAME = "models"
group = typer.Typer(help="Models of a service, their versions and aliases.", no_args_is_help=True)

Model = Annotated[str, typer.Argument(help="Its name.")]
Number = Annotated[int, typer.Argument(help="Number of the version.")]


@group.command("list")
def list_models(url: Url = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List models, newest first."""
    columns = ("name", "versions", "latest_version", "aliases", "updated_at")
    with client_of(url) as client:
        show((one.document for one in client.models()), columns, limit=limit, as_json=as_json)


@group.command("versions")
def list_versions(model: Model, url: Url = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List the versions of a model, newest first."""
    columns = ("version", "algorithm", "dataset", "training_seconds", "created_at")
    with client_of(url) as client:
        show((one.document for one in client.versions(model)), columns, limit=limit, as_json=as_json)


@group.command("show")
def show_version(model: Model, version: Number, url: Url = None, as_json: AsJson = False) -> None:
    """Show a version: what it costs first."""
    with client_of(url) as client:
        found = client.version(model, version)
        shown = found.document if as_json else {**found.document, "costs": _costs(client, found.document)}
    names = ("model", "version", "algorithm", "params", "costs", "dataset", "created_at", "artifact_sha256")
    show_one(shown, names, as_json=as_json)
    if not as_json:
        typer.echo()
        write_rows(metrics_rows(found.metrics))


def _costs(client: "Client", version: Mapping[str, Any]) -> str | None:
    """What decisions cost, and under which name that is stored."""
    if (costs := version.get("costs")) is not None:
        return json.dumps(costs)
    if (called := version.get("cost_spec")) is None:
        return None
    from costboost.client import ApiError

    try:
        spec = client.cost_spec(called)
    except ApiError:  # such as with a key that may not read it
        return str(called)
    return f"{spec.name}, revision {spec.revision}: {json.dumps(spec.document['costs'])}"


@group.command("promote")
def promote(
    model: Model,
    version: Number,
    alias: Annotated[str, typer.Option(help="Which pointer to move.")] = "champion",
    reason: Annotated[str | None, typer.Option(help="Why, for the record.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Point an alias at a version."""
    with client_of(url) as client:
        moved = client.set_alias(model, alias, version, reason=reason)
    show_one(moved.document, ("model", "name", "version", "reason"), as_json=as_json)


@group.command("download")
def download(
    model: Model,
    version: Number,
    output: Annotated[
        Path, typer.Argument(dir_okay=False, callback=writable, help="Such as card.costboost.")
    ],
    url: Url = None,
) -> None:
    """Write a version into a file that `costboost predict` reads without a service."""
    with client_of(url) as client:
        client.download(model, version, output)


@group.command("export")
def export(
    model: Model,
    version: Number,
    output: Annotated[Path, typer.Argument(dir_okay=False, callback=writable, help="Such as card.zip.")],
    url: Url = None,
) -> None:
    """Write a version with its report into one file, for `import` into another service."""
    with client_of(url) as client:
        client.export(model, version, output)


@group.command("import")
def import_version(
    model: Model,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Made by `export`.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Take an exported version in as the next one of a model."""
    with client_of(url) as client:
        made = client.import_version(model, file)
    show_one(made.document, ("model", "version", "algorithm"), as_json=as_json)


@group.command("delete")
def delete(
    model: Model,
    version: Annotated[int | None, typer.Option(help="Only this version.")] = None,
    url: Url = None,
) -> None:
    """Delete a model with all its versions, or one version."""
    with client_of(url) as client:
        if version is None:
            client.delete_model(model)
        else:
            client.delete_version(model, version)
