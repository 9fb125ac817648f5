"""The sweep on both databases: what has had its time goes, and nothing else."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from service.db import feedback, idempotency, predictions
from service.db.tables import (
    ArtifactMarkRow,
    BatchPredictionRow,
    FeedbackRow,
    IdempotencyRow,
    ModelRow,
    PredictionRow,
    SweepRow,
)
from service.domain.feedback import Feedback
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from service.usecases import sweeping
from service.usecases.sweeping import Report
from service.wiring import Wiring, wire
from tests.service.conftest import settings_for
from tests.service.records import add_version, grown_old, record

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def wiring(database_url: str, tmp_path: Path) -> Iterator[Wiring]:
    wiring = wire(settings_for(database_url, tmp_path))
    yield wiring
    wiring.close()


def swept(wiring: Wiring) -> dict[str, int]:
    report = sweeping.sweep(wiring.sessions, wiring.readers, wiring.store, wiring.queue)
    return {name: count for name, count in asdict(report).items() if count}


def aged(wiring: Wiring, sha256: str, days: float = 2.0) -> None:
    path = wiring.store.root / sha256[:2] / sha256[2:4] / sha256
    os.utime(path, (time.time() - days * 86400,) * 2)


def test_nothing_to_do(wiring: Wiring) -> None:
    assert swept(wiring) == {}
    with wiring.readers() as session:
        [row] = session.scalars(select(SweepRow))
        assert row.finished_at is not None
        assert row.report == asdict(Report())


def test_records_are_kept_as_long_as_their_model_says(wiring: Wiring) -> None:
    """Two of a model that keeps 30 days, one young and one old with shadow and feedback; an old one of a
    model that keeps for ever; one whose model is gone."""
    kept = {"tenant_id": "default", "created_at": NOW, "updated_at": NOW}
    old = record(model_id="m30", decided_at=NOW - 31 * DAY)
    young = record(model_id="m30", decided_at=NOW - 29 * DAY)
    shadow = record(model_id="m30", decided_at=NOW - 31 * DAY, shadow_of=old.id)
    lasting = record(model_id="ever", decided_at=NOW - 5000 * DAY)
    orphan = record(model_id="gone", decided_at=NOW - timedelta(minutes=1))
    with wiring.sessions.begin() as session:
        session.add(ModelRow(id="m30", name="m30", retention_days=30, **kept))
        session.add(ModelRow(id="ever", name="ever", **kept))
        predictions.add_all(session, [old, young, shadow, lasting, orphan])
        told = [
            Feedback(new_id("fb"), "default", one.id, "fraud", NOW, None, NOW) for one in (old, young, orphan)
        ]
        feedback.add_all(session, told)
    assert swept(wiring) == {"decision_records": 3, "feedback": 2}
    with wiring.readers() as session:
        assert set(session.scalars(select(PredictionRow.id))) == {young.id, lasting.id}
        assert list(session.scalars(select(FeedbackRow.prediction_id))) == [young.id]
    assert swept(wiring) == {}


def test_batch_predictions_are_kept_as_long_as_their_model_says(wiring: Wiring) -> None:
    """Of a model that keeps 30 days one young, one old and one that waits; one of a model that keeps for
    ever; one whose model is gone."""
    kept = {"tenant_id": "default", "created_at": NOW, "updated_at": NOW}
    days = {"young": 29, "old": 31, "waits": None, "lasting": 5000, "orphan": 0}
    of = {"lasting": "ever", "orphan": "gone"}
    with wiring.sessions.begin() as session:
        session.add(ModelRow(id="m30", name="m30", retention_days=30, **kept))
        session.add(ModelRow(id="ever", name="ever", **kept))
        for name, ago in days.items():
            over = None if ago is None else NOW - ago * DAY - timedelta(minutes=1)
            row = BatchPredictionRow(id=f"bp_{name}", tenant_id="default", model=of.get(name, "m30"))
            row.version, row.spec, row.order, row.created_at = 1, {}, {}, NOW
            row.status = "queued" if over is None else "succeeded"
            row.finished_at, row.input_sha256 = over, wiring.store.put(name.encode())
            row.output_sha256 = None if over is None else wiring.store.put(f"of {name}".encode())
            session.add(row)
    grown_old(wiring.store)
    assert swept(wiring) == {"batch_predictions": 2}
    assert len(set(wiring.store.list())) == 5
    with wiring.readers() as session:
        assert set(session.scalars(select(BatchPredictionRow.id))) == {"bp_young", "bp_waits", "bp_lasting"}
    assert swept(wiring) == {}


def test_answers_to_keys_are_forgotten_after_a_day(wiring: Wiring) -> None:
    with wiring.sessions.begin() as session:
        for name in ("old", "young"):
            idempotency.reserve(session, Receipt(name, "me"), "default")
        old = update(IdempotencyRow).where(IdempotencyRow.id == "old")
        session.execute(old.values(created_at=NOW - timedelta(hours=25)))
    assert swept(wiring) == {"stored_answers": 1}


def test_what_nobody_refers_to_is_marked_and_then_deleted(wiring: Wiring) -> None:
    add_version(wiring, data=b"in use")
    used, *others = (wiring.store.put(data) for data in (b"in use", b"a", b"b", b"young"))
    for sha256 in (used, *others[:2]):
        aged(wiring, sha256)
    assert swept(wiring) == {"artifacts_marked": 2}
    assert swept(wiring) == {"artifacts_marked": 2}  # not so soon
    with wiring.sessions.begin() as session:
        session.execute(update(ArtifactMarkRow).values(marked_at=NOW - timedelta(hours=1)))
    wiring.store.put(b"b")  # somebody stores it again: it is young
    assert swept(wiring) == {"artifacts_deleted": 1}
    assert set(wiring.store.list()) == {used, *others[1:]}
    with wiring.readers() as session:
        assert session.scalar(select(func.count()).select_from(ArtifactMarkRow)) == 0


def test_what_is_referred_to_again_is_no_longer_marked(wiring: Wiring) -> None:
    sha256 = wiring.store.put(b"late row")
    aged(wiring, sha256)
    assert swept(wiring) == {"artifacts_marked": 1}
    add_version(wiring, data=b"late row")
    aged(wiring, sha256)
    assert swept(wiring) == {}
    assert wiring.store.exists(sha256)


def test_what_dead_writers_left_is_removed(wiring: Wiring) -> None:
    with wiring.store.spool() as left, wiring.store.spool() as under_way:
        os.utime(left, (time.time() - 2 * 86400,) * 2)
        assert swept(wiring) == {"incoming_files": 1}
        assert under_way.exists()


def test_entries_of_the_queue_that_ended_long_ago_are_forgotten(wiring: Wiring) -> None:
    with wiring.sessions.begin() as session:
        for name in ("job_ended", "job_waiting"):
            wiring.queue.enqueue(session, name)
    wiring.queue.cancel("job_ended")
    assert wiring.queue.forget(NOW - DAY) == 0
    assert wiring.queue.forget(datetime.now(UTC) + DAY) == 1
    assert wiring.queue.waiting_or_begun() == {"job_waiting"}


def test_of_many_workers_one_sweeps_in_each_stretch_of_time(wiring: Wiring) -> None:
    parts = (wiring.sessions, wiring.readers, wiring.store, wiring.queue)
    assert sweeping.scheduled(*parts, every=86400.0)
    assert not sweeping.scheduled(*parts, every=86400.0)
