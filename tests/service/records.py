"""Rows for tests that need some before anything is trained or predicted: versions, decision records."""

import os
import time
from datetime import UTC, datetime
from itertools import count
from typing import Any

from service.artifacts.folder import FolderStore
from service.artifacts.store import ArtifactStore
from service.db import models as versions
from service.db.tables import DatasetRow, TrainingJobRow
from service.domain.decision_records import DecisionRecord
from service.domain.ids import new_id
from service.domain.training import JobStatus, TrainingJob, TrainingSpec
from service.wiring import Wiring

_numbers = count()


def grown_old(store: ArtifactStore) -> None:
    """Make all that a folder holds two hours old."""
    assert isinstance(store, FolderStore)
    for digest in store.list():
        os.utime(store.root / digest[:2] / digest[2:4] / digest, (time.time() - 7200,) * 2)


def dataset_row(dataset_id: str) -> DatasetRow:
    """Row of a dataset whose bytes nobody reads."""
    return DatasetRow(
        id=dataset_id, tenant_id="default", name="d", media_type="text/csv",
        sha256="0" * 64, bytes=1, content_sha256="0" * 64, rows=2, label="y",
        classes=["0", "1"], class_counts={"0": 1, "1": 1}, positive_class="1",
        positive_class_inferred=True, columns=[], created_at=datetime.now(UTC),
    )  # fmt: skip


def add_version(
    wiring: Wiring, model: str = "cards", data: bytes | None = None, schema: dict[str, Any] | None = None
) -> int:
    """Add a version to a model as a finished training job does, and its bytes to the store."""
    now = datetime.now(UTC)
    artifact = f"bytes {next(_numbers)}".encode() if data is None else data
    with wiring.sessions() as session:
        dataset = dataset_row(new_id("ds"))
        spec = TrainingSpec(model=model, dataset=dataset.id, costs={"fn": 5, "fp": 1})
        job = TrainingJob(
            id=new_id("job"), tenant_id="default", model=model, dataset_id=dataset.id, spec=spec,
            status=JobStatus.SUCCEEDED, created_at=now,
        )  # fmt: skip
        session.add(dataset)
        session.flush()
        row = TrainingJobRow(id=job.id, tenant_id="default", model=model, dataset_id=dataset.id, spec=spec)
        row.status, row.created_at = "succeeded", now
        session.add(row)
        session.flush()
        number = versions.add_version(
            session, job, now, spec=spec, dataset_sha256="0" * 64, schema=schema or {"columns": []},
            metrics={"roc_auc": 0.9}, library_versions={"numpy": "2"}, training_seconds=1.5,
            artifact_sha256=wiring.store.put(artifact), artifact_bytes=len(artifact),
        )  # fmt: skip
        session.commit()
    return number


def record(**more: object) -> DecisionRecord:
    values: dict[str, object] = {
        "id": new_id("pred"),
        "tenant_id": "default",
        "model_id": "model_1",
        "version_id": "ver_1",
        "version_number": 1,
        "alias": "champion",
        "row_id": "tx-1",
        "subject": None,
        "decided_at": datetime.now(UTC),
        "probabilities": {"legit": 0.9, "fraud": 0.1},
        "decision": "fraud",
        "rule_decision": "fraud",
        "label": "fraud",
        "decision_source": "expected_cost",
        "expected_cost": {"legit": 50.0, "fraud": 9.0},
        "costs": {"legit": {"legit": 0.0, "fraud": 10.0}, "fraud": {"legit": 500.0, "fraud": 0.0}},
    }
    return DecisionRecord(**values | more)  # type: ignore[arg-type]
