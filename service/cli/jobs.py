"""`costboost jobs`: trainings and batch predictions of a service."""

from typing import Annotated

import typer

from service.cli.options import AsJson, Limit, Url, client_of
from service.cli.printing import show, show_one

NAME = "jobs"
group = typer.Typer(help="Trainings and batch predictions of a service.", no_args_is_help=True)

_SHOWN = ("id", "status", "model", "attempt", "progress", "result", "error", "created_at", "finished_at")


def _job_id(job: str) -> str:
    from costboost.client.jobs import path_of

    try:
        path_of(job)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; `costboost jobs list` has them") from None
    return job


JobId = Annotated[str, typer.Argument(callback=_job_id, help="Its id, `job_…`, `bp_…` or `in_…`.")]


@group.command("list")
def list_jobs(
    batch: Annotated[bool, typer.Option("--batch", help="Batch predictions, not trainings.")] = False,
    status: Annotated[str | None, typer.Option(help="Only jobs that stand so, such as running.")] = None,
    url: Url = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    columns = ("id", "status", "model", "attempt", "created_at", "finished_at")
    with client_of(url) as client:
        found = client.batch_predictions(status=status) if batch else client.training_jobs(status=status)
        show((one.document for one in found), columns, limit=limit, as_json=as_json)


@group.command("show")
def show_job(job: JobId, url: Url = None, as_json: AsJson = False) -> None:
    """Show how a job stands."""
    with client_of(url) as client:
        show_one(client.job(job).document, _SHOWN, as_json=as_json)


@group.command("wait")
def wait_for_job(
    job: JobId,
    timeout: Annotated[float | None, typer.Option(help="Seconds.", min=0.0)] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Wait for the end of a job; status 4 if it has not ended well."""
    with client_of(url) as client:
        show_one(client.wait(job, timeout, progress=True).document, _SHOWN, as_json=as_json)


@group.command("cancel")
def cancel_job(job: JobId, url: Url = None) -> None:
    """Ask a job to end; twice is safe."""
    with client_of(url) as client:
        typer.echo(client.cancel(job).status)
