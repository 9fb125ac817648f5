"""`costboost train` and `costboost predict`: with a service, or in this process and with a file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.explaining import UsageError
from service.cli.options import (
    AsJson,
    Costs,
    File,
    Url,
    client_of,
    read_json,
    read_roles,
    settings_of,
    spare,
    table_endings,
    table_file,
    writable,
)
from service.cli.printing import metrics_rows, show, write_rows

if TYPE_CHECKING:
    from costboost.client import Client
    from service.cli.local import LocalModel

Parts = Annotated[list[str] | None, typer.Option(help="COLUMN=ROLE, such as customer=group.")]

#: How the name of a file ends that holds a model.
_ENDING = ".costboost"
#: What is not said in `--spec`, and where it is.
_ELSEWHERE = {
    "data": "the first argument",
    "dataset": "the first argument",
    "model": "--model",
    "options": "an option of its own, such as --label,",
    "label": "--label",
    "positive_class": "--positive-class",
    "roles": "--role",
    "types": "--type",
}


def train(
    data: Annotated[
        str,
        typer.Argument(
            help="A file with the table, or a folder of Parquet files; of a service also a dataset."
        ),
    ],
    costs: Annotated[
        str, typer.Option(help='What decisions cost: JSON such as {"fn": 500, "fp": 10}, or a file with it.')
    ],
    label: Annotated[str | None, typer.Option(help="The column that tells the class.")] = None,
    positive_class: Annotated[str | None, typer.Option(help="Of two classes; the rarer if left out.")] = None,
    role: Parts = None,
    column_type: Annotated[
        list[str] | None, typer.Option("--type", help="COLUMN=TYPE, such as zip=category.")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="The default one if left out.")] = None,
    params: Annotated[str | None, typer.Option(help='JSON such as {"n_estimators": 200}.')] = None,
    spec: Annotated[
        str | None, typer.Option(help="Anything else of a training job, as JSON: split, search, seed, …")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Its name; that of the file if left out.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(dir_okay=False, callback=writable, help="File for the model, if no service is asked."),
    ] = None,
    compute: Annotated[
        str | None,
        typer.Option(help="Who reads and fits the rows of a folder: local, dask://… or dask+tls://…"),
    ] = None,
    url: Url = None,
) -> None:
    """Train: in this process into a file, or with `--url` as a job of a service."""
    body = {
        "costs": read_json(costs, "--costs"),
        "algorithm": algorithm,
        "params": read_json(params, "--params"),
        **_read_spec(spec),
    }
    told = {
        "label": label,
        "positive_class": positive_class,
        "roles": read_roles(role, "--role"),
        "types": read_roles(column_type, "--type"),
    }
    options = {name: value for name, value in told.items() if value}
    body = {name: value for name, value in body.items() if value is not None}
    if not Path(data).is_file() and Path(data).suffix.lower() in table_endings():
        raise UsageError(f"there is no file {data}")
    name = model or Path(data).absolute().stem.lower().replace(" ", "-")
    if compute is not None and not Path(data).is_dir():
        raise UsageError("--compute is for a folder of Parquet files")
    if Path(data).is_dir() and url is not None:
        raise UsageError(
            "a folder is trained without a service, into a file: leave out --url and COSTBOOST_URL"
        )
    if url is None:
        _train_here(Path(data), name, body, options, output or Path(name + _ENDING), compute)
    elif output is not None:
        raise UsageError("--output is for training without a service; `costboost models download` has it")
    else:
        _train_there(url, data, name, body, options)


def _read_spec(text: str | None) -> dict[str, Any]:
    """What has no option of its own.

    Raises
    ------
    UsageError
        Something of it has.
    """
    spec: dict[str, Any] = read_json(text, "--spec") or {}
    for name, option in _ELSEWHERE.items():
        if name in spec:
            raise UsageError(f"--spec does not take {name}: {option} says it")
    return spec


def _train_here(
    path: Path, name: str, body: dict[str, Any], options: dict[str, Any], output: Path, compute: str | None
) -> None:
    if not path.exists():
        told = "what a service has taken in needs --url or COSTBOOST_URL"
        raise UsageError(f"there is no file {path}; {told}")
    writable(output)
    spare(output, path)
    spec = {**body, "model": name}
    if path.is_dir():
        from service.cli.partitioned import train_folder
        from service.wiring import choose_compute

        given = {} if compute is None else {"compute": compute}
        place = choose_compute(settings_of(None, workers=1, **given))
        made = train_folder(path, spec, options, place, _progress())
    else:
        table_file(path)
        from service.cli.local import train_locally

        made = train_locally(path, spec, options, _progress())
    output.write_bytes(made.artifact)
    for warning in made.warnings:
        typer.echo(warning, err=True)
    _told(made)
    typer.echo(f"written to {output}; decide with: costboost predict {output} ROWS", err=True)


def _told(made: "LocalModel") -> None:
    for text in made.consequences:
        typer.echo(text)
    write_rows(metrics_rows(made.metrics))


def _progress() -> Any:
    from costboost.client.jobs import ProgressBar

    bar = ProgressBar()
    return lambda phase, _round, _rounds, fraction, _figures: bar.draw(
        phase, fraction, is_last=fraction == 1.0
    )


def _train_there(url: str, data: str, name: str, body: dict[str, Any], options: dict[str, Any]) -> None:
    given = Path(data) if Path(data).is_file() else data
    with client_of(url) as client:
        job = client.train(name, given, options=options, **body)
        typer.echo(job.id, err=True)
        for warning in _warnings(client, job.document, is_new=isinstance(given, Path)):
            typer.echo(warning, err=True)
        outcome = job.wait(progress=True).outcome
    typer.echo(f"{outcome['model']} version {outcome['version']}")
    write_rows(metrics_rows(outcome["metrics"]))
    for warning in outcome.get("warnings", ()):
        typer.echo(warning["detail"], err=True)


def _warnings(client: "Client", job: Mapping[str, Any], *, is_new: bool) -> list[str]:
    """What may not be meant: of the training, and of the columns of a table that came with it."""
    told = [one["detail"] for one in job["warnings"]]
    if is_new:
        told += [f"{one['column']}: {one['detail']}" for one in client.dataset(job["dataset"]).warnings]
    return told


def predict(
    model: Annotated[str, typer.Argument(help="A file made by `train`, or a model of a service.")],
    rows: File,
    costs: Costs = None,
    threshold: Annotated[
        float | None, typer.Option(help="Decide the positive class above this probability.")
    ] = None,
    version: Annotated[int | None, typer.Option(help="Of a service; the champion if left out.")] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", help="Column that says which row it is; else `id`."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, callback=writable, help="A .csv, .json, .parquet or .arrow file; else CSV."
        ),
    ] = None,
    url: Url = None,
) -> None:
    """Decide rows: with a model in a file in this process, or with a model of a service."""
    suffix = ".csv" if output is None else output.suffix.lower()
    if suffix not in (".csv", ".json", ".parquet", ".arrow"):
        raise UsageError("--output is a file that ends in .csv, .json, .parquet or .arrow")
    spare(output, rows, Path(model))
    priced = read_json(costs, "--costs")
    if Path(model).is_file():
        from service.cli.local import predict_locally

        found, odd = predict_locally(
            Path(model), rows, suffix, costs=priced, threshold=threshold, id_column=id_column
        )
        for warning in odd:
            typer.echo(warning, err=True)
    elif model.endswith(_ENDING):
        raise UsageError(f"there is no file {model}; `costboost train` writes one")
    else:
        asked = {"costs": priced, "version": version, "threshold": threshold}
        with _pointed_at_file(model):
            found = _predict_there(url, model, rows, suffix, asked, id_column)
    if output is not None:
        output.write_bytes(found)
    else:
        typer.echo(found, nl=False)


@contextmanager
def _pointed_at_file(model: str) -> Iterator[None]:
    """Tell whoever left the ending out that the file of the model is here, where no service has it."""
    from costboost.client.errors import ApiError, UnreachableError

    try:
        yield
    except (ApiError, UnreachableError, UsageError) as error:
        file = f"{model}{_ENDING}"
        if Path(file).is_file() and getattr(error, "code", "not_found") == "not_found":
            error.add_note(f"here is a file {file}: `costboost predict {file} …` needs no service")
        raise


def _predict_there(
    url: str | None, model: str, rows: Path, suffix: str, spec: dict[str, Any], id_column: str | None
) -> bytes:
    """As a batch, which may be of any length, and of which the service keeps nothing afterwards."""
    from costboost.client.tables import read_stream, with_id
    from service.cli.local import ids_of, written

    given = {name: value for name, value in spec.items() if value is not None}
    if "threshold" in given:
        raise UsageError("--threshold is for a model in a file; a service decides whole tables by costs")
    is_written_here = suffix == ".json" or id_column is not None
    wanted = "arrow" if is_written_here else suffix.removeprefix(".")
    ids = None if id_column is None else ids_of(rows, id_column)
    with client_of(url) as client:
        job = client.predict_batch(model, rows, output=wanted, **given)
        try:
            content = client.batch_output(job.wait(progress=True).id)
        finally:
            client.delete_batch(job.id)
    if not is_written_here:
        return content
    decided = read_stream(content)
    return written(decided if ids is None else with_id(decided, ids, ids.column_names[0]), suffix)


def algorithms(as_json: AsJson = False) -> None:
    """List what can be trained; with `--json` also bounds and defaults of the parameters."""
    from dataclasses import asdict

    from service import learning

    found = [asdict(one) for one in learning.algorithms()]
    show(found, ("name", "title", "tasks"), limit=len(found), as_json=as_json)


COMMANDS = (train, predict, algorithms)
