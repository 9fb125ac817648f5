"""Decision records on both databases: written once, read by their own tenant."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from service.db import predictions
from service.db.engine import open_database, sessions
from service.domain.decision_records import DecisionRecord
from service.domain.ids import new_id


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    database = open_database(database_url)
    with sessions(database)() as session:
        yield session
    database.dispose()


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


def test_a_record_is_read_as_it_was_written(session: Session) -> None:
    written = record(row={"amount": 500.0, "zip": None}, propensity=0.05, subject="s-1")
    predictions.add_all(session, [written, record()])
    assert predictions.find(session, "default", written.id) == written


def test_a_batch_can_be_tried_again(session: Session) -> None:
    first, second = record(), record()
    predictions.add_all(session, [first])
    predictions.add_all(session, [first, second])
    assert predictions.find(session, "default", second.id) == second


def test_of_another_tenant_there_is_nothing(session: Session) -> None:
    written = record()
    predictions.add_all(session, [written])
    assert predictions.find(session, "other", written.id) is None
    predictions.add_all(session, [])
