"""What a request calls by its id, or by its name and then means the newest of it."""

from sqlalchemy.orm import Session

from service.db import cost_specs, datasets
from service.domain.cost_specs import CostSpec
from service.domain.datasets import Dataset
from service.domain.errors import InvalidError
from service.domain.strict_json import is_storable


def cost_spec_called(session: Session, tenant: str, called: str) -> CostSpec | None:
    """Find a cost spec by id, or the latest revision of a name."""
    if not is_storable(called):
        return None
    found = cost_specs.find_cost_spec(session, tenant, called)
    return found or cost_specs.newest_revision(session, tenant, called)


def dataset_called(session: Session, tenant: str, called: str) -> Dataset | None:
    """Find a dataset by id, or the newest one of a name."""
    if not is_storable(called):
        return None
    found = datasets.find_dataset(session, tenant, called)
    return found or datasets.newest_of_name(session, tenant, called)


def required_cost_spec(session: Session, tenant: str, called: str) -> CostSpec:
    """Find the cost spec that a request names.

    Raises
    ------
    InvalidError
        There is none of this id or name.
    """
    found = cost_spec_called(session, tenant, called)
    if found is None:
        raise InvalidError.at("/cost_spec", "unknown_cost_spec", "there is no cost spec of this id or name")
    return found


def unknown_dataset() -> InvalidError:
    """Make the error of a request whose dataset does not exist."""
    return InvalidError.at("/dataset", "unknown_dataset", "there is no dataset of this id or name")
