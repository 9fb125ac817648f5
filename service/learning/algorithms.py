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
    default : bool
        Whether it is what "auto" stands for.
    """

    name: str
    title: str
    reference: str
    tasks: tuple[str, ...]
    params: dict[str, Any]
    default: bool = False


def algorithms() -> list[AlgorithmInfo]:
    """All registered algorithms, by name."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler

    return [_info(registry.TRAINABLE[name]) for name in sorted(registry.TRAINABLE)]


def settle(name: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name of the algorithm that `name` stands for, and its parameters with the defaults filled in."""
    found = find(name)
    properties = params_schema(name)
    return found.name, {key: one["default"] for key, one in properties.items()} | dict(params)


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


def params_schema(name: str) -> dict[str, Any]:
    """JSON Schema of each parameter of an algorithm, by name."""
    properties: dict[str, Any] = parameters.parameter_schema(find(name).cls)["properties"]
    return properties


def check_params(name: str, params: Mapping[str, Any]) -> list[FieldError]:
    """Faults of a job's `params`, each with its pointer."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler

    entry = find(name)
    known = parameters.parameter_schema(entry.cls)["properties"]
    told = f"is not a parameter of {entry.name}; it has {', '.join(known)}"
    return [
        FieldError(
            pointer("params", *path), "invalid_param", message if path[0] in known or len(path) > 1 else told
        )
        for path, message in registry.check_params(entry.name, params)
    ]


def _info(found: Any) -> AlgorithmInfo:
    schema = parameters.parameter_schema(found.cls)
    is_default = found is find("auto")
    return AlgorithmInfo(found.name, found.title, found.reference, tuple(found.tasks), schema, is_default)
