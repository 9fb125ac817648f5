"""What-if: the rows, the version and the costs are found; a guarded child does the arithmetic."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.domain.cautions import Caution, cautions_of_test
from service.domain.costs import Costs
from service.domain.datasets import Dataset
from service.domain.errors import ConflictError, InvalidError
from service.domain.models import Model, Version
from service.domain.predictions import Selector
from service.domain.simulations import SimulationSpec
from service.usecases.datasets import Intake, guarded
from service.usecases.naming import dataset_called, required_cost_spec, unknown_dataset
from service.usecases.resolution import resolve

Sessions = sessionmaker[Session]
TARGET = "service.usecases.simulation_child:run"


@dataclass(frozen=True)
class Simulated:
    """
    What came out.

    Attributes
    ----------
    dataset : Dataset or None
        Whose rows they are; None where only the rows set aside in training are known.
    warnings : sequence of pairs of str
        Code and detail of what must be known when reading the figures.
    found : dict
        See `service.learning.simulating.simulate`.
    """

    model: Model
    version: Version
    dataset: Dataset | None
    warnings: Sequence[Caution]
    found: dict[str, Any]


def simulate(readers: Sessions, intake: Intake, selector: Selector, spec: SimulationSpec) -> Simulated:
    """
    Ask what decisions would cost.

    Raises
    ------
    NotFoundError
        No such model, alias or version.
    InvalidError
        The dataset or costs are unknown or do not fit.
    ConflictError
        `no_report`: the version was made before the rows set aside were kept.
    """
    if spec.costs is not None and spec.cost_spec is not None:
        raise InvalidError.at("/cost_spec", "exclusive", "cannot be given together with costs")
    with readers() as session:
        model, version = resolve(session, selector)
        dataset = _dataset(session, version, spec)
        costs = _costs(session, version, spec)
    if spec.dataset is None and version.test_part_sha256 is None:
        detail = "the rows set aside in training were not kept for this version; name a dataset"
        raise ConflictError("no_report", detail)
    with _files(intake.store, version, dataset, whole=spec.dataset is not None) as files:
        payload = {
            **files,
            "columns": [] if dataset is None else [asdict(column) for column in dataset.columns],
            "label": None if dataset is None else dataset.label,
            "costs": None if costs is None else costs.model_dump(mode="json"),
            "at": "/costs" if spec.cost_spec is None else "/cost_spec",
            "priors": spec.priors,
            "by_time": version.spec.split.kind == "time",
            "capacity": None if spec.capacity is None else spec.capacity.model_dump(mode="json"),
        }
        found: dict[str, Any] = guarded(intake, TARGET, payload)
    warnings = [*_cautions(version, spec, dataset, found), *map(tuple, found.pop("warnings"))]
    return Simulated(model, version, dataset, warnings, found)


def _cautions(
    version: Version, spec: SimulationSpec, dataset: Dataset | None, found: dict[str, Any]
) -> list[Caution]:
    if spec.dataset is None:
        return cautions_of_test(found["class_counts"], version.metrics)
    if dataset is not None and dataset.id == version.dataset_id:
        detail = "the version was trained on rows of this dataset, so it does better here than it will"
        return [("trained_on", detail)]
    return []


def _dataset(session: Session, version: Version, spec: SimulationSpec) -> Dataset | None:
    """The dataset that is asked for, or the one that the rows set aside belong to."""
    called = version.dataset_id if spec.dataset is None else spec.dataset
    dataset = None if called is None else dataset_called(session, version.tenant_id, called)
    if dataset is None and spec.dataset is not None:
        raise unknown_dataset()
    return dataset


def _costs(session: Session, version: Version, spec: SimulationSpec) -> Costs | None:
    if spec.cost_spec is None:
        return spec.costs
    return required_cost_spec(session, version.tenant_id, spec.cost_spec).costs


@contextmanager
def _files(
    store: ArtifactStore, version: Version, dataset: Dataset | None, *, whole: bool
) -> Iterator[dict[str, str | None]]:
    """Copies of what the child reads, wherever the store keeps it."""
    wanted = {
        "artifact": version.artifact_sha256,
        "test_part": None if whole else version.test_part_sha256,
        "content": None if dataset is None else dataset.content_sha256,
    }
    with ExitStack() as stack:
        yield {
            name: None if digest is None else str(_copied(store, digest, stack))
            for name, digest in wanted.items()
        }


def _copied(store: ArtifactStore, digest: str, stack: ExitStack) -> Path:
    copy = stack.enter_context(store.spool())
    with store.open(digest) as source, copy.open("wb") as target:
        shutil.copyfileobj(source, target)
    return copy
