"""Erasing one subject: all that is kept of them, of no one else, and of no other tenant."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from service.db import feedback, idempotency, predictions
from service.db.tables import AuditRow, FeedbackRow, IdempotencyRow, PredictionRow
from service.domain.feedback import Feedback
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from tests.service.conftest import Service, problem
from tests.service.records import record

NOW = datetime.now(UTC)


def test_a_subject_is_erased_from_records_and_feedback(fresh_service: Service) -> None:
    mine = [record(subject="c 1") for _ in range(2)]
    shadow = record(subject="c 1", shadow_of=mine[0].id)
    other, foreign = record(subject="c 2"), record(subject="c 1", tenant_id="other")
    with fresh_service.wiring.sessions.begin() as session:
        predictions.add_all(session, [*mine, shadow, other, foreign])
        told = [Feedback(new_id("fb"), "default", one.id, "fraud", NOW, None, NOW) for one in (*mine, other)]
        feedback.add_all(session, told)
    erased = fresh_service.http.delete("/v1/subjects/c%201")
    assert erased.status_code == 200
    expected: dict[str, Any] = {"decision_records": 3, "feedback": 2, "batch_predictions": 0}
    expected |= {"stored_answers": 0, "datasets": []}
    assert erased.json() == expected
    with fresh_service.wiring.readers() as session:
        assert set(session.scalars(select(PredictionRow.id))) == {other.id, foreign.id}
        assert list(session.scalars(select(FeedbackRow.prediction_id))) == [other.id]
        [entry] = session.scalars(select(AuditRow).where(AuditRow.action == "subject.erase"))
        assert "c 1" not in json.dumps([entry.target, entry.details])
    again = fresh_service.http.delete("/v1/subjects/c%201").json()
    assert again == {name: 0 if name != "datasets" else [] for name in expected}


def test_a_stored_answer_loses_its_body_and_nothing_else(fresh_service: Service) -> None:
    with fresh_service.wiring.sessions.begin() as session:
        for name, body in (("holds", '{"id": "Zoë 7"}'), ("other", '{"id": "Zoé 7"}')):
            receipt = Receipt(name, "me", "f")
            idempotency.reserve(session, receipt, "default")
            idempotency.keep(session, receipt, status=201, headers={}, body=body.encode())
    assert fresh_service.http.delete("/v1/subjects/Zo%C3%AB%207").json()["stored_answers"] == 1
    with fresh_service.wiring.readers() as session:
        rows = {row.id: row for row in session.scalars(select(IdempotencyRow))}
    assert (rows["holds"].body, rows["holds"].status) == (None, 201)
    assert rows["other"].body is not None


@pytest.mark.parametrize("kind", ["text", "number"])
def test_datasets_that_still_hold_the_subject_are_named(fresh_service: Service, kind: str) -> None:
    names = ["c1", "c2", "c3"] if kind == "text" else ["17", "18", "19"]
    lines = ["customer,x,label"] + [f"{names[i % 2]},{i},{i % 2}" for i in range(20)]
    roles = json.dumps({"customer": "subject"})
    held = fresh_service.upload("\n".join(lines) + "\n", name="held", roles=roles)
    fresh_service.upload("\n".join(lines) + "\n", name="no-subject", roles='{"customer": "ignore"}')
    found = fresh_service.http.delete(f"/v1/subjects/{names[0]}").json()["datasets"]
    assert found == [{"id": held["id"], "name": "held"}]
    assert fresh_service.http.delete(f"/v1/subjects/{names[2]}").json()["datasets"] == []


def test_a_subject_may_hold_what_parts_a_path(fresh_service: Service) -> None:
    mine = [record(subject=name) for name in ("eu/7", "eu/7/", "eu%2F7", "/", "a\nb\r")]
    with fresh_service.wiring.sessions.begin() as session:
        predictions.add_all(session, mine)
    for name in ("eu%2F7", "eu%2F7%2F", "eu%252F7", "%2F", "a%0Ab%0D"):
        assert fresh_service.http.delete(f"/v1/subjects/{name}").json()["decision_records"] == 1, name


def test_what_cannot_be_a_subject_is_refused(sqlite_service: Service) -> None:
    problem(sqlite_service.http.delete("/v1/subjects/" + "x" * 1001), 422, "invalid")
    problem(sqlite_service.http.delete("/v1/subjects/"), 422, "invalid")
    problem(sqlite_service.http.delete("/v1/subjects/a%00b"), 400, "malformed")
    problem(sqlite_service.http.delete("/v1/subjects/a%FFb"), 400, "malformed")
