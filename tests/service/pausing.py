"""Lets a worker halt at a step of an attempt until it may go on; imported by name in the worker."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from service.processes.nursery import Nursery
from service.usecases import attempts

#: Whose function it is, its name, and whether the step is before or after it.
STATIONS = {
    "claimed": (attempts, "begin", "before"),
    "begun": (attempts, "begin", "after"),
    "ordered": (attempts, "order", "after"),
    "trained": (Nursery, "run_guarded", "after"),
    "committing": (attempts, "add_version", "after"),
    "committed": (attempts, "succeed", "after"),
}


def halt_at(station: str, folder: str) -> None:
    """Halt there: the file `there` says that it has come so far, the file `go` lets it go on."""
    owner, name, when = STATIONS[station]
    setattr(owner, name, _halting(getattr(owner, name), when, Path(folder)))


def _halting(step: Callable[..., Any], when: str, folder: Path) -> Callable[..., Any]:
    def halt() -> None:
        (folder / "there").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)

    def halting(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            halt()
            return step(*arguments, **named)
        result = step(*arguments, **named)
        halt()
        return result

    return halting
