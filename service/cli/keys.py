"""`costboost keys`: API keys, made where the service runs."""

import re
from typing import Annotated

import typer

from service.cli.explaining import UsageError
from service.cli.options import AsJson, DataDir, Limit, settings_of, settings_of_service
from service.cli.printing import show
from service.domain.access import MAX_KEY_NAME, SCOPES, Scope
from service.domain.training import NAME_PATTERN
from service.domain.wording import ONE_LINE, PATTERNS

NAME = "keys"
group = typer.Typer(help="API keys: who may ask, and for what.", no_args_is_help=True)

TenantName = Annotated[
    str, typer.Option("--tenant", help="Whose data the key sees; a new name makes a new tenant.")
]


@group.command("create")
def create_key(
    tenant: TenantName,
    scopes: Annotated[
        list[str], typer.Option("--scopes", help=f"Separated by commas, of {', '.join(SCOPES)}.")
    ],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "made on the command line",
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it; it is shown this once. A file of SQLite is made or migrated first."""
    from service import wiring
    from service.usecases import api_keys

    wanted = _scopes(scopes)
    if re.fullmatch(NAME_PATTERN, tenant) is None:
        raise UsageError(f"--tenant {PATTERNS[NAME_PATTERN]}")
    if len(name) > MAX_KEY_NAME or re.fullmatch(ONE_LINE, name) is None:
        raise UsageError(f"--name is one line of 1 to {MAX_KEY_NAME} characters")
    settings = settings_of(data_dir)
    wired = wiring.wire(settings)
    wiring.ensure_schema(wired)
    made, token = api_keys.create_key(wired.sessions, tenant, name, wanted, by="cli")
    wired.close()
    where = settings.masked()["database_url"]
    typer.echo(f"{made.id} of tenant {tenant}, in {where}: {', '.join(made.scopes)}", err=True)
    typer.echo(token)


@group.command("list")
def list_keys(
    tenant: TenantName, data_dir: DataDir = None, limit: Limit = 1000, as_json: AsJson = False
) -> None:
    """List the keys of a tenant, newest first, without their secrets."""
    from service import wiring
    from service.usecases import api_keys

    wired = wiring.wire(settings_of_service(data_dir))
    found = [
        {
            "id": key.id,
            "state": "valid" if key.revoked_at is None else "revoked",
            "scopes": list(key.scopes),
            "name": key.name,
        }
        for key in api_keys.list_keys(wired.readers, tenant, limit)
    ]
    wired.close()
    show(found, ("id", "state", "scopes", "name"), limit=limit, as_json=as_json)


@group.command("revoke")
def revoke_key(
    tenant: TenantName,
    key_id: Annotated[str, typer.Argument(help="Its id, `key_…`.")],
    data_dir: DataDir = None,
) -> None:
    """Make a key useless; running services learn of it within five seconds."""
    from service import wiring
    from service.usecases import api_keys

    wired = wiring.wire(settings_of_service(data_dir))
    api_keys.revoke_key(wired.sessions, tenant, key_id, by="cli")
    wired.close()


def _scopes(given: list[str]) -> list[Scope]:
    names = [name.strip() for one in given for name in one.split(",")]
    wanted = [scope for scope in SCOPES if scope in names]
    if not wanted or set(names) - set(SCOPES):
        raise UsageError(f"--scopes takes some of {', '.join(SCOPES)}, separated by commas")
    return wanted
