"""What can be done with a row, a review by a person included, and the class that each action serves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from costboost.cost_cells import CostCell
from costboost.costs import LARGEST_COST

# The class an action serves when none is given is found where every cost column holds this amount:
# large, so that per-row losses outweigh fixed handling fees, as they do for the rows that matter.
_TYPICAL_AMOUNT = 1e6


class UnservedActionsError(ValueError):
    """It is not clear which class some actions are for; `actions` names them."""

    def __init__(self, actions: tuple[str, ...]) -> None:
        named = ", ".join(map(repr, actions))
        super().__init__(f"cheapest for no class, so say which class they are for: the actions {named}")
        self.actions = actions

    def __reduce__(self) -> tuple[type[UnservedActionsError], tuple[tuple[str, ...]]]:
        return type(self), (self.actions,)


@dataclass(frozen=True)
class Action:
    """Something that can be done with a row, and the index of the class it serves (None: a review).

    Examples
    --------
    >>> Action("decline", serves=1), Action("review", serves=None).serves
    (Action(name='decline', serves=1), None)
    """

    name: str
    serves: int | None


@dataclass(frozen=True)
class Review:
    """A person looks at the row: pays `fee`, then decides rightly with the accuracy of its true class.

    Parameters
    ----------
    fee : float
        Money per reviewed row, >= 0.
    accuracy : tuple of float
        Probability of the right decision, one per class, in the order of the classes.
    capacity : int, optional
        Rows that can be reviewed per `per` (a name such as "day"; None: per file).
    shadow_price : float, default 0
        Least net benefit for which a review is worth its place.

    Examples
    --------
    >>> Review(fee=4.0, accuracy=(0.99, 0.9), capacity=200, per="day").capacity
    200
    """

    fee: float
    accuracy: tuple[float, ...]
    capacity: int | None = None
    shadow_price: float = 0.0
    per: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "accuracy", tuple(float(share) for share in self.accuracy))
        for name, price in (("fee", self.fee), ("shadow_price", self.shadow_price)):
            if not 0 <= price <= LARGEST_COST:
                raise ValueError(f"the {name} of a review must be finite and not negative, not {price}")
        if not all(0 <= share <= 1 for share in self.accuracy):
            raise ValueError("the accuracy of a review must lie in [0, 1] for every class")
        if self.capacity is not None and self.capacity < 0:
            raise ValueError(f"the capacity of a review must not be negative, not {self.capacity}")


def class_actions(classes: Sequence[str]) -> tuple[Action, ...]:
    """Make an action of each class, called like it."""
    return tuple(Action(name, k) for k, name in enumerate(classes))


def check_actions(actions: tuple[Action, ...], n_classes: int, review: Review | None) -> None:
    """Refuse actions of one name, classes that do not exist, and a review without its price."""
    names = [action.name for action in actions]
    if len(set(names)) != len(names):
        raise ValueError(f"actions need different names, not {names}")
    served = [action.serves for action in actions if action.serves is not None]
    if not served or not all(0 <= k < n_classes for k in served):
        raise ValueError("each action other than the review serves one of the classes")
    reviews = len(actions) - len(served)
    if reviews > 1 or reviews != (review is not None):
        raise ValueError("costs have at most one review action, given together with its fee and accuracy")
    if review is not None and len(review.accuracy) != n_classes:
        raise ValueError(f"the review needs an accuracy for each of the {n_classes} classes")


def serving_actions(
    actions: Sequence[Action | str], classes: Sequence[str], cells: Mapping[str, Sequence[CostCell]]
) -> tuple[Action, ...]:
    """Give each action that is told by its name alone the class it serves.

    That is the class of the same name, else the first one for which it is the cheapest action.

    Parameters
    ----------
    actions : sequence of Action or str
    classes : sequence of K str
    cells : mapping of action to K CostCell
        All actions but a review; per-row cells are compared at a large amount.

    Raises
    ------
    UnservedActionsError
        One of them is the cheapest of no class.
    """
    known: dict[str, int | None] = dict(zip(cells, _cheapest_for(cells.values()), strict=True))
    known |= {name: k for k, name in enumerate(classes) if name in known}
    lost = tuple(a for a in actions if isinstance(a, str) and known[a] is None)
    if lost:
        raise UnservedActionsError(lost)
    return tuple(a if isinstance(a, Action) else Action(a, known[a]) for a in actions)


def _cheapest_for(cells: Collection[Sequence[CostCell]]) -> list[int | None]:
    """For each action, given by its cells, the first class for which it is the cheapest."""
    names = {name for column in cells for cell in column for name in cell.per}
    typical = {name: np.array([_TYPICAL_AMOUNT]) for name in names}
    costs = np.array([[cell.evaluate(typical, 1)[0] for cell in column] for column in cells])
    cheapest = costs <= costs.min(axis=0)
    return [int(column.argmax()) if column.any() else None for column in cheapest]
