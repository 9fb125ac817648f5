"""Named costs: a name grows by revisions, a revision never changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import Field, WrapValidator

from service.domain.cost_cells import STRICT
from service.domain.costs import COSTS, FORMS, ActionCosts, BinaryCosts, Costs, MatrixCosts, form_of
from service.domain.datasets import DatasetName
from service.domain.wording import Telling, custom

AnyCosts: TypeAlias = BinaryCosts | MatrixCosts | ActionCosts
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217, such as EUR.")]


@dataclass(frozen=True)
class CostSpec:
    """A revision of named costs, as they were written."""

    id: str
    tenant_id: str
    name: str
    revision: int
    currency: str | None
    costs: AnyCosts
    created_at: datetime


class _Named(Telling):
    """What is written beside the costs."""

    name: DatasetName
    currency: Currency | None = None

    @property
    def priced(self) -> AnyCosts:
        """The costs alone."""
        return COSTS.validate_python(self.model_dump(exclude={"name", "currency"}))

    @property
    def at(self) -> str:
        """Pointer of the costs in the body."""
        return ""


class NamedBinaryCosts(BinaryCosts, _Named):
    """Costs of two classes, with a name."""


class NamedMatrixCosts(MatrixCosts, _Named):
    """Costs of K classes, with a name."""


class NamedActionCosts(ActionCosts, _Named):
    """Costs of actions, with a name; a cell (true class x action) left out costs 0."""


class NamedCostsObject(_Named):
    """A name, and costs in one of their three forms under `costs`."""

    model_config = STRICT

    costs: Costs

    @property
    def priced(self) -> AnyCosts:
        """The costs alone."""
        return self.costs

    @property
    def at(self) -> str:
        """Pointer of the costs in the body."""
        return "/costs"


_Any: TypeAlias = NamedCostsObject | NamedBinaryCosts | NamedMatrixCosts | NamedActionCosts
_NAMED: dict[type[AnyCosts], type[NamedBinaryCosts | NamedMatrixCosts | NamedActionCosts]] = {
    BinaryCosts: NamedBinaryCosts,
    MatrixCosts: NamedMatrixCosts,
    ActionCosts: NamedActionCosts,
}


def _named(value: Any, _: Callable[[Any], Any]) -> _Any:
    if not isinstance(value, Mapping):
        raise custom("costs_type", f"must be an object with a name and costs: {FORMS}")
    # A list of costs belongs to the form with actions; an object holds a form of its own.
    if "costs" in value and not {"classes", "actions", "review"} & value.keys():
        return NamedCostsObject.model_validate(value)
    return _NAMED[form_of(value)].model_validate(value)


def _nameless(value: Any, handler: Callable[[Any], Any]) -> Any:
    return _named({"name": "unnamed", **value} if isinstance(value, Mapping) else value, handler)


#: A request to keep costs under a name.
NamedCosts: TypeAlias = Annotated[_Any, WrapValidator(_named)]
#: The same, where the name may be left out.
NamelessCosts: TypeAlias = Annotated[_Any, WrapValidator(_nameless)]
