"""Ensembles as named arrays and plain JSON, and back: checked as if hostile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.expansions import Expansions
from costboost.ensembles.lines import Lines
from costboost.ensembles.mixtures import Mixture
from costboost.ensembles.planes import Planes
from costboost.ensembles.trees import Trees
from costboost.terms import Terms

__all__ = ["Arrays", "Wanted", "ensemble_from", "ensemble_state", "wanted_arrays"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Kind:
    """A kind of ensemble: its class, its arrays with their types, and its other fields with theirs."""

    cls: type[Any]
    arrays: dict[str, str]
    fields: dict[str, type]
    #: Arrays that are left out where they are empty.
    if_any: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Wanted:
    """Arrays an artifact must hold, with their types, and those that are left out where they are empty."""

    arrays: dict[str, str]
    if_any: frozenset[str]


_SIDES = {"below": "F64", "above": "F64", "reach": "F64", "output": "I32", "constant": "F64"}
_SCALING = {"unit": "F64", "center": "F64", "spread": "F64"}
_MIXTURE = "mixture"
_KINDS = {
    "terms": _Kind(
        Terms,
        {"feature": "I32", "cuts": "I32", "cut": "F64", "value": "F64", "constant": "F64", "votes": "F64"},
        {"n_features": int},
    ),
    "trees": _Kind(
        Trees,
        {"nodes": "I32", "feature": "I32", "cut": "F64", "missing_above": "I32"}
        | {"value": "F64", "output": "I32", "constant": "F64", "subsets": "I32"},
        {"n_features": int},
        frozenset({"subsets"}),
    ),
    "planes": _Kind(Planes, _SCALING | {"coef": "F64"} | _SIDES, {}),
    "expansions": _Kind(
        Expansions,
        _SCALING | {"vectors": "F64", "coef": "F64", "intercept": "F64"} | _SIDES,
        {"kernel": str, "gamma": float, "degree": int, "coef0": float},
    ),
    "lines": _Kind(
        Lines,
        {"low": "F64", "high": "F64", "slope": "F64", "missing": "F64", "starts": "I32"}
        | {"levels": "F64", "constant": "F64"},
        {},
    ),
    # Its members are kept beside it, each of a kind of its own.
    _MIXTURE: _Kind(
        Mixture,
        {"probability": "I32", "weight": "F64", "output": "I32", "constant": "F64"},
        {"n_features": int},
    ),
}
_MEMBERS = ("trees", "lines", "expansions")


def ensemble_state(ensemble: Any, prefix: str = "") -> tuple[dict[str, Any], Arrays]:
    """Describe an ensemble as plain JSON, and give its arrays by name.

    Raises
    ------
    ValueError
        If the ensemble is not one of ours.
    """
    name, kind = next(((n, k) for n, k in _KINDS.items() if k.cls is type(ensemble)), ("", None))
    if kind is None:
        raise ValueError("only ensembles of our weak learners can be stored; these come from elsewhere")
    state = {"kind": name} | {field: getattr(ensemble, field) for field in kind.fields}
    arrays = {array: np.ascontiguousarray(getattr(ensemble, array)) for array in kind.arrays}
    found = {prefix + key: array for key, array in arrays.items() if array.size or key not in kind.if_any}
    if name == _MIXTURE:
        state["members"] = []
        for number, member in enumerate(ensemble.members):
            described, own = ensemble_state(member, f"{number}.")
            state["members"].append(described)
            found |= own
    return state, found


def ensemble_from(state: Mapping[str, Any], arrays: Arrays, prefix: str = "") -> Any:
    """Build the ensemble that `ensemble_state` described.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the state or an array is not sound.
    """
    kind = _KINDS[state["kind"]]
    given = {name: arrays[prefix + name] for name in kind.arrays if prefix + name in arrays}
    fields = {name: _exact(state[name], field) for name, field in kind.fields.items()}
    if state["kind"] == _MIXTURE:
        described = enumerate(state["members"])
        fields["members"] = tuple(ensemble_from(member, arrays, f"{n}.") for n, member in described)
    return kind.cls(**given, **fields)


def wanted_arrays(state: Mapping[str, Any], prefix: str = "") -> Wanted:
    """Tell which arrays belong to the ensemble of a description.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the description is not sound.
    """
    kind = _KINDS[state["kind"]]
    wanted = {prefix + name: dtype for name, dtype in kind.arrays.items()}
    if_any = {prefix + name for name in kind.if_any}
    if state["kind"] == _MIXTURE:
        for number, member in enumerate(_exact(state["members"], list)):
            if member["kind"] not in _MEMBERS:
                raise ValueError("a mixture has trees, lines and expansions as members")
            own = wanted_arrays(member, f"{number}.")
            wanted |= own.arrays
            if_any |= own.if_any
    return Wanted(wanted, frozenset(if_any))


def _exact(value: object, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}")
    return value
