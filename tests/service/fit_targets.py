"""Trainings and predictions that guarded children do in tests; imported by name in the child."""

import hashlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from service import learning
from service.cli.partitioned import train_folder
from service.compute import Compute, spread
from service.domain.costs import COSTS, BinaryCosts
from service.domain.datasets import Column, Dataset
from service.domain.errors import InvalidError
from service.domain.training import TrainingSpec


def fit_at(payload: Any, send: Any) -> Any:
    """Search and fit where the payload says; tells what was found, and the digest of the artifact."""
    spec = {
        "algorithm": "pcada",
        "search": {"params": {"n_estimators": {"low": 5, "high": 15}}, "trials": 3},
    }

    def report(phase: str, at: int, rounds: int, fraction: float, figures: object) -> None:
        send({"phase": phase, "fraction": fraction})

    with spread(Compute(**payload)):
        found = _fitted(spec, report)
    return {
        "artifact": hashlib.sha256(found.artifact).hexdigest(),
        "search": found.search,
        "warnings": found.warnings,
    }


def predict_at(payload: Any, send: Any) -> Any:
    """Decide rows in parts where the payload says; tells what came of it, and what a faulty part says.

    Of `pause_at`, which goes before the place, the payload says before which part it is told and then waited
    a moment.
    """
    pause_at = payload.pop("pause_at", None)
    artifact = _fitted({"algorithm": "cgada", "params": {"n_estimators": 5}}).artifact
    predictor = learning.load(artifact)
    costs = predictor.cost_spec(COSTS.validate_python({"fn": {"per": {"number": 2}, "fixed": 9}, "fp": 1}))
    numbers = np.random.default_rng(1).normal(size=3000)
    parts = [{"number": part} for part in np.split(numbers, 30)]

    def taken() -> Iterator[Any]:
        for number, part in enumerate(parts):
            if number == pause_at:
                send({"part": number})
                time.sleep(3.0)  # for the worker to die
            yield part

    asked = learning.Asked(costs, {"1": 0.2}, reasons=1)
    faulty = [*parts, {"number": np.array([1e300])}]
    with spread(Compute(**payload)):
        found = list(learning.predict_parts(predictor, artifact, taken(), asked))
        error = None
        try:
            list(learning.predict_parts(predictor, artifact, faulty, asked))
        except InvalidError as raised:
            error = [raised.code, [vars(fault) for fault in raised.errors]]
    arrays = [part.expected_cost for part in found]
    arrays += [part.explanation.contributions for part in found if part.explanation is not None]
    return {"digest": hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest(), "error": error}


def train_folder_at(payload: Any, send: Any) -> Any:
    """Train on the folder of the payload, where the rest of it says; tells the digest of the model."""
    folder = Path(payload.pop("folder"))
    spec = {"model": "m", "costs": {"fn": 5, "fp": 1}, "algorithm": "cgada", "params": {"n_estimators": 5}}
    made = train_folder(folder, spec, {}, Compute(**payload), lambda *_: None)
    return hashlib.sha256(made.artifact).hexdigest()


def _fitted(spec: dict[str, Any], report: Any = None) -> Any:
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
    asked = {"model": "m", "dataset": "ds_1", "costs": {"fn": 5, "fp": 1}, **spec}
    return learning.fit(TrainingSpec.model_validate(asked), dataset, columns, costs, report)
