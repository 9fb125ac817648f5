"""What a training job may search: which parameters, between which bounds or among which values."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, FiniteFloat, JsonValue, TypeAdapter, WrapValidator, model_validator

from service.domain.cost_cells import STRICT
from service.domain.wording import Telling, custom

MAX_TRIALS = 200
_MAX_CHOICES = 50


class SearchInterval(Telling):
    """Numbers from `low` to `high`; whole ones for a parameter that is whole."""

    model_config = STRICT

    low: FiniteFloat
    high: FiniteFloat
    log: bool = Field(default=False, description="Draw factors evenly, not differences; needs low > 0.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise custom("low_above_high", "low must not be above high")
        if self.log and self.low <= 0:
            raise custom("log_of_zero", "with log, low must be above 0")
        return self


_CHOICES: TypeAdapter[list[JsonValue]] = TypeAdapter(
    Annotated[list[JsonValue], Field(min_length=1, max_length=_MAX_CHOICES)]
)


def _range(value: Any, _: Callable[[Any], Any]) -> list[JsonValue] | SearchInterval:
    # By hand: a plain union would report each fault twice, once per alternative.
    if isinstance(value, Mapping | SearchInterval):
        return SearchInterval.model_validate(value)
    if not isinstance(value, list):
        raise custom("search_range", 'give a list of values or {"low", "high", "log"}')
    return _CHOICES.validate_python(value)


SearchRange: TypeAlias = Annotated[list[JsonValue] | SearchInterval, WrapValidator(_range)]


class SearchSpec(Telling):
    """Parameters to try: drawn at random by the seed, judged by the cost of rows not fitted on."""

    model_config = STRICT

    params: Mapping[Annotated[str, Field(max_length=64)], SearchRange] = Field(
        min_length=1,
        max_length=32,
        description="Name of a parameter of the algorithm -> a list of values, or an interval.",
    )
    trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] = Field(
        default=20, description="How many are tried; fewer when there are not so many different ones."
    )
    strategy: Literal["random", "halving"] = Field(
        default="random",
        description="`random`: each on all folds; `halving`: after each fold the cheaper half goes on.",
    )
    metric: Literal["expected_cost"] = Field(
        default="expected_cost", description="Mean cost of a row, in money, out of fold; the least wins."
    )
