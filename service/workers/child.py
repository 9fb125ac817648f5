"""The process of one attempt: what is called in the guarded child, and what is done before it is born."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from service import learning
from service.compute import Compute, spread
from service.domain.costs import BinaryCosts
from service.domain.datasets import Column, Dataset
from service.domain.training import TrainingSpec
from service.usecases import batch_child, checkpoints, intake_child, training
from service.wiring import open_store

#: Progress is sent at most this often, in seconds; the rest would only be read and thrown away.
SEND_SECONDS = 0.2


def train(payload: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Train what is ordered and return what the attempt leaves, as plain JSON."""
    store, order = open_store(payload["store_url"]), payload["order"]
    kept = checkpoints.opened(store, order=order, send=send, **payload["checkpoints"])
    with spread(Compute(**payload["compute"])):
        return training.execute(store, order, _sparing(send), kept)


def predict(payload: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Decide the rows of a batch prediction and return what the attempt leaves, as plain JSON."""
    store, compute = open_store(payload["store_url"]), Compute(**payload["compute"])
    return batch_child.execute(store, payload["order"], _sparing(send), compute)


def take_in(payload: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Read the table of an intake job and return what the attempt leaves, as plain JSON."""
    return intake_child.execute(open_store(payload["store_url"]), payload["order"], _sparing(send))


def prepare() -> None:
    """Train on a few made-up rows: what that loads and compiles, no child has to load again."""
    rows = 40
    columns = {
        "number": np.arange(rows, dtype=np.float64),
        "category": np.array(["a", "b"] * (rows // 2), dtype=object),
        "label": np.array(["0", "0", "1", "1"] * (rows // 4), dtype=object),
    }
    dataset = Dataset(
        id="ds_made_up",
        tenant_id="",
        name="made up",
        media_type="text/csv",
        sha256="",
        bytes=0,
        content_sha256="",
        rows=rows,
        label="label",
        classes=("0", "1"),
        class_counts={"0": rows // 2, "1": rows // 2},
        positive_class="1",
        positive_class_inferred=True,
        columns=(
            Column("number", "number", "feature", 0, rows),
            Column("category", "category", "feature", 0, 2),
            Column("label", "category", "label", 0, 2),
        ),
        created_at=datetime.now(UTC),
    )
    costs = BinaryCosts(fn=5.0, fp=1.0)
    spec = TrainingSpec(model="made-up", dataset=dataset.id, costs=costs)
    learning.fit(spec, dataset, columns, costs)


def _sparing(send: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
    last_sent = last_phase = None

    def report(
        phase: str, at: int, rounds: int, fraction: float, figures: Mapping[str, float] | None = None
    ) -> None:
        nonlocal last_sent, last_phase
        now = time.monotonic()
        if phase == last_phase and last_sent is not None and now < last_sent + SEND_SECONDS:
            return
        last_sent, last_phase = now, phase
        send(
            {
                "phase": phase,
                "round": at,
                "rounds": rounds,
                "fraction": fraction,
                "metrics": dict(figures or {}),
            }
        )

    return report
