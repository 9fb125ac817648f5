"""Parameters of estimators: the signature of ``__init__`` is the one place for name, type, bounds and
default.

From ``n_estimators: Annotated[int, Range(minimum=1)] = 50`` follow the check in ``fit``, the JSON Schema
that a client reads, and the check of a client's JSON.
"""

import inspect
import math
import re
import reprlib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

__all__ = ["InCode", "Range", "check_parameters", "check_params", "parameter_schema"]

#: Where in a client's parameters something is: names from the outside inwards.
Path: TypeAlias = tuple[str, ...]

#: Not a training job's params: the job has costs and a seed of its own, and its estimators are built in, or
#: named ones where the class says which (`weak_learners`).
_FROM_THE_JOB = frozenset(
    {"estimator", "pos_label", "random_state", "record", "warm_start"}
    | {"cost_fn", "cost_fp", "cost_tp", "cost_tn", "cost_matrix"}
    | {"categorical_features"}
)
_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


@dataclass(frozen=True)
class Range:
    """Bounds of a number, written into the type of a parameter.

    Infinity is refused unless ``maximum`` is ``math.inf`` itself.
    """

    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None

    def allows(self, value: float) -> bool:
        """Tell whether the number lies within the bounds."""
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.exclusive_minimum is None or value > self.exclusive_minimum)
            and (self.exclusive_maximum is None or value < self.exclusive_maximum)
        )

    def schema(self) -> dict[str, float]:
        """Return the bounds as keywords of JSON Schema."""
        bounds = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "exclusiveMinimum": self.exclusive_minimum,
            "exclusiveMaximum": self.exclusive_maximum,
        }
        return {word: bound for word, bound in bounds.items() if bound is not None and math.isfinite(bound)}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={bound}" for name, bound in vars(self).items() if bound is not None)
        return f"Range({given})"

    def __str__(self) -> str:
        words = {
            "at least": self.minimum,
            "above": self.exclusive_minimum,
            "at most": self.maximum,
            "below": self.exclusive_maximum,
        }
        bounds = {word: bound for word, bound in words.items() if bound is not None and math.isfinite(bound)}
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds.items())


@dataclass(frozen=True)
class InCode:
    """Marks an alternative of a parameter that makes sense in a program alone, not in a client's JSON."""


@dataclass(frozen=True)
class _Kind:
    """One of the alternatives that a parameter's type allows."""

    type: Any
    range: Range | None = None
    in_code: bool = False

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def in_json(self) -> bool:
        return not self.in_code and (bool(self.choices) or self.type in _JSON_TYPES)

    def accepts(self, value: object) -> bool:
        if self.choices:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if self.type in (int, float):
            return self._accepts_number(value)
        if self.type is bool or self.type is type(None) or self.type is str:
            return isinstance(value, self.type)
        if get_origin(self.type) is Callable:
            return callable(value)
        return True  # arrays, estimators, functions: checked by whoever uses them

    def _accepts_number(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral if self.type is int else Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        unbounded = self.range is not None and self.range.maximum == math.inf
        if math.isnan(number) or (math.isinf(number) and not unbounded):
            return False
        return self.range is None or self.range.allows(number)

    def schema(self) -> dict[str, Any]:
        if self.choices:
            return {"enum": list(self.choices)}
        return {"type": _JSON_TYPES[self.type], **(self.range.schema() if self.range else {})}

    def __str__(self) -> str:
        if self.choices:
            return " or ".join(repr(choice) for choice in self.choices)
        if get_origin(self.type) is Callable:
            return "a function"
        words = {
            bool: "true or false",
            int: "an integer",
            float: "a finite number",
            type(None): "null",
            str: "a text",
        }
        word = words.get(self.type, "an object")
        return f"{word} {self.range}".strip() if self.range else word


@dataclass(frozen=True)
class _Parameter:
    name: str
    kinds: tuple[_Kind, ...]
    default: Any
    description: str

    def message(self, value: object, kinds: tuple[_Kind, ...]) -> str | None:
        if any(kind.accepts(value) for kind in kinds):
            return None
        return f"must be {', or '.join(str(kind) for kind in kinds)}"

    @property
    def json_kinds(self) -> tuple[_Kind, ...]:
        return tuple(kind for kind in self.kinds if kind.in_json)

    def schema(self) -> dict[str, Any]:
        alternatives = [kind.schema() for kind in self.json_kinds]
        described = {"description": self.description} if self.description else {}
        shape = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
        return {**shape, "default": self.default, **described}


def _kinds(annotation: Any) -> tuple[_Kind, ...]:
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        ranges = [mark for mark in marks if isinstance(mark, Range)]
        in_code = any(isinstance(mark, InCode) for mark in marks)
        return tuple(_Kind(kind.type, ranges[0] if ranges else kind.range, in_code) for kind in _kinds(inner))
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(kind for member in get_args(annotation) for kind in _kinds(member))
    return (_Kind(annotation),)


def _descriptions(cls: type) -> dict[str, str]:
    """What the docstrings of a class and of those it inherits from say of each parameter."""
    found: dict[str, str] = {}
    for ancestor in reversed(cls.__mro__):
        found |= _described(vars(ancestor).get("__doc__") or "")
    return found


def _described(docstring: str) -> dict[str, str]:
    """Read the entries under "Parameters" of a numpydoc docstring."""
    text = inspect.cleandoc(docstring)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", text, re.DOTALL | re.MULTILINE)
    found: dict[str, str] = {}
    for entry in re.finditer(
        r"^(\w[\w, ]*?) ?:[^\n]*\n((?:[ ]+[^\n]*\n?)+)", section[1] if section else "", re.M
    ):
        words = " ".join(line.strip() for line in entry[2].splitlines()).strip()
        found |= {name.strip(): words for name in entry[1].split(",")}
    return found


@cache
def _parameters(cls: type) -> tuple[_Parameter, ...]:
    constructor: Any = vars(cls).get("__init__") or cls.__init__  # type: ignore[misc]
    hints = get_type_hints(constructor, include_extras=True)
    described = _descriptions(cls)
    return tuple(
        _Parameter(name, _kinds(hints[name]), parameter.default, described.get(name, ""))
        for name, parameter in inspect.signature(constructor).parameters.items()
        if name in hints
    )


def _from_the_client(cls: type) -> dict[str, _Parameter]:
    return {
        parameter.name: parameter
        for parameter in _parameters(cls)
        if parameter.name not in _FROM_THE_JOB and parameter.json_kinds
    }


def parameter_schema(cls: type) -> dict[str, Any]:
    """Describe the parameters a training job may set, as JSON Schema.

    Parameters
    ----------
    cls : type
        Estimator class with an annotated ``__init__``.

    Returns
    -------
    dict
        Schema of an object. Costs, the seed and the positive class are left out: they come from the training
        job. The weak learner is there where the class has `weak_learners`, a mapping of names to classes.
    """
    properties = {name: parameter.schema() for name, parameter in _from_the_client(cls).items()}
    if named := _named_learners(cls):
        properties = {"estimator": _schema_of_learners(named, _descriptions(cls)["estimator"]), **properties}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def check_params(cls: type, params: Mapping[str, object]) -> list[tuple[Path, str]]:
    """Check a client's JSON values.

    Parameters
    ----------
    cls : type
        Estimator class with an annotated ``__init__``.
    params : mapping
        Values by name, as decoded from JSON.

    Returns
    -------
    list of (path, message)
        One entry per wrong parameter, with the names that lead to it; empty if all are acceptable. Submitted
        values are not repeated in a message.
    """
    known, learners = _from_the_client(cls), _named_learners(cls)
    problems: list[tuple[Path, str]] = []
    for name, value in params.items():
        if name == "estimator" and learners:
            problems += [((name, *path), message) for path, message in _check_learner(learners, value)]
        elif name not in known:
            problems.append(((name,), "is not a parameter of this algorithm"))
        elif message := known[name].message(value, known[name].json_kinds):
            problems.append(((name,), message))
    return problems


def _named_learners(cls: type) -> Mapping[str, type]:
    """Weak learners that the class takes by name."""
    learners: Mapping[str, type] = getattr(cls, "weak_learners", {})
    return learners


def _schema_of_learners(learners: Mapping[str, type], description: str) -> dict[str, Any]:
    objects = []
    for name, cls in learners.items():
        schema = parameter_schema(cls)
        schema["properties"] = {"name": {"const": name}, **schema["properties"]}
        objects.append({"title": cls.__name__, **schema, "required": ["name"]})
    alternatives = [{"type": "null"}, {"enum": list(learners)}, *objects]
    return {"anyOf": alternatives, "default": None, "description": description}


def _check_learner(learners: Mapping[str, type], value: object) -> list[tuple[Path, str]]:
    names = " or ".join(repr(name) for name in learners)
    if value is None or (isinstance(value, str) and value in learners):
        return []
    if not isinstance(value, Mapping):
        return [((), f"must be {names}, or an object with one of these as name, or null")]
    name = value.get("name")
    if not (isinstance(name, str) and name in learners):
        return [(("name",), f"must be {names}")]
    params = {key: inner for key, inner in value.items() if key != "name"}
    return [
        (path, message.replace("this algorithm", "this weak learner"))
        for path, message in check_params(learners[name], params)
    ]


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator against its signature; called at the start of ``fit``.

    Raises
    ------
    ValueError
        Naming the class, the parameter and what it may be.
    """
    cls: type = type(estimator)
    for parameter in _parameters(cls):
        value = getattr(estimator, parameter.name)
        if message := parameter.message(value, parameter.kinds):
            raise ValueError(
                f"{type(estimator).__name__}: {parameter.name} {message}, {_got(parameter.name, value)}"
            )


def _got(name: str, value: object) -> str:
    """What was given, in a few words, and where costs of single rows belong."""
    if name.startswith("cost_") and hasattr(value, "__len__") and not isinstance(value, str):
        return "got a value for each row; costs of single rows go to fit as sample_cost"
    return f"got {reprlib.repr(value)}"
