"""The command line: `costboost serve`, and what an operator needs beside it.

Each command imports what it runs: `costboost version` shall not wait for a web framework, and a worker shall
not load one.
"""

import json
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NoReturn

import typer
from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError

from service.db.migrations import DamagedDatabaseError
from service.domain.access import SCOPES, Scope
from service.domain.errors import NotFoundError
from service.domain.training import NAME_PATTERN
from service.domain.wording import PATTERNS
from service.settings import PREFIX, Settings, SettingsError, load_settings

app = typer.Typer(
    help="Cost-sensitive boosting, trained and served over HTTP: decisions that cost the least.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

MAX_LISTED_KEYS = 1000
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
def worker(
    data_dir: DataDir = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only look whether a worker of this host lives; status 1 if not.")
    ] = False,
) -> None:
    """Run training jobs until stopped; as many workers as you like share one PostgreSQL."""
    with _explained():
        settings = _settings(data_dir)
        if not check:
            from service import worker as process

            process.run(settings)
        _check_worker(settings)


def _check_worker(settings: Settings) -> None:
    from service import wiring
    from service.usecases import workers

    wired = wiring.wire(settings)
    is_here = workers.is_here(wired.readers, timedelta(seconds=settings.lease_seconds))
    wired.close()
    if not is_here:
        _leave("no worker of this host has lately said that it lives", status=1)


@app.command()
def migrate(data_dir: DataDir = None) -> None:
    """Bring the database to the schema of this release; safe to repeat."""
    from service import wiring

    with _explained():
        wired = wiring.wire(_settings(data_dir))
        wiring.migrate(wired)
        wired.close()


@app.command()
def sweep(data_dir: DataDir = None) -> None:
    """Delete what has had its time, now, and print how much; workers do it each hour by themselves."""
    from dataclasses import asdict

    from service import wiring
    from service.usecases import sweeping

    with _explained():
        wired = wiring.wire(_settings(data_dir))
        report = sweeping.sweep(wired.sessions, wired.readers, wired.store, wired.queue)
        typer.echo(json.dumps(asdict(report)))
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


keys = typer.Typer(help="API keys: who may ask, and for what.", no_args_is_help=True)
app.add_typer(keys, name="keys")

TenantName = Annotated[
    str, typer.Option("--tenant", help="Whose data the key sees; a new name makes a new tenant.")
]


@keys.command("create")
def create_key(
    tenant: TenantName,
    scopes: Annotated[
        list[str], typer.Option("--scopes", help=f"Separated by commas, of {', '.join(SCOPES)}.")
    ],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "made on the command line",
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it; it is shown this once. Migrations are applied first."""
    from service import wiring
    from service.usecases import api_keys

    with _explained():
        wanted = _scopes(scopes)
        if re.fullmatch(NAME_PATTERN, tenant) is None:
            raise SettingsError(f"--tenant {PATTERNS[NAME_PATTERN]}")
        wired = wiring.wire(_settings(data_dir))
        wiring.migrate(wired)
        made, token = api_keys.create_key(wired.sessions, tenant, name, wanted, by="cli")
        wired.close()
    typer.echo(f"{made.id} of tenant {tenant}: {', '.join(made.scopes)}", err=True)
    typer.echo(token)


@keys.command("list")
def list_keys(tenant: TenantName, data_dir: DataDir = None) -> None:
    """List the keys of a tenant, newest first, without their secrets."""
    from service import wiring
    from service.usecases import api_keys

    with _explained():
        wired = wiring.wire(_settings(data_dir))
        for key in api_keys.list_keys(wired.readers, tenant, MAX_LISTED_KEYS):
            stand = "revoked" if key.revoked_at is not None else "valid"
            typer.echo(f"{key.id}  {stand}  {','.join(key.scopes)}  {key.name}")
        wired.close()


@keys.command("revoke")
def revoke_key(
    tenant: TenantName,
    key_id: Annotated[str, typer.Argument(help="Its id, `key_…`.")],
    data_dir: DataDir = None,
) -> None:
    """Make a key useless; running services learn of it within five seconds."""
    from service import wiring
    from service.usecases import api_keys

    with _explained():
        wired = wiring.wire(_settings(data_dir))
        api_keys.revoke_key(wired.sessions, tenant, key_id, by="cli")
        wired.close()


@app.command()
def doctor(
    data_dir: DataDir = None,
    warm: Annotated[bool, typer.Option("--warm", help="Compile the kernels that are not kept yet.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """Look at what the service stands on, and say how to mend what is missing; status 1 if anything is."""
    from service.doctor import examine

    with _explained():
        settings = _settings(data_dir)
    findings = []
    for finding in examine(settings, warm=warm):
        findings.append(finding)
        if not as_json:
            typer.echo(f"{'ok ' if finding.ok else 'BAD'} {finding.name:<11} {finding.found}")
            if finding.cure:
                typer.echo(f"{'':<16}{finding.cure}")
    ok = all(finding.ok for finding in findings)
    if as_json:
        typer.echo(json.dumps({"ok": ok, "findings": [asdict(finding) for finding in findings]}, indent=2))
    sys.exit(not ok)


@app.command()
def version() -> None:
    """Print the version, and those of the libraries that decide what a model is."""
    typer.echo(f"costboost {version_of('costboost')}")
    typer.echo(f"python {platform.python_version()}")
    for library in LIBRARIES:
        typer.echo(f"{library} {version_of(library)}")


def _scopes(given: list[str]) -> list[Scope]:
    names = [name.strip() for one in given for name in one.split(",")]
    wanted = [scope for scope in SCOPES if scope in names]
    if not wanted or set(names) - set(SCOPES):
        raise SettingsError(f"--scopes takes some of {', '.join(SCOPES)}, separated by commas")
    return wanted


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
    except (DamagedDatabaseError, NotFoundError) as error:
        _leave(str(error), status=1)
    except OSError as error:
        _leave(f"{error.filename or 'the system'}: {error.strerror or error}", status=1)


def _leave(message: str, status: int) -> NoReturn:
    typer.echo(f"costboost: {message}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    app()
