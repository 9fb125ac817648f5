"""Writes the pages of the reference that follow from the code: command line, settings, problems."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from service.cli import commands
from service.domain.problems.registry import PROBLEMS
from service.settings import PREFIX, Settings

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Name of each page and its text."""
    return {
        "command-line.md": "\n".join(_command_line()),
        "settings.md": "\n".join(_settings()),
        "problems.md": "\n".join(_problems()),
    }


def _command_line() -> Iterator[str]:
    yield "# Command line\n"
    yield "Statuses: 0 done, 1 failed, 2 wrong usage, 3 refused by the service, 4 a job has failed."
    yield "Commands with `--url` ask the service that it or `COSTBOOST_URL` names; `COSTBOOST_API_KEY`"
    yield "is its key.\n"
    yield "`costboost --install-completion` teaches the commands to your shell.\n"
    root: Any = typer.main.get_command(commands)
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            yield from _command(f"costboost {name}", command)
        else:
            yield f"## costboost {name}\n\n{command.help}\n"
            for part, one in inner.items():
                yield from _command(f"costboost {name} {part}", one, "###")


def _command(name: str, command: Any, level: str = "##") -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    yield f"{level} {' '.join([name, *(one.name.upper() for one in arguments)])}\n\n{command.help}\n"
    if not command.params:
        return
    yield "| | |\n|---|---|"
    for one in arguments:
        yield f"| `{one.name.upper()}` | {one.help} |"
    for one in options:
        spelled = " / ".join([*one.opts, *one.secondary_opts])
        needed = " Required." if one.required else ""
        yield f"| `{spelled}` | {one.help}{needed} |"
    yield ""


def _settings() -> Iterator[str]:
    yield "# Settings\n"
    yield "Environment variables. A secret can also be read from the file that `…_FILE` names."
    yield f"An unknown variable that begins with `{PREFIX}`, or a wrong value, stops the start."
    yield "`costboost config` prints those in force.\n"
    yield "| variable | default | what it is |\n|---|---|---|"
    for name, field in Settings.model_fields.items():
        default = "by the number of processors" if field.default_factory else f"`{_shown(field.default)}`"
        yield f"| `{PREFIX}{name.upper()}` | {default} | {field.description or ''} |"
    yield ""


def _shown(default: Any) -> str:
    shown = default.get_secret_value() if hasattr(default, "get_secret_value") else default
    return f"{shown:g}" if isinstance(shown, float) else str(shown)


def _problems() -> Iterator[str]:
    yield "# Problems\n"
    yield "Each answer that refuses something has a `code`."
    yield "A service shows the same under `/problems/<code>`.\n"
    for code, problem in sorted(PROBLEMS.items()):
        yield f"## {code}\n\n{problem.meaning}\n\n{problem.remedy}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text.rstrip() + "\n", encoding="utf-8")
