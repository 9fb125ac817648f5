"""Options that several commands have, and how they are read."""

import json
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


def _told_by_its_name(file: Path) -> Path:
    from costboost.client.tables import MEDIA_TYPES

    if file.suffix.lower() not in MEDIA_TYPES:
        raise typer.BadParameter(f"a table is a file that ends in one of {', '.join(MEDIA_TYPES)}")
    return file


File = Annotated[
    Path,
    typer.Argument(
        exists=True, dir_okay=False, callback=_told_by_its_name, help="CSV, JSON, Parquet or Arrow."
    ),
]


def settings_of(data_dir: Path | None, **overrides: Any) -> "Settings":
    """Settings of the environment; what the command line says wins."""
    from sqlalchemy import URL

    from service.settings import load_settings

    if data_dir is not None:
        database = URL.create("sqlite", database=str(data_dir / "costboost.db"))
        overrides["database_url"] = database.render_as_string()
        overrides["store_url"] = (data_dir / "store").as_uri()
    return load_settings(**overrides)


def client_of(url: str | None) -> "Client":
    """The service; on this machine if nobody says where."""
    from costboost.client import Client

    return Client(url)


def read_json(text: str | None, option: str) -> Any:
    """An option that is JSON, or the name of a file with JSON.

    Raises
    ------
    UsageError
        It is neither.
    """
    if text is None:
        return None
    try:
        is_file = not text.lstrip().startswith(("{", "[")) and Path(text).is_file()
        return json.loads(Path(text).read_text(encoding="utf-8") if is_file else text)
    except (OSError, ValueError):
        raise UsageError(f"{option} is JSON, or the name of a file that holds JSON") from None


def read_roles(pairs: list[str] | None, option: str) -> dict[str, str]:
    """Options of the form COLUMN=WORD, as often as they are given.

    Raises
    ------
    UsageError
        One is of another form.
    """
    told = {}
    for pair in pairs or ():
        column, separator, word = pair.rpartition("=")
        if not separator or not column:
            raise UsageError(f"{option} is COLUMN=WORD, once for each column")
        told[column] = word
    return told
