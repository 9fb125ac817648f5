"""What can be trained: the registry of the library, and the check of a job's `params` against it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from costboost import parameters
from service.domain.errors import FieldError, pointer


@dataclass(frozen=True)
class AlgorithmInfo:
    """An algorithm as the API describes it.

    Attributes
    ----------
    tasks : tuple of "binary", "multiclass"
    params : dict
        JSON Schema of the parameters, with defaults and bounds.
    """

    name: str
    title: str
    reference: str
    tasks: tuple[str, ...]
    params: dict[str, Any]


def algorithms() -> list[AlgorithmInfo]:
    """All registered algorithms, by name."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler

    return [_info(registry.ALGORITHMS[name]) for name in sorted(registry.ALGORITHMS)]


def algorithm(name: str) -> AlgorithmInfo | None:
    """One algorithm; upper and lower case, "-" and "_" make no difference."""
    found = find(name)
    return None if found is None else _info(found)


def find(name: str) -> Any:
    """Entry of the registry for a name, None when there is none; "auto" is the default one."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler

    try:
        return registry.find(name)
    except ValueError:
        return None


def check_params(name: str, params: Mapping[str, Any]) -> list[FieldError]:
    """Faults of a job's `params`, each with its pointer."""
    found = parameters.check_params(find(name).cls, params)
    return [FieldError(pointer("params", *path), "invalid_param", message) for path, message in found]


def _info(found: Any) -> AlgorithmInfo:
    schema = parameters.parameter_schema(found.cls)
    return AlgorithmInfo(found.name, found.title, found.reference, tuple(found.tasks), schema)
