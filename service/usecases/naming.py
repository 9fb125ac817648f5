"""What a request calls by its id, or by its name and then means the newest of it."""

from sqlalchemy.orm import Session

from service.db import cost_specs, datasets
from service.domain.cost_specs import CostSpec
from service.domain.datasets import Dataset


def cost_spec_called(session: Session, tenant: str, called: str) -> CostSpec | None:
    """Find a cost spec by id, or the latest revision of a name."""
    if not _is_storable(called):
        return None
    found = cost_specs.find_cost_spec(session, tenant, called)
    return found or cost_specs.newest_revision(session, tenant, called)


def dataset_called(session: Session, tenant: str, called: str) -> Dataset | None:
    """Find a dataset by id, or the newest one of a name."""
    if not _is_storable(called):
        return None
    found = datasets.find_dataset(session, tenant, called)
    return found or datasets.newest_of_name(session, tenant, called)


def _is_storable(text: str) -> bool:
    """What PostgreSQL cannot hold is not brought before it."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
