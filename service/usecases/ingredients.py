"""The dataset and the costs that a spec names: found in the database, carried to the child of an attempt."""

from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from service.domain.costs import COSTS, Costs
from service.domain.datasets import Dataset
from service.domain.exports import dataset_of
from service.domain.models import Version
from service.domain.training import SettledSpec, TrainingSpec
from service.usecases.naming import cost_spec_called, dataset_called, required_cost_spec, unknown_dataset

_DATASET = TypeAdapter(Dataset)


def find(
    session: Session, tenant: str, spec: TrainingSpec, new: Dataset | None = None
) -> tuple[Dataset, Costs]:
    """Find what a spec names; a dataset that has no row yet may be given.

    Raises
    ------
    InvalidError
        The tenant has no such dataset or cost spec.
    """
    _, dataset, costs = place(session, tenant, spec, new)
    return dataset, costs


def place(
    session: Session, tenant: str, spec: TrainingSpec, new: Dataset | None = None
) -> tuple[TrainingSpec, Dataset, Costs]:
    """Find what a spec names, and put ids in place of names: tomorrow another may be the newest."""
    dataset = new or dataset_called(session, tenant, spec.dataset)
    if dataset is None:
        raise unknown_dataset()
    placed = spec.model_copy(update={"dataset": dataset.id})
    if spec.cost_spec is None:
        assert spec.costs is not None
        return placed, dataset, spec.costs
    found = required_cost_spec(session, tenant, spec.cost_spec)
    return placed.model_copy(update={"cost_spec": found.id}), dataset, found.costs


def of_version(session: Session, tenant: str, version: Version) -> tuple[Dataset, Costs, str | None]:
    """The dataset and the costs that a version was made of, and the currency if it is known.

    The dataset of an imported version is known, but not here: its id is empty.
    """
    if version.origin is not None:
        assert version.spec.costs is not None
        there = replace(dataset_of(version.origin), id="", content_sha256="")
        return there, version.spec.costs, version.origin["currency"]
    dataset, costs = find(session, tenant, version.spec)
    named = version.spec.cost_spec
    found = None if named is None else cost_spec_called(session, tenant, named)
    return dataset, costs, None if found is None else found.currency


def to_json(spec: TrainingSpec, dataset: Dataset, costs: Costs) -> dict[str, Any]:
    """Write all that a training needs as plain JSON."""
    return {
        "spec": spec.model_dump(mode="json"),
        "dataset": _DATASET.dump_python(dataset, mode="json"),
        "costs": costs.model_dump(mode="json"),
    }


def from_json(order: dict[str, Any]) -> tuple[TrainingSpec, Dataset, Costs]:
    """Read what :func:`to_json` wrote."""
    return (
        SettledSpec.model_validate(order["spec"]),
        _DATASET.validate_python(order["dataset"]),
        COSTS.validate_python(order["costs"]),
    )
