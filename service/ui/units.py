"""What costs are counted in: the currency of the cost spec that a version was trained with."""

from sqlalchemy.orm import Session, sessionmaker

from service.domain.errors import NotFoundError
from service.domain.models import Version
from service.usecases import cost_specs


def currency_of(readers: sessionmaker[Session], tenant: str, version: Version) -> str | None:
    """The currency of a version's costs, if it is known."""
    if version.origin is not None:
        told = version.origin.get("currency")
        return told if isinstance(told, str) else None
    return currency_of_spec(readers, tenant, version.spec.cost_spec)


def currency_of_spec(readers: sessionmaker[Session], tenant: str, cost_spec: str | None) -> str | None:
    """The currency of stored costs, if there are any."""
    if cost_spec is None:
        return None
    try:
        return cost_specs.read_cost_spec(readers, tenant, cost_spec).currency
    except NotFoundError:
        return None
