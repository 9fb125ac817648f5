"""The command that all others belong to."""

import typer

commands = typer.Typer(
    help="Cost-sensitive boosting, trained and served over HTTP: decisions that cost the least.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
