"""Decision records: kept when asked for, readable within a second, and only what may be kept."""

import random
import time
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from service.db import predictions
from service.usecases.recording import Recorder
from tests.service.api.test_predictions import ROW, ROWS
from tests.service.conftest import Service, problem, table


@pytest.fixture(scope="module")
def kept(service: Service) -> Service:
    """The service with a model `kept`, whose rows belong to customers."""
    lines = table(200).splitlines()
    csv = "\n".join(f"{'customer' if i == 0 else f'c{i % 9}'},{line}" for i, line in enumerate(lines)) + "\n"
    options = {"positive_class": "fraud", "roles": '{"customer": "subject"}'}
    costs = {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": 5}
    job = service.train("kept", csv, costs, options=options, params={"n_estimators": 10})
    assert job["status"] == "succeeded", job
    return service


def read(service: Service, prediction_id: str) -> dict[str, Any]:
    """Wait for a record; it must be there within a second."""
    end = time.monotonic() + 1.0
    while (answer := service.http.get(f"/v1/predictions/{prediction_id}")).status_code == 404:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def test_a_record_holds_the_decision_and_what_it_was_taken_on(kept: Service) -> None:
    [one] = kept.predict("kept", [{"id": 17, **ROW}], record=True)
    assert UUID(one["prediction_id"].removeprefix("pred_")).version == 7
    record = read(kept, one["prediction_id"])
    for name in ("probabilities", "decision", "label", "decision_source", "expected_cost"):
        assert record[name] == one[name]
    assert (record["model"], record["version"], record["alias"]) == ("kept", 1, "champion")
    assert (record["row_id"], record["row"]) == ("17", None)
    assert (record["rule_decision"], record["propensity"]) == (one["decision"], 1.0)
    assert record["costs"] == {"legit": {"legit": 0, "fraud": 5}, "fraud": {"legit": 220.5, "fraud": 0}}


def test_a_durable_record_is_there_with_the_answer(kept: Service) -> None:
    costs = {"fn": 30, "fp": 2}
    [one] = kept.predict("kept", [ROW], record="durable", version=1, costs=costs)
    record = kept.http.get(f"/v1/predictions/{one['prediction_id']}").json()
    assert (record["alias"], record["row_id"]) == (None, None)
    assert record["costs"] == {"legit": {"legit": 0, "fraud": 2}, "fraud": {"legit": 30, "fraud": 0}}


def test_a_row_is_kept_only_where_the_model_says_so(kept: Service) -> None:
    path = "/v1/models/kept"
    etag = kept.http.get(path).headers["etag"]
    changed = kept.http.patch(path, json={"record_rows": True}, headers={"If-Match": etag})
    assert changed.status_code == 200
    time.sleep(1.0)
    [one] = kept.predict("kept", [{**ROW, "hour": None, "customer": "c3", "more": 1}], record="durable")
    assert one["warnings"] == [{"code": "unknown_column", "feature": "more"}]
    record = kept.http.get(f"/v1/predictions/{one['prediction_id']}").json()
    assert record["row"] == {**ROW, "hour": None}


def test_each_sound_row_of_a_batch_has_its_record(kept: Service) -> None:
    rows: list[dict[str, Any]] = [{"id": str(i), **row} for i, row in enumerate(ROWS)]
    rows[3]["amount"] = "x"
    found = kept.predict("kept", rows, record="durable", on_row_error="null")
    assert "prediction_id" not in found[3]
    ids = [one["prediction_id"] for i, one in enumerate(found) if i != 3]
    assert ids == sorted(set(ids))
    record = kept.http.get(f"/v1/predictions/{found[400]['prediction_id']}").json()
    assert (record["row_id"], record["decision"]) == ("400", found[400]["decision"])


def test_without_the_wish_nothing_is_kept(kept: Service) -> None:
    [one] = kept.predict("kept", [ROW], record=False)
    assert "prediction_id" not in one


def test_an_unknown_record_is_not_found(kept: Service) -> None:
    for name in ("pred_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51", "nobody"):
        problem(kept.http.get(f"/v1/predictions/{name}"), 404, "not_found")


def test_what_waits_is_written_at_the_end(kept: Service) -> None:
    [one] = kept.predict("kept", [ROW], record="durable")
    with kept.wiring.readers() as session:
        record = predictions.find(session, "default", one["prediction_id"])
    assert record is not None
    recorder = Recorder(kept.wiring.sessions)
    recorder.start()
    copy = type(record)(**{**vars(record), "id": f"{record.id}-2"})
    recorder.keep([copy, record])
    recorder.stop()
    assert kept.http.get(f"/v1/predictions/{copy.id}").status_code == 200


def test_a_record_that_no_database_takes_holds_up_no_other(kept: Service) -> None:
    """A text that is too long for an index of PostgreSQL is an error of the kind that outages are."""
    [answer] = kept.predict("kept", [ROW], record="durable")
    with kept.wiring.readers() as session:
        record = predictions.find(session, "default", answer["prediction_id"])
    assert record is not None
    noise = random.Random(0).randbytes(9000).hex()
    copies = [replace(record, id=f"{record.id}-{n}", subject=one) for n, one in enumerate((noise, "s"))]
    recorder = Recorder(kept.wiring.sessions)
    recorder.start()
    recorder.keep(copies)
    recorder.stop()
    assert kept.http.get(f"/v1/predictions/{copies[1].id}").status_code == 200


@pytest.mark.parametrize("record", [True, "durable"])
def test_a_subject_that_could_not_be_found_again_is_refused(kept: Service, record: Any) -> None:
    rows = [{**ROW, "customer": "é" * 501}, {**ROW, "customer": "é" * 500}]
    body = {"rows": rows, "record": record}
    refused = problem(kept.http.post("/v1/models/kept/predict", json=body), 422, "invalid_rows")
    assert [(one["pointer"], one["code"]) for one in refused["errors"]] == [
        ("/rows/0/customer", "cell_too_long")
    ]
    bad, good = kept.predict("kept", rows, record="durable", on_row_error="null")
    assert bad["decision"] is None
    assert kept.http.get(f"/v1/predictions/{good['prediction_id']}").status_code == 200
    assert kept.http.delete(f"/v1/subjects/{'é' * 500}").json()["decision_records"] >= 1
    assert len(kept.predict("kept", rows)) == 2  # nothing is kept of them
