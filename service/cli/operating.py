"""What an operator does: run the service, look after it, and see it at work."""

import json
import platform
import sys
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.options import AsJson, DataDir, settings_of, settings_of_service
from service.explaining import FAILED, leave

if TYPE_CHECKING:
    from service.settings import Settings

#: Whose versions decide what a model is.
LIBRARIES = ("numpy", "scikit-learn", "numba", "fastapi", "sqlalchemy", "dbos")


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    data_dir: DataDir = None,
    worker: Annotated[bool, typer.Option(help="Run a worker beside the API.")] = True,
) -> None:
    """Serve the API, with a worker beside it; a file of SQLite is migrated first, PostgreSQL must be."""
    from service import main

    main.serve(settings_of(data_dir, host=host, port=port), with_worker=worker)


def worker(
    data_dir: DataDir = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only look whether a worker of this host lives; status 1 if not.")
    ] = False,
) -> None:
    """Run training jobs until stopped; as many as you like share one PostgreSQL, which must be migrated."""
    if not check:
        from service import worker as process

        process.run(settings_of(data_dir))
    else:
        _check_worker(settings_of_service(data_dir))


def _check_worker(settings: "Settings") -> None:
    from service import wiring
    from service.usecases import workers

    wired = wiring.wire(settings)
    is_here = workers.is_here(wired.readers, timedelta(seconds=settings.lease_seconds))
    wired.close()
    if not is_here:
        leave("no worker of this host has lately said that it lives; its log says why", FAILED)


def migrate(data_dir: DataDir = None) -> None:
    """Bring the database to the schema of this release; safe to repeat."""
    from service import wiring

    wired = wiring.wire(settings_of(data_dir))
    wiring.migrate(wired)
    wired.close()


def sweep(data_dir: DataDir = None) -> None:
    """Delete what has had its time, now, and print how much; workers do it each hour by themselves."""
    from service import wiring
    from service.usecases import sweeping

    wired = wiring.wire(settings_of_service(data_dir))
    report = sweeping.sweep(wired.sessions, wired.readers, wired.store, wired.queue)
    typer.echo(json.dumps(asdict(report)))
    wired.close()


def config(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Print all settings as variables, with the password of the database masked."""
    from service.settings import PREFIX

    variables = {f"{PREFIX}{name.upper()}": value for name, value in settings_of(data_dir).masked().items()}
    if as_json:
        typer.echo(json.dumps(variables, indent=2))
        return
    for name, value in variables.items():
        typer.echo(f"{name}={value}")


def openapi() -> None:
    """Print the OpenAPI document."""
    from service.api.app import create_app
    from service.wiring import wire

    with TemporaryDirectory() as folder:
        wiring = wire(settings_of(Path(folder)))
        typer.echo(json.dumps(create_app(wiring).openapi(), indent=2))
        wiring.close()


def doctor(
    data_dir: DataDir = None,
    warm: Annotated[bool, typer.Option("--warm", help="Compile the kernels that are not kept yet.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look at what the service stands on, and say how to mend what is missing; status 1 if anything is."""
    from service.doctor import examine

    findings = []
    for finding in examine(settings_of(data_dir), warm=warm):
        findings.append(finding)
        if not as_json:
            mark = "BAD" if not finding.ok else "note" if finding.cure else "ok"
            typer.echo(f"{mark:<5}{finding.name:<11} {finding.found}")
            if finding.cure:
                typer.echo(f"{'':<17}{finding.cure}")
    ok = all(finding.ok for finding in findings)
    if as_json:
        typer.echo(json.dumps({"ok": ok, "findings": [asdict(finding) for finding in findings]}, indent=2))
    sys.exit(not ok)


def demo() -> None:
    """Train on bundled real data over HTTP, predict, price again, and count the savings; takes a minute."""
    import subprocess

    # In a wheel it lies within the package, in a work tree beside it.
    package = Path(__file__).parent.parent
    script = next(path for at in (package, package.parent) if (path := at / "demo" / "demo.py").is_file())
    sys.exit(subprocess.run([sys.executable, str(script)], check=False).returncode)  # noqa: S603  our own


def version() -> None:
    """Print the version, and those of the libraries that decide what a model is."""
    typer.echo(f"costboost {version_of('costboost')}")
    typer.echo(f"python {platform.python_version()}")
    for library in LIBRARIES:
        typer.echo(f"{library} {version_of(library)}")


COMMANDS = (serve, worker, migrate, sweep, config, openapi, doctor, demo, version)
