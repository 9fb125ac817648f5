"""How far rows and probabilities have moved since a version was tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import datasets, registry
from service.db import outcomes as records
from service.domain.datasets import InputColumn
from service.domain.errors import ConflictError, NotFoundError
from service.domain.models import Version
from service.domain.outcomes import Recorded, Span
from service.learning import ClassDrift, InputDrift, TestPart, class_drifts, input_drifts
from service.rows import decode_rows, read_rows
from service.usecases.evaluations import open_test_part

Sessions = sessionmaker[Session]

#: The newest decisions, and rows of the test part: more would not make it clearer.
MOST = 20_000


@dataclass(frozen=True)
class VersionDrift:
    """
    Drift of one version.

    Attributes
    ----------
    inputs : list of InputDrift, or None
        None where the records hold no rows, or the dataset is gone.
    """

    version: int
    classes: list[ClassDrift]
    inputs: list[InputDrift] | None


def drift(readers: Sessions, store: ArtifactStore, tenant: str, name: str, span: Span) -> list[VersionDrift]:
    """
    Compare the decisions of a time with the test parts of their versions, the newest version first.

    Versions that were deleted, or have no test part, are left out.

    Raises
    ------
    NotFoundError
    """
    with readers() as session:
        model = registry.find_model(session, tenant, name)
        if model is None:
            raise NotFoundError("model", name)
        versions = {one.id: one for one in registry.list_versions(session, model, None, None)}
        positives = {one.id: one.schema.get("positive_class") for one in versions.values()}
        found = records.recorded(session, model, positives, span, MOST)
    by_version = sorted(found, key=lambda one: one.version_id)
    drifts = [
        _of(readers, store, versions[version_id], list(part))
        for version_id, part in groupby(by_version, key=lambda one: one.version_id)
        if version_id in versions and versions[version_id].test_part_sha256 is not None
    ]
    return sorted(drifts, key=lambda one: -one.version)


def _of(readers: Sessions, store: ArtifactStore, version: Version, found: Sequence[Recorded]) -> VersionDrift:
    part = open_test_part(store, version)
    rows = [dict(one.row) for one in found if one.row is not None]
    inputs = _inputs(readers, store, version, part, rows) if rows and part.rows.size else None
    return VersionDrift(version.number, class_drifts(part, found), inputs)


def _inputs(
    readers: Sessions, store: ArtifactStore, version: Version, part: TestPart, rows: Sequence[dict[str, Any]]
) -> list[InputDrift] | None:
    if version.dataset_id is None:  # it came from elsewhere
        return None
    columns = version.schema["columns"]
    described = [InputColumn(column["name"], column["type"], optional=True) for column in columns]
    tested = part.rows[:: 1 + len(part.rows) // MOST]
    with readers() as session:
        dataset = datasets.find_dataset(session, version.tenant_id, version.dataset_id)
    if dataset is None:
        return None
    try:
        with store.open(dataset.content_sha256) as file:
            reference = read_rows(file, described, tested)
    except ConflictError:  # deleted meanwhile
        return None
    return input_drifts(reference, decode_rows(rows, described).columns)
