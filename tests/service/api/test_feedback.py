"""Labels of recorded decisions over HTTP: late, twice, corrected, and of nobody else."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from service.db import predictions
from service.db.tables import FeedbackRow
from tests.service.conftest import Service, problem
from tests.service.records import record


@pytest.fixture
def ids(fresh_service: Service) -> list[str]:
    """Three records of ours and one of another tenant."""
    records = [record(), record(), record(), record(tenant_id="other")]
    with fresh_service.wiring.sessions() as session:
        predictions.add_all(session, records)
        session.commit()
    return [one.id for one in records]


def give(service: Service, *items: dict[str, Any]) -> dict[str, int]:
    answer = service.http.post("/v1/feedback", json={"items": items})
    assert answer.status_code == 200, answer.text
    found: dict[str, int] = answer.json()
    return {name: count for name, count in found.items() if count}


def kept(service: Service, prediction_id: str) -> list[tuple[str, float | None, bool]]:
    with service.wiring.readers() as session:
        query = select(FeedbackRow).where(FeedbackRow.prediction_id == prediction_id)
        rows = session.scalars(query.order_by(FeedbackRow.id))
        return [(row.label, row.amount, row.superseded_at is None) for row in rows]


def test_labels_are_counted_once(fresh_service: Service, ids: list[str]) -> None:
    first = {"prediction_id": ids[0], "label": "fraud", "observed_at": "2026-01-05T10:00:00Z"}
    second = {"prediction_id": ids[1], "label": "legit"}
    foreign = {"prediction_id": ids[3], "label": "fraud"}
    nobody = {"prediction_id": "pred_none", "label": "whatever"}
    assert give(fresh_service, first, second, foreign, nobody) == {"accepted": 2, "unknown": 2}
    assert give(fresh_service, first, second) == {"duplicates": 2}
    assert kept(fresh_service, ids[0]) == [("fraud", None, True)]
    assert kept(fresh_service, ids[3]) == []


def test_a_later_observation_corrects_and_an_earlier_one_does_not(
    fresh_service: Service, ids: list[str]
) -> None:
    one = {"prediction_id": ids[0], "label": "fraud", "observed_at": "2026-01-05T10:00:00Z"}
    give(fresh_service, one)
    later = one | {"label": "legit", "observed_at": "2026-01-06T10:00:00+01:00"}
    assert give(fresh_service, later) == {"accepted": 1, "corrections": 1}
    assert give(fresh_service, one) == {"outdated": 1}
    priced = later | {"amount": -3.5}
    assert give(fresh_service, priced) == {"accepted": 1, "corrections": 1}
    assert kept(fresh_service, ids[0]) == [
        ("fraud", None, False),
        ("legit", None, False),
        ("legit", -3.5, True),
    ]


def test_the_order_of_arrival_changes_nothing(fresh_service: Service, ids: list[str]) -> None:
    """The same label seen again later is newer than another one seen in between."""
    first = {"label": "fraud", "observed_at": "2026-01-05T10:00:00Z"}
    again = {"label": "fraud", "observed_at": "2026-01-07T10:00:00Z"}
    between = {"label": "legit", "observed_at": "2026-01-06T10:00:00Z"}
    for prediction_id, order in zip(ids, ([first, again, between], [between, again, first]), strict=False):
        for item in order:
            give(fresh_service, {"prediction_id": prediction_id, **item})
    give(fresh_service, *({"prediction_id": ids[2], **item} for item in (first, again, between)))
    assert all(kept(fresh_service, one)[-1] == ("fraud", None, True) for one in ids[:3])


def test_within_one_request_the_last_word_counts(fresh_service: Service, ids: list[str]) -> None:
    one = {"prediction_id": ids[0], "label": "fraud", "observed_at": "2026-01-05T10:00:00Z"}
    counts = give(fresh_service, one, one, one | {"label": "legit"})
    assert counts == {"accepted": 2, "duplicates": 1, "corrections": 1}
    assert kept(fresh_service, ids[0]) == [("legit", None, True)]


def test_one_wrong_label_keeps_all_out(fresh_service: Service, ids: list[str]) -> None:
    future = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    refused = fresh_service.http.post(
        "/v1/feedback",
        json={
            "items": [
                {"prediction_id": ids[0], "label": "fraud"},
                {"prediction_id": ids[1], "label": "secret-7193"},
                {"prediction_id": ids[2], "label": "legit", "observed_at": future},
            ]
        },
    )
    errors = problem(refused, 422, "invalid")["errors"]
    assert [(one["pointer"], one["code"]) for one in errors] == [
        ("/items/1/label", "unknown_class"),
        ("/items/2/observed_at", "out_of_range"),
    ]
    assert "secret-7193" not in refused.text
    assert kept(fresh_service, ids[0]) == []


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"label": "x"}, "/items/0/prediction_id"),
        ({"prediction_id": "p"}, "/items/0/label"),
        ({"prediction_id": "p", "label": None}, "/items/0/label"),
        ({"prediction_id": "p", "label": "x", "observed_at": "2026-01-05T10:00:00"}, "/items/0/observed_at"),
        ({"prediction_id": "p", "label": "x", "observed_at": "soon"}, "/items/0/observed_at"),
        ({"prediction_id": "p", "label": "x", "observed_at": 1767600000}, "/items/0/observed_at"),
        ({"prediction_id": "p", "label": "x", "observed_at": "1767600000"}, "/items/0/observed_at"),
        ({"prediction_id": "p", "label": "x", "amount": "3"}, "/items/0/amount"),
        ({"prediction_id": "p", "label": "x", "tenant_id": "other"}, "/items/0/tenant_id"),
    ],
)
def test_what_is_no_feedback_is_refused(sqlite_service: Service, item: dict[str, Any], place: str) -> None:
    refused = sqlite_service.http.post("/v1/feedback", json={"items": [item]})
    assert problem(refused, 422, "invalid")["errors"][0]["pointer"] == place


def test_an_empty_list_is_refused(sqlite_service: Service) -> None:
    refused = sqlite_service.http.post("/v1/feedback", json={"items": []})
    assert problem(refused, 422, "invalid")["errors"][0]["pointer"] == "/items"
