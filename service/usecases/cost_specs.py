"""Keeping costs under a name, and saying what they lead to."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.db import cost_specs, idempotency
from service.domain.cost_specs import AnyCosts, CostSpec
from service.domain.datasets import Dataset
from service.domain.errors import InvalidError, NotFoundError
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from service.usecases.naming import cost_spec_called

Sessions = sessionmaker[Session]
#: Costs one by one, as `learning.describe` lists them.
Cells: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True)
class Meaning:
    """What costs mean.

    Attributes
    ----------
    cells : list of dict
        Each cost with its name, true class and action.
    checks : dict
        `reasonable`, `per_row`, `dominated_actions`.
    consequences : list of str
        What is decided, in words.
    """

    cells: Cells
    checks: dict[str, Any]
    consequences: list[str]


def meaning_of(costs: AnyCosts, at: str = "") -> Meaning:
    """Check costs, which stand at this pointer, and say what they lead to.

    Raises
    ------
    InvalidError
        `unreasonable_costs` with the cells, `zero_costs`, `unserved_class`.
    """
    spec = learning.cost_spec(costs, at=at)
    return Meaning(learning.describe(spec), learning.checks(spec), learning.consequences(spec))


def meaning_of_kept(costs: AnyCosts) -> Meaning:
    """Say what kept costs lead to; those that today's rules refuse lead to nothing, and are told why."""
    try:
        return meaning_of(costs)
    except InvalidError as error:
        checks = {"reasonable": False, "explanation": error.detail, "per_row": bool(costs.columns)}
        return Meaning([], checks | {"dominated_actions": []}, [])


def look_swapped(cells: Cells, dataset: Dataset | None) -> bool:
    """Suspect costs by which the positive class, the rare one as far as is known, is the cheaper to miss."""
    ratio = ratio_of(cells)
    if ratio is None or ratio >= 1:
        return False
    if dataset is None or dataset.positive_class is None:
        return True
    return 2 * dataset.class_counts[dataset.positive_class] < dataset.rows


def ratio_of(cells: Cells) -> float | None:
    """How many false alarms one missed positive is worth; None where costs are not four amounts."""
    costs = {one["name"]: one["cost"] for one in cells}
    if costs.keys() != {"fn", "fp", "tp", "tn"} or not all(isinstance(one, float) for one in costs.values()):
        return None
    miss, alarm = costs["fn"] - costs["tp"], costs["fp"] - costs["tn"]
    return miss / alarm if miss > 0 and alarm > 0 else None


def create_cost_spec(
    sessions: Sessions,
    tenant: str,
    name: str,
    currency: str | None,
    costs: AnyCosts,
    *,
    at: str = "",
    receipt: Receipt | None = None,
) -> tuple[CostSpec, Meaning]:
    """Keep checked costs as the next revision of a name."""
    meaning = meaning_of(costs, at)
    with sessions() as session:
        spec = CostSpec(
            id=new_id("cs"),
            tenant_id=tenant,
            name=name,
            revision=cost_specs.next_revision(session, tenant, name),
            currency=currency,
            costs=costs,
            created_at=datetime.now(UTC),
        )
        cost_specs.add_cost_spec(session, spec)
        idempotency.sign(session, receipt, f"/v1/cost-specs/{spec.id}")
        session.commit()
    return spec, meaning


def read_cost_spec(readers: Sessions, tenant: str, called: str) -> CostSpec:
    """Read one revision by its id, or the latest one of a name.

    Raises
    ------
    NotFoundError
        There is none of this id or name.
    """
    with readers() as session:
        found = cost_spec_called(session, tenant, called)
    if found is None:
        raise NotFoundError("cost spec", called)
    return found


def list_cost_specs(readers: Sessions, tenant: str, limit: int, after: str | None) -> list[CostSpec]:
    """List revisions, newest first."""
    with readers() as session:
        return cost_specs.list_cost_specs(session, tenant, limit, after)
