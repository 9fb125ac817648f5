"""Decision records: made with the answer, written in batches aside from it, read by their id."""

import threading
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from service.db import predictions, registry
from service.db.engine import is_outage
from service.domain.decision_records import DecisionRecord
from service.domain.errors import NotFoundError, UnavailableError
from service.domain.ids import new_id
from service.domain.models import Model
from service.domain.predictions import Selector
from service.rows import Sent, plain_row, text_of
from service.usecases.predicting import Predicted, Priced
from service.usecases.scoring import Loaded

Sessions = sessionmaker[Session]

#: What is kept is written this often, in seconds: at most as much is lost when the process is killed.
WRITE_SECONDS = 0.25
#: Records written in one transaction.
BATCH = 1_000
#: Records that wait while the database is away; more are refused.
MAX_WAITING = 200_000

log = structlog.get_logger("service.recording")


class Recorder:
    """Writes decision records aside from the answers."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._waiting: deque[DecisionRecord] = deque()
        self._stopped = threading.Event()
        self._writer = threading.Thread(
            target=self._write_until_stopped, name="decision-records", daemon=True
        )

    @property
    def waiting(self) -> int:
        """How many records are not written yet."""
        return len(self._waiting)

    def start(self) -> None:
        """Begin to write."""
        self._writer.start()

    def stop(self) -> None:
        """Write what waits, and end."""
        self._stopped.set()
        self._writer.join()

    def keep(self, records: Sequence[DecisionRecord]) -> None:
        """
        Have records written soon; returns at once.

        Raises
        ------
        UnavailableError
            Too many wait already: the database is away or too slow.
        """
        if len(self._waiting) + len(records) > MAX_WAITING:
            raise UnavailableError("busy", "too many decision records wait to be written")
        self._waiting.extend(records)

    def write(self, records: Sequence[DecisionRecord]) -> None:
        """Write records; once this returns they are not lost."""
        with self._sessions.begin() as session:
            predictions.add_all(session, records)

    def _write_until_stopped(self) -> None:
        while not self._stopped.wait(WRITE_SECONDS):
            self._write_waiting()
        self._write_waiting()

    def _write_waiting(self) -> None:
        while self._waiting:
            batch = [self._waiting[i] for i in range(min(BATCH, len(self._waiting)))]
            try:
                self._write_batch(batch)
            except (DBAPIError, PoolTimeoutError) as error:
                log.warning("decision records cannot be written yet", error=type(error).__name__)
                return
            for _ in batch:
                self._waiting.popleft()

    def _write_batch(self, batch: Sequence[DecisionRecord]) -> None:
        try:
            self.write(batch)
        except DBAPIError as error:
            if is_outage(error):
                raise
            # One that the database does not take must not hold up the others.
            for record in batch:
                self._write_alone(record)

    def _write_alone(self, record: DecisionRecord) -> None:
        try:
            self.write([record])
        except DBAPIError as error:
            if is_outage(error):
                raise
            # The message of the error would hold the values of the row.
            log.warning("a decision record was not written", error=type(error).__name__, record=record.id)


def records_of(
    loaded: Loaded, selector: Selector, sent: Sent, predicted: Predicted, priced: Priced | None
) -> list[DecisionRecord]:
    """Make the records of all rows that were decided, in the order of `predicted.sound`."""
    answers = predicted.answers
    if answers is None:
        return []
    assert answers.cells is not None
    now = datetime.now(UTC)
    version, subject = loaded.version, loaded.version.schema.get("subject")
    inputs = loaded.predictor.inputs(None if priced is None else priced.costs)
    labels, control = [*answers.classes, None], predicted.control
    cells = answers.cells.tolist()
    constant = answers.cells.ndim == 2
    return [
        DecisionRecord(
            id=new_id("pred"),
            tenant_id=version.tenant_id,
            model_id=version.model_id,
            version_id=version.id,
            version_number=version.number,
            alias=selector.alias,
            row_id=text_of(sent.cell(row, "id")),
            subject=None if subject is None else text_of(sent.cell(row, subject)),
            decided_at=now,
            probabilities=dict(zip(answers.classes, p, strict=True)),
            decision=answers.actions[decision],
            rule_decision=answers.actions[chosen],
            label=labels[label],
            decision_source=source,
            expected_cost=dict(zip(answers.actions, cost, strict=True)),
            costs=_named(answers.classes, answers.actions, cells if constant else cells[place]),
            propensity=propensity,
            row=plain_row(predicted.columns, inputs, place) if loaded.model.record_rows else None,
        )
        for place, (row, p, decision, chosen, label, source, propensity, cost) in enumerate(
            zip(
                predicted.sound.tolist(),
                answers.probabilities.tolist(),
                answers.decision.tolist(),
                (answers.decision if control is None else control.rule_decision).tolist(),
                answers.label.tolist(),
                predicted.sources,
                [1.0] * len(answers.label) if control is None else control.propensity.tolist(),
                answers.expected_cost.tolist(),
                strict=True,
            )
        )
    ]


def read_record(readers: Sessions, tenant: str, prediction_id: str) -> tuple[DecisionRecord, Model | None]:
    """
    Read a record and the model that decided, if that is still there.

    Raises
    ------
    NotFoundError
    """
    with readers() as session:
        record = predictions.find(session, tenant, prediction_id)
        if record is None:
            raise NotFoundError("prediction", prediction_id)
        return record, registry.find_model_by_id(session, tenant, record.model_id)


def newest_records(
    readers: Sessions, tenant: str, models: Sequence[Model], limit: int
) -> list[DecisionRecord]:
    """Read the newest decisions of some models together, each model's found by its index."""
    with readers() as session:
        found = [one for model in models for one in predictions.newest(session, tenant, model.id, limit)]
    return sorted(found, key=lambda one: (one.decided_at, one.id), reverse=True)[:limit]


def _named(classes: Sequence[str], actions: Sequence[str], cells: Any) -> dict[str, dict[str, float]]:
    return {name: dict(zip(actions, row, strict=True)) for name, row in zip(classes, cells, strict=True)}
