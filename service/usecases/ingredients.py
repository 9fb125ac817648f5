"""The dataset and the costs that a spec names: found in the database, carried to the child of an attempt."""

from typing import Any

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from service.db.cost_specs import find_cost_spec
from service.db.datasets import find_dataset
from service.domain.costs import COSTS, Costs
from service.domain.datasets import Dataset
from service.domain.errors import FieldError, InvalidError
from service.domain.training import TrainingSpec

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
    dataset = new or find_dataset(session, tenant, spec.dataset)
    if dataset is None:
        raise unknown_dataset()
    if spec.cost_spec is None:
        assert spec.costs is not None
        return dataset, spec.costs
    found = find_cost_spec(session, tenant, spec.cost_spec)
    if found is None:
        raise _unknown("/cost_spec", "unknown_cost_spec", "there is no cost spec of this id")
    return dataset, found.costs


def unknown_dataset() -> InvalidError:
    """Make the error of a spec whose dataset does not exist."""
    return _unknown("/dataset", "unknown_dataset", "there is no dataset of this id")


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
        TrainingSpec.model_validate(order["spec"]),
        _DATASET.validate_python(order["dataset"]),
        COSTS.validate_python(order["costs"]),
    )


def _unknown(pointer: str, code: str, detail: str) -> InvalidError:
    return InvalidError(code, detail, [FieldError(pointer, code, detail)])
