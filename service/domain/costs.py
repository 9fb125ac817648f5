"""Costs as they are written in requests: binary cells, a K x K matrix, or actions with a review.

Money per decision; a loss is positive, a benefit negative. The three forms are never mixed. What a form
means (thresholds, regrets, checks against classes) is the library's business; here is only how it is spelled.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, Strict, TypeAdapter, WrapValidator, model_validator

from service.domain.cost_cells import STRICT, Cell, CostCell, Faults, Money, Place
from service.domain.datasets import MAX_CLASSES, Label
from service.domain.wording import Telling, custom


class _Costs(Telling):
    """What the three forms share: the cells, so that columns can be found."""

    model_config = STRICT

    def cells(self) -> tuple[tuple[Place, float | Cell], ...]:
        """Every cell with its place, as parts of a pointer."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns the cells read, sorted."""
        return tuple(
            sorted({name for _, cell in self.cells() if isinstance(cell, Cell) for name in cell.per})
        )

    def places(self, column: str) -> tuple[Place, ...]:
        """Where a column is read, as parts of a pointer."""
        return tuple(
            (*place, "per", column)
            for place, cell in self.cells()
            if isinstance(cell, Cell) and column in cell.per
        )


class BinaryCosts(_Costs):
    """Costs of two classes: f = wrong, t = right, n/p = the class that was chosen."""

    fn: CostCell
    fp: CostCell
    tp: CostCell = 0.0
    tn: CostCell = 0.0

    def cells(self) -> tuple[tuple[Place, float | Cell], ...]:
        """The four cells."""
        return (("fn",), self.fn), (("fp",), self.fp), (("tp",), self.tp), (("tn",), self.tn)


Classes = Annotated[tuple[Label, ...], Strict(False), Field(min_length=2, max_length=MAX_CLASSES)]


class MatrixCosts(_Costs):
    """Costs of K classes as a square matrix of numbers, whose orientation must be said."""

    classes: Classes
    matrix: Annotated[
        tuple[Annotated[tuple[Money, ...], Strict(False), Field(max_length=MAX_CLASSES)], ...],
        Strict(False),
        Field(max_length=MAX_CLASSES),
    ]
    orientation: Literal["rows_true", "rows_predicted"]

    @model_validator(mode="after")
    def _square(self) -> Self:
        count = len(self.classes)
        square = len(self.matrix) == count and all(len(row) == count for row in self.matrix)
        faults = Faults("costs")
        faults.check(len(set(self.classes)) == count, ("classes",), "duplicate", "classes must be distinct")
        faults.check(square, ("matrix",), "matrix_shape", f"must have {count} rows of {count} numbers")
        faults.raise_any()
        return self

    @property
    def rows_true(self) -> tuple[tuple[float, ...], ...]:
        """The matrix with the true class first, whatever the orientation it was written in."""
        return self.matrix if self.orientation == "rows_true" else tuple(zip(*self.matrix, strict=True))

    def cells(self) -> tuple[tuple[Place, float | Cell], ...]:
        """The K x K numbers, where they were written."""
        return tuple((("matrix", i, j), c) for i, row in enumerate(self.matrix) for j, c in enumerate(row))


class ActionName(Telling):
    """An action with more than a name: the class it serves, or that it is the review."""

    model_config = STRICT

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: Literal["decide", "review"] = "decide"
    serves: Label | None = Field(
        default=None,
        alias="for",
        description="Class it serves; default: the class of its name, else the one it is cheapest for.",
    )


def _named_action(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping | ActionName):
        return value
    raise custom("action", 'an action is its name or {"name", "for", "kind"}')


Action: TypeAlias = Annotated[
    ActionName,
    BeforeValidator(
        _named_action,
        json_schema_input_type=ActionName | str,
    ),
]


class ActionCost(Telling):
    """The price of one action when one class is true."""

    model_config = STRICT

    true: Label
    action: str
    cost: CostCell


class Capacity(Telling):
    """How many reviews can be done."""

    model_config = STRICT

    max: Annotated[int, Field(ge=0, le=10**12)]
    per: Literal["file", "day", "hour", "week", "month"] = "file"


class ReviewCosts(Telling):
    """What a review costs and how often it is right for each true class."""

    model_config = STRICT

    fee: Annotated[Money, Field(ge=0.0)]
    accuracy: dict[Label, Annotated[float, Field(strict=True, ge=0.0, le=1.0)]]
    capacity: Capacity | None = None
    shadow_price: Annotated[Money, Field(ge=0.0)] = 0.0


class ActionCosts(_Costs):
    """Costs of actions that are not the classes themselves; a cell (true class x action) left out costs 0."""

    classes: Classes
    actions: Annotated[
        tuple[Action, ...],
        Strict(False),
        Field(min_length=2, max_length=MAX_CLASSES),
    ]
    costs: Annotated[tuple[ActionCost, ...], Strict(False), Field(max_length=MAX_CLASSES**2)]
    review: ReviewCosts | None = None

    def cells(self) -> tuple[tuple[Place, float | Cell], ...]:
        """The listed cells."""
        return tuple((("costs", i, "cost"), item.cost) for i, item in enumerate(self.costs))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults = Faults("costs")
        names = [action.name for action in self.actions]
        faults.check(
            len(set(self.classes)) == len(self.classes), ("classes",), "duplicate", "classes must be distinct"
        )
        faults.check(len(set(names)) == len(names), ("actions",), "duplicate", "actions must be distinct")
        for i, action in enumerate(self.actions):
            known = action.serves is None or action.serves in self.classes
            faults.check(known, ("actions", i, "for"), "unknown_class", "is not one of classes")
        self._check_review(faults)
        self._check_cells(faults)
        faults.raise_any()
        return self

    def _check_review(self, faults: Faults) -> None:
        reviews = [i for i, action in enumerate(self.actions) if action.kind == "review"]
        for i in reviews[1:]:
            faults.check(False, ("actions", i, "kind"), "duplicate", "only one action can be the review")
        for i in reviews:
            faults.check(self.review is not None, ("review",), "missing", "an action of kind review needs it")
            serves_none = self.actions[i].serves is None
            faults.check(serves_none, ("actions", i, "for"), "review_serves", "a review serves no class")
        if self.review is not None:
            faults.check(bool(reviews), ("review",), "no_review_action", "no action is of kind review")
            same = set(self.review.accuracy) == set(self.classes)
            faults.check(same, ("review", "accuracy"), "classes", "must name each of classes once")

    def _check_cells(self, faults: Faults) -> None:
        decisions = {action.name for action in self.actions if action.kind == "decide"}
        reviews = {action.name for action in self.actions if action.kind == "review"}
        faults.check(len(decisions) > 1, ("actions",), "too_few", "at least two must decide")
        seen: set[tuple[str, str]] = set()
        for i, item in enumerate(self.costs):
            faults.check(
                item.true in self.classes, ("costs", i, "true"), "unknown_class", "is not in classes"
            )
            if item.action in reviews:
                message = "the cost of a review is computed from fee and accuracy, never given"
                faults.check(False, ("costs", i, "action"), "review_cell", message)
            else:
                known = item.action in decisions
                faults.check(known, ("costs", i, "action"), "unknown_action", "is not in actions")
            new = (item.true, item.action) not in seen
            faults.check(new, ("costs", i), "duplicate", "this cell is given twice")
            seen.add((item.true, item.action))


#: What tells the forms apart; a request that has keys of two forms is refused.
_FORMS: tuple[tuple[type[BinaryCosts | MatrixCosts | ActionCosts], frozenset[str]], ...] = (
    (BinaryCosts, frozenset({"fn", "fp", "tp", "tn"})),
    (MatrixCosts, frozenset({"matrix", "orientation"})),
    (ActionCosts, frozenset({"actions", "costs", "review"})),
)


#: The right forms, for who wrote another one.
FORMS = (
    '{"fn": 500, "fp": 10}, '
    '{"classes": ["a", "b"], "matrix": [[0, 1], [5, 0]], "orientation": "rows_true"}, '
    'or {"classes", "actions", "costs"}'
)


def form_of(value: Mapping[str, Any]) -> type[BinaryCosts | MatrixCosts | ActionCosts]:
    """Which of the three forms a mapping is written in, by its keys."""
    found = [form for form, keys in _FORMS if keys & value.keys()]
    if len(found) > 1:
        raise custom("two_cost_forms", "these are two forms of costs together; write one of: " + FORMS)
    if not found:
        raise custom("no_costs", "no costs are here; write one of: " + FORMS)
    return found[0]


def _costs(value: Any, _: Callable[[Any], Any]) -> BinaryCosts | MatrixCosts | ActionCosts:
    if isinstance(value, BinaryCosts | MatrixCosts | ActionCosts):
        return value
    if not isinstance(value, Mapping):
        raise custom("costs_type", "costs are an object; write one of: " + FORMS)
    return form_of(value).model_validate(value)


#: Costs in any of the three forms; faults are reported for the form that was meant.
Costs: TypeAlias = Annotated[BinaryCosts | MatrixCosts | ActionCosts, WrapValidator(_costs)]
COSTS: TypeAdapter[BinaryCosts | MatrixCosts | ActionCosts] = TypeAdapter(Costs)
