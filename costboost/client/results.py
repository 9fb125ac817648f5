"""Answers of the service as values. Each keeps its whole `document`, with fields of later releases too."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Self, overload


@dataclass(frozen=True, kw_only=True)
class Result:
    """Base of the values below."""

    document: Mapping[str, Any]

    @classmethod
    def of(cls, document: Mapping[str, Any], **more: Any) -> Self:
        """Read an answer; names that are not known are left in `document`."""
        names = {field.name for field in fields(cls)} - more.keys() - {"document"}
        values = {name: _value(name, document[name]) for name in names if name in document}
        return cls(document=document, **values, **more)


def _value(name: str, given: Any) -> Any:
    return datetime.fromisoformat(given) if name.endswith("_at") and given is not None else given


@dataclass(frozen=True, kw_only=True)
class Dataset(Result):
    """A table that was taken in."""

    id: str
    name: str
    rows: int
    label: str
    classes: list[str]
    class_counts: dict[str, int]
    positive_class: str | None
    columns: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class CostSpecRevision(Result):
    """Costs that were stored under a name, and what they lead to in words."""

    id: str
    name: str
    revision: int
    currency: str | None
    costs: dict[str, Any]
    consequences: list[str]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Algorithm(Result):
    """What can be trained; `params` is the JSON Schema of its parameters."""

    name: str
    title: str
    reference: str
    tasks: list[str]
    default: bool
    params: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Model(Result):
    """A name that versions are trained for; `aliases` maps each alias to its version."""

    name: str
    description: str
    tags: dict[str, str]
    aliases: dict[str, int]
    latest_version: int | None
    versions: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Version(Result):
    """The result of one training; never changes."""

    model: str
    version: int
    algorithm: str
    params: dict[str, Any]
    costs: dict[str, Any] | None
    metrics: dict[str, Any]
    training_seconds: float
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Alias(Result):
    """A movable pointer to a version."""

    model: str
    name: str
    version: int
    reason: str
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class ApiKey(Result):
    """An API key; `key` is the secret, which only the answer to its making has."""

    id: str
    name: str
    scopes: list[str]
    created_at: datetime
    revoked_at: datetime | None = None
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Prediction(Result):
    """What was decided for one row, and why."""

    id: str | float | None = None
    prediction_id: str | None = None
    probabilities: dict[str, float] | None
    decision: str | None
    label: str | None
    decision_source: str | None
    score: float | dict[str, float] | None
    expected_cost: dict[str, float] | None
    threshold: float | None
    baseline: float | None = None
    reasons: list[dict[str, Any]] | None = None
    warnings: list[dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Predictions(Result):
    """Decisions for rows, in their order; a sequence of `Prediction`."""

    model: str
    version: int
    predictions: tuple[Prediction, ...]

    @classmethod
    def of(cls, document: Mapping[str, Any], **more: Any) -> Self:
        """Read an answer."""
        rows = tuple(Prediction.of(one) for one in document["predictions"])
        return super().of(document, predictions=rows, **more)

    def __len__(self) -> int:
        return len(self.predictions)

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self.predictions)

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Prediction, ...]: ...
    def __getitem__(self, index: int | slice) -> Prediction | tuple[Prediction, ...]:
        return self.predictions[index]
