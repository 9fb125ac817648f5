"""Decision records on both databases: written once, read by their own tenant."""

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session

from service.db import predictions
from service.db.engine import open_database, sessions
from tests.service.records import record


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    database = open_database(database_url)
    with sessions(database)() as session:
        yield session
    database.dispose()


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
