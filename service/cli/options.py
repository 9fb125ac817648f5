"""Options that several commands have, and how they are read."""

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.explaining import UsageError

if TYPE_CHECKING:
    from costboost.client import Client
    from service.settings import Settings

DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the SQLite database and the artifacts.", file_okay=False, resolve_path=True
    ),
]
Url = Annotated[
    str | None,
    typer.Option("--url", envvar="COSTBOOST_URL", help="Where the service is. Its key: COSTBOOST_API_KEY."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")]
Limit = Annotated[int, typer.Option(help="Print at most so many, newest first.", min=1)]
Costs = Annotated[
    str | None,
    typer.Option(help='What decisions cost: JSON such as {"fn": 500, "fp": 10}, or a file that holds it.'),
]


def table_endings() -> tuple[str, ...]:
    """How the name of a file ends that holds a table."""
    from costboost.client.tables import MEDIA_TYPES

    return tuple(MEDIA_TYPES)


def table_file(file: Path) -> Path:
    """A file whose name says how its table is written.

    Raises
    ------
    typer.BadParameter
        It does not.
    """
    if file.suffix.lower() not in table_endings():
        raise typer.BadParameter(f"a table is a file that ends in one of {', '.join(table_endings())}")
    return file


File = Annotated[
    Path,
    typer.Argument(exists=True, dir_okay=False, callback=table_file, help="CSV, JSON, Parquet or Arrow."),
]


def writable(file: Path | None) -> Path | None:
    """A file that can be written, looked at before the work that would be lost.

    Raises
    ------
    typer.BadParameter
        Its folder is not there, or nothing can be written there.
    """
    if file is None:
        return None
    folder = file.absolute().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise typer.BadParameter(f"{file} cannot be written")
    return file


def spare(output: Path | None, *inputs: Path) -> None:
    """Look that what is written takes the place of nothing that is read.

    Raises
    ------
    UsageError
        It does.
    """
    for file in inputs:
        if output is not None and output.exists() and file.exists() and output.samefile(file):
            raise UsageError(f"--output is {file}, which is read: what is in it would be lost")


def settings_of(data_dir: Path | None, **overrides: Any) -> "Settings":
    """Settings of the environment; what the command line says wins."""
    from sqlalchemy import URL

    from service.settings import load_settings

    if data_dir is not None:
        database = URL.create("sqlite", database=str(data_dir / "costboost.db"))
        overrides["database_url"] = database.render_as_string()
        overrides["store_url"] = (data_dir / "store").as_uri()
    return load_settings(**overrides)


def settings_of_service(data_dir: Path | None) -> "Settings":
    """Settings of a service that has been started before; one that nobody serves is made by no mistake.

    Raises
    ------
    UsageError
        Its database is a file of SQLite that is not there.
    """
    from sqlalchemy import make_url

    settings = settings_of(data_dir)
    url = make_url(settings.database_url.get_secret_value())
    file = Path(url.database or "").absolute()
    if url.get_backend_name() == "sqlite" and not file.exists():
        raise UsageError(
            f"there is no database {file}\n  --data-dir names the folder of a service, "
            "`var` of `make serve`; `costboost serve` and `costboost migrate` make a new one."
        )
    return settings


def client_of(url: str | None) -> "Client":
    """The service; on this machine if nobody says where. Why it is asked again is told as it happens."""
    from costboost.client import Client

    logging.basicConfig(format="costboost: %(message)s")
    logging.getLogger("costboost.client").setLevel(logging.INFO)
    return Client(url)


def read_json(text: str | None, option: str) -> Any:
    """An option that is a JSON object, or the name of a file with one.

    Raises
    ------
    UsageError
        It is neither.
    """
    if text is None:
        return None
    is_json = text.lstrip().startswith(("{", "["))
    try:
        found = json.loads(
            text if is_json else Path(text).read_text(encoding="utf-8"), parse_constant=_refuse_constant
        )
    except FileNotFoundError:
        raise UsageError(
            f"{option} is JSON, or the name of a file with it; there is no file {text}"
        ) from None
    except (OSError, ValueError) as error:
        where = option if is_json else f"{option}, the file {text},"
        told = (
            f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "unreadable"
        )
        raise UsageError(f"{where} is no JSON ({told}); names have double quotes") from None
    if not isinstance(found, dict):
        raise UsageError(f'{option} is a JSON object, {{"name": value, …}}')
    return found


def _refuse_constant(_name: str) -> None:
    raise ValueError  # NaN and infinity are Python's, not of JSON


def read_roles(pairs: list[str] | None, option: str) -> dict[str, str]:
    """Options of the form COLUMN=WORD, as often as they are given.

    Raises
    ------
    UsageError
        One is of another form, or two are of one column.
    """
    told = {}
    for pair in pairs or ():
        column, separator, word = pair.rpartition("=")
        if not separator or not column:
            raise UsageError(f"{option} is COLUMN=WORD, once for each column")
        if column in told:
            raise UsageError(f"{option} names {column} twice")
        told[column] = word
    return told
