"""What goes wrong in a command beside what does in every process: arguments, and what the service says."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from service.cli.remedies import remedy
from service.explaining import FAILED, USAGE, Told, told

if TYPE_CHECKING:
    from costboost.client import Fault
    from service.domain.errors import FieldError

#: Statuses beside those of every process.
REFUSED, JOB_FAILED = 3, 4

#: Field of a request -> the option that brings it.
_OPTIONS: Final[Mapping[str, str]] = {
    "label": "--label",
    "positive_class": "--positive-class",
    "roles": "--role",
    "types": "--type",
    "costs": "--costs",
    "algorithm": "--algorithm",
    "params": "--params",
    "model": "--model",
    "threshold": "--threshold",
    "priors": "--priors",
    "capacity": "--capacity",
} | dict.fromkeys(
    ("split", "search", "train_costs", "seed", "limits", "calibration", "decision_rule"), "--spec"
)
_NOBODY: Final = "`costboost serve` starts one on this machine; --url or COSTBOOST_URL says where one is."
#: Parts of a form, which whoever types a command never sees.
_PARTS: Final = frozenset({"spec", "options", "file", "dataset"})


class UsageError(Exception):
    """An argument is not what it should be."""


def told_of_command(error: Exception) -> Told:
    """Message and status; no message for what is a fault of ours."""
    from costboost.client.errors import ApiError, ClientError, JobError, UnreachableError
    from service.domain.errors import CostboostError

    match error:
        case UsageError():
            message, status = str(error), USAGE
        case ApiError():
            said = _worded(error.code, error.detail, error.errors, error.errors_total)
            message, status = f"refused ({error.code}): {said}\n  request {error.request_id}", REFUSED
        case JobError():
            said = _worded(error.code, error.detail, error.errors, len(error.errors))
            message, status = f"{error.job_id} ({error.code}): {said}", JOB_FAILED
        case ClientError():
            is_alone = isinstance(error, UnreachableError)
            message, status = f"{error}\n  {_NOBODY}" if is_alone else str(error), FAILED
        case CostboostError():
            message, status = _worded(error.code, error.detail, error.errors, error.errors_total), FAILED
        case _:
            return told(error)
    return "\n  ".join([message, *getattr(error, "__notes__", ())]), status


def _worded(code: str, detail: str, faults: "Sequence[Fault | FieldError]", total: int) -> str:
    """What is wrong, each thing once, and what to do."""
    lines = [f"{place}: {one.detail}" if (place := _place(one)) else one.detail for one in faults]
    if len(lines) != 1:
        lines.insert(0, detail)
    if total > len(faults):
        lines.append(f"and {total - len(faults)} more")
    nearer = faults[0].code if len(faults) == 1 else code
    if next_step := remedy(nearer) or remedy(code):
        lines.append(next_step)
    return "\n  ".join(lines)


def _place(fault: "Fault | FieldError") -> str:
    return ", ".join(_places(fault))


def _places(fault: "Fault | FieldError") -> Iterator[str]:
    """Line and column of a file, or the number of its row; of anything else the option, and where in it."""
    first, *rest = [part for part in fault.pointer.split("/")[1:] if part not in _PARTS] or [""]
    if fault.line is not None:
        yield f"line {fault.line}"
        rest = []
    elif first == "rows" and rest:
        yield f"row {int(rest[0]) + 1}"
        rest = []
    elif first in _OPTIONS:
        yield _OPTIONS[first]
        rest = [first, *rest] if _OPTIONS[first] == "--spec" else rest
        yield from filter(None, ["/".join(rest)])
    elif first:
        yield "/" + "/".join([first, *rest])
    if fault.column is not None and fault.column not in rest[-1:]:
        yield f"column {fault.column}"
