"""A training that guarded children do in tests; imported by name in the child."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import numpy as np

from service import learning
from service.compute import Compute, spread
from service.domain.costs import BinaryCosts
from service.domain.datasets import Column, Dataset
from service.domain.training import TrainingSpec


def fit_at(payload: Any, send: Any) -> Any:
    """Search and fit where the payload says; tells what was found, and the digest of the artifact."""
    rng, rows, costs = np.random.default_rng(0), 800, BinaryCosts(fn=5.0, fp=1.0)
    number = rng.normal(size=rows)
    fraud = number + rng.normal(size=rows) > 1.5
    columns = {"number": number, "label": np.where(fraud, "1", "0").astype(object)}
    dataset = Dataset(
        id="ds_1",
        tenant_id="",
        name="t",
        media_type="text/csv",
        sha256="",
        bytes=0,
        content_sha256="",
        rows=rows,
        label="label",
        classes=("0", "1"),
        class_counts={"0": int((~fraud).sum()), "1": int(fraud.sum())},
        positive_class="1",
        positive_class_inferred=True,
        columns=(Column("number", "number", "feature", 0, rows), Column("label", "category", "label", 0, 2)),
        created_at=datetime.now(UTC),
    )
    spec = TrainingSpec.model_validate(
        {
            "model": "m",
            "dataset": "ds_1",
            "costs": {"fn": 5, "fp": 1},
            "algorithm": "pcada",
            "search": {"params": {"n_estimators": {"low": 5, "high": 15}}, "trials": 3},
        }
    )

    def report(phase: str, at: int, rounds: int, fraction: float, figures: object) -> None:
        send({"phase": phase, "fraction": fraction})

    with spread(Compute(**payload)):
        found = learning.fit(spec, dataset, columns, costs, report)
    return {
        "artifact": hashlib.sha256(found.artifact).hexdigest(),
        "search": found.search,
        "warnings": found.warnings,
    }
