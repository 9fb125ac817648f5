"""The command line: `costboost serve`, and what an operator needs beside it.

Each command imports what it runs: `costboost version` shall not wait for a web framework, and a worker shall
not load one.
"""

import json
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NoReturn

import typer
from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError

from service.db.migrations import DamagedDatabaseError
from service.settings import PREFIX, Settings, SettingsError, load_settings

app = typer.Typer(
    help="Cost-sensitive boosting, trained and served over HTTP: decisions that cost the least.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

#: Whose versions decide what a model is.
LIBRARIES = ("numpy", "scikit-learn", "numba", "fastapi", "sqlalchemy", "dbos")

DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the SQLite database and the artifacts.", file_okay=False, resolve_path=True
    ),
]


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    data_dir: DataDir = None,
    worker: Annotated[bool, typer.Option(help="Run a worker beside the API.")] = True,
) -> None:
    """Serve the API, with a worker beside it; migrations are applied first."""
    from service import main

    with _explained():
        main.serve(_settings(data_dir, host=host, port=port), with_worker=worker)


@app.command()
def worker(data_dir: DataDir = None) -> None:
    """Run training jobs until stopped; as many workers as you like share one PostgreSQL."""
    from service import worker as process

    with _explained():
        process.run(_settings(data_dir))


@app.command()
def migrate(data_dir: DataDir = None) -> None:
    """Bring the database to the schema of this release; safe to repeat."""
    from service import wiring

    with _explained():
        wired = wiring.wire(_settings(data_dir))
        wiring.migrate(wired)
        wired.close()


@app.command()
def config(data_dir: DataDir = None) -> None:
    """Print all settings as variables, with the password of the database masked."""
    with _explained():
        for name, value in _settings(data_dir).masked().items():
            typer.echo(f"{PREFIX}{name.upper()}={value}")


@app.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from service.api.app import create_app
    from service.wiring import wire

    with _explained(), TemporaryDirectory() as folder:
        wiring = wire(_settings(Path(folder)))
        typer.echo(json.dumps(create_app(wiring).openapi(), indent=2))
        wiring.close()


@app.command()
def version() -> None:
    """Print the version, and those of the libraries that decide what a model is."""
    typer.echo(f"costboost {version_of('costboost')}")
    typer.echo(f"python {platform.python_version()}")
    for library in LIBRARIES:
        typer.echo(f"{library} {version_of(library)}")


def _settings(data_dir: Path | None, **overrides: Any) -> Settings:
    """Settings of the environment; what the command line says wins."""
    if data_dir is not None:
        database = URL.create("sqlite", database=str(data_dir / "costboost.db"))
        overrides["database_url"] = database.render_as_string()
        overrides["store_url"] = (data_dir / "store").as_uri()
    return load_settings(**overrides)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what the person who started us can mend into one line, and a status that is not 0."""
    try:
        yield
    except SettingsError as error:
        _leave(str(error), status=2)
    except DBAPIError as error:
        # Only the driver's own words: SQLAlchemy adds the statement, and a link that helps nobody here.
        _leave(f"the database answered: {' '.join(str(error.orig).split())}", status=1)
    except DamagedDatabaseError as error:
        _leave(str(error), status=1)


def _leave(message: str, status: int) -> NoReturn:
    typer.echo(f"costboost: {message}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    app()
