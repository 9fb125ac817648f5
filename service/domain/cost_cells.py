"""One cost: a number, or fixed + sum of factor x column; and how faults in costs are told."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from service.domain.wording import Telling, custom

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True)
#: Beyond this a cost is a mistake, and products of costs and probabilities could overflow.
MAX_COST = 1e15

Money = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_COST, le=MAX_COST)]
ColumnName = Annotated[str, Field(min_length=1, max_length=256)]
_MONEY: TypeAdapter[float] = TypeAdapter(Money)

#: Where a value stands in what was sent: keys and indices.
Place: TypeAlias = tuple[str | int, ...]


class Faults:
    """Collects faults with their places, so that one answer names them all."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._found: list[InitErrorDetails] = []

    def check(self, good: bool, place: Place, code: str, message: str) -> None:
        """Note a fault unless it is good."""
        if not good:
            self._found.append(InitErrorDetails(type=custom(code, message), loc=place, input=None))

    def raise_any(self) -> None:
        """Raise one ValidationError with all faults."""
        if self._found:
            raise ValidationError.from_exception_data(self._title, self._found)


class Cell(Telling):
    """A cost that depends on the row: fixed + sum of factor x column, then clipped to [min, max]."""

    model_config = STRICT

    fixed: Money = 0.0
    per: dict[ColumnName, Money] = Field(default={}, max_length=64)
    min: Money | None = None
    max: Money | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise custom("min_above_max", "min must not be above max")
        return self


def _cell(value: Any, _: Callable[[Any], Any]) -> float | Cell:
    # By hand: a plain union would report each fault twice, once per alternative.
    if isinstance(value, Mapping | Cell):
        return Cell.model_validate(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise custom("cost_cell", 'give a number or {"fixed", "per", "min", "max"}')
    return _MONEY.validate_python(value)


CostCell: TypeAlias = Annotated[float | Cell, WrapValidator(_cell)]
