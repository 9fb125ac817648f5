"""The command line: the service and its keys, the service as its users see it, and training without one.

Each command imports what it runs: `costboost version` shall not wait for a web framework, and a worker shall
not load one.
"""

from service.cli import costs, datasets, feedback, jobs, keys, models, operating, simulating, training
from service.cli.explaining import told_of_command
from service.cli.root import commands
from service.explaining import explained

__all__ = ["app", "commands"]

for part in (training, simulating, feedback, operating):
    for command in part.COMMANDS:
        commands.command()(command)
for part in (datasets, costs, jobs, models, keys):
    commands.add_typer(part.group, name=part.NAME)


def app() -> None:
    """Run the command that the arguments name; whatever goes wrong is told in words, with its status."""
    with explained(told_of_command):
        commands()
