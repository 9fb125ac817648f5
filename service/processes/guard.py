"""How a guarded child ends, and what it may use."""

import traceback
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from service.domain import errors
from service.domain.errors import CostboostError, FieldError
from service.domain.storage import outage_of


@dataclass(frozen=True)
class Guard:
    """What a child may use.

    Attributes
    ----------
    seconds : float or None
        Time after which its group is killed.
    memory_bytes : int or None
        Resident memory of the child and its descendants above which its group is killed.
    nice : int
        Added to its niceness, so that answering requests comes first.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    nice: int = 0


class Ending(StrEnum):
    """How a child ended."""

    FINISHED = "finished"
    RAISED = "raised"
    DIED = "died"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Outcome:
    """The end of a child.

    Attributes
    ----------
    value : Any
        What the target returned, when FINISHED.
    error : CostboostError or None
        What it raised, when RAISED and an error of the domain.
    detail : str
        The kind of any other exception; never its text, which may hold data.
    frames : tuple of str
        Where that exception came through, outermost first.
    """

    ending: Ending
    value: Any = None
    error: CostboostError | None = None
    detail: str = ""
    frames: tuple[str, ...] = ()


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Turn an exception into plain JSON for the way to the parent."""
    if isinstance(error, OSError):
        error = outage_of(error) or error
    if not isinstance(error, CostboostError):
        places = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
        return {"kind": type(error).__name__, "memory": isinstance(error, MemoryError), "frames": places}
    state = vars(error) | {"errors": [vars(fault) for fault in error.errors]}
    return {"kind": type(error).__name__, "state": state, "memory": False}


def outcome_of_error(data: dict[str, Any]) -> Outcome:
    """Build the outcome of what :func:`error_to_json` wrote."""
    if data["memory"]:
        return Outcome(Ending.MEMORY_LIMIT, detail=data["kind"], frames=tuple(data["frames"]))
    if "state" not in data:
        return Outcome(Ending.RAISED, detail=data["kind"], frames=tuple(data["frames"]))
    kind: type[CostboostError] = getattr(errors, data["kind"])
    state = data["state"]
    error = kind.__new__(kind)
    # Constructors differ from class to class; the state is the same for all.
    Exception.__init__(error, state["detail"])
    vars(error).update(state | {"errors": tuple(FieldError(**fault) for fault in state["errors"])})
    return Outcome(Ending.RAISED, error=error, detail=data["kind"])
