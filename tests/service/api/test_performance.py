"""Realised beside expected cost over HTTP, with numbers worked by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from service.db import feedback, predictions
from service.db.tables import ModelRow, VersionRow
from service.domain.decision_records import DecisionRecord
from service.domain.feedback import Feedback
from service.domain.ids import new_id
from tests.service.conftest import Service, problem
from tests.service.records import add_version, record

NOW = datetime.now(UTC)
CELLS = {"legit": {"legit": 0.0, "fraud": 10.0}, "fraud": {"legit": 100.0, "fraud": 0.0}}


@pytest.fixture
def model(fresh_service: Service) -> str:
    """A model without versions, whose records name versions 1 and 2."""
    with fresh_service.wiring.sessions() as session:
        session.add(ModelRow(id="model_1", tenant_id="default", name="cards", created_at=NOW, updated_at=NOW))
        session.commit()
    return "cards"


def decided(choice: str, p: float, days_ago: float = 2.0, **more: Any) -> DecisionRecord:
    return record(
        **{
            "decision": choice,
            "rule_decision": choice,
            "label": choice,
            "probabilities": {"legit": 1 - p, "fraud": p},
            "expected_cost": {"legit": 100 * p, "fraud": 10 * (1 - p)},
            "costs": CELLS,
            "decided_at": NOW - timedelta(days=days_ago),
            **more,
        }
    )


def store(service: Service, told: Sequence[tuple[DecisionRecord, str | None]], delay: float = 1.0) -> None:
    with service.wiring.sessions() as session:
        predictions.add_all(session, [one for one, _ in told])
        feedback.add_all(
            session,
            [
                Feedback(
                    id=new_id("fb"),
                    tenant_id=one.tenant_id,
                    prediction_id=one.id,
                    label=label,
                    observed_at=one.decided_at + timedelta(days=delay),
                    amount=None,
                    received_at=NOW,
                )
                for one, label in told
                if label is not None
            ],
        )
        session.commit()


def read(service: Service, **query: Any) -> dict[str, Any]:
    answer = service.http.get("/v1/models/cards/performance", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_without_decisions_there_is_nothing_to_tell(fresh_service: Service, model: str) -> None:
    found = read(fresh_service)
    assert (found["versions"], found["comparisons"], found["truncated"]) == ([], [], False)
    problem(fresh_service.http.get("/v1/models/other/performance"), 404, "not_found")


def test_realised_beside_expected_cost(fresh_service: Service, model: str) -> None:
    """Two accepted (p 0.02: 2 each), one turned out fraud (100); one labelled declined legit (10, of which
    9 was expected). Nothing is known of how refusals hide labels here, for there is no version to ask."""
    told = [
        (decided("legit", 0.02), "legit"),
        (decided("legit", 0.02), "fraud"),
        (decided("fraud", 0.1), "legit"),
        (decided("legit", 0.02, tenant_id="other"), "fraud"),
        (decided("legit", 0.02, model_id="model_2"), "fraud"),
    ]
    store(fresh_service, told)
    [version] = read(fresh_service, window="day")["versions"]
    total = version["total"]
    assert (version["version"], total["decisions"], total["labelled"]) == (1, 3, 3)
    assert total["expected_cost"] == pytest.approx(13 / 3)
    assert total["realised_cost"]["mean"] == pytest.approx(110 / 3)
    assert total["realised_cost"]["bounds"] == pytest.approx([110 / 3, 110 / 3])
    assert total["above_expected"]["mean"] == pytest.approx(97 / 3)
    assert [(one["decision"], one["decisions"], one["realised_cost"]) for one in total["by_decision"]] == [
        ("fraud", 1, 10.0),
        ("legit", 2, 50.0),
    ]
    assert [window["decisions"] for window in version["windows"]] == [3]


def test_what_is_refused_is_known_only_from_what_chance_let_through(fresh_service: Service) -> None:
    """Six accepted, labels 0 0 0 1 and two late: 25. Of four declined, one let through with 1/4 turned out
    legit (10). Together 0.6 * 25 + 0.4 * 10 = 19; bounds (100 + 10) / 10 and that with 2 * 100 + 3 * 10."""
    add_version(fresh_service.wiring, schema={"columns": [], "positive_class": "fraud"})
    with fresh_service.wiring.readers() as session:
        model_id, version_id = session.execute(select(VersionRow.model_id, VersionRow.id)).one()
    of = {"model_id": model_id, "version_id": version_id}
    accepted = [decided("legit", 0.05, **of) for _ in range(6)]
    labels = ["legit", "legit", "legit", "fraud", None, None]
    declined = [decided("fraud", 0.4, **of) for _ in range(3)]
    store(fresh_service, [*zip(accepted, labels, strict=True), *((one, None) for one in declined)])
    [version] = read(fresh_service, window="all")["versions"]
    unknown = version["total"]["realised_cost"]
    assert (unknown["method"], unknown["mean"], unknown["ci95"]) == ("not_identifiable", None, None)
    assert unknown["reason"].startswith("3 of 3 rows decided positive have no label")
    control = {"decision": "legit", "label": "legit", "decision_source": "control", "propensity": 0.25}
    store(fresh_service, [(decided("fraud", 0.4, **(of | control)), "legit")])
    [version] = read(fresh_service, window="all")["versions"]
    total = version["total"]
    assert (total["let_through"], version["windows"]) == (1, [])
    assert total["realised_cost"]["method"] == "inverse_propensity"
    assert total["realised_cost"]["mean"] == pytest.approx(19.0)
    assert total["realised_cost"]["bounds"] == pytest.approx([11.0, 34.0])
    by_decision = {one["decision"]: one for one in total["by_decision"]}
    assert (by_decision["fraud"]["let_through"], by_decision["fraud"]["labelled_share"]) == (1, 0.25)


def test_labels_are_counted_by_their_maturity(fresh_service: Service, model: str) -> None:
    """Two decisions 10 days old, labelled after 3 days; one from today that has none yet."""
    old = [(decided("legit", 0.02, 10.0), "legit"), (decided("legit", 0.02, 10.0), "fraud")]
    store(fresh_service, old, delay=3.0)
    store(fresh_service, [(decided("legit", 0.02, 0.01), None)])
    [version] = read(fresh_service)["versions"]
    by_days = {one["days"]: one for one in version["total"]["by_maturity"]}
    assert [(days, one["decisions"], one["labelled"]) for days, one in by_days.items()] == [
        (1, 2, 0),
        (7, 2, 2),
        (30, 0, 0),
        (90, 0, 0),
    ]
    assert by_days[1]["realised_cost"]["method"] == "not_identifiable"
    assert by_days[7]["realised_cost"]["mean"] == 50.0
    assert by_days[30]["realised_cost"] is None
    windows = version["windows"]
    assert [one["decisions"] for one in windows] == [1, 2]
    assert windows[0]["since"] > windows[1]["since"]


def test_a_shadow_is_compared_on_the_same_rows(fresh_service: Service, model: str) -> None:
    """Ten rows, on eight the two agree; twice the challenger refuses what was accepted: one was fraud (it
    saves 100), one was not (it costs 10). Mean difference (10 - 100) / 10 = -9."""
    rows = [decided("legit", 0.05) for _ in range(10)]
    labels = ["fraud", "legit", None, None, None, None, None, None, None, None]
    store(fresh_service, list(zip(rows, labels, strict=True)))
    other = ["fraud", "fraud"] + ["legit"] * 8
    shadows = [
        decided(choice, 0.3, shadow_of=row.id, version_number=2, version_id="ver_2")
        for row, choice in zip(rows, other, strict=True)
    ]
    store(fresh_service, [(one, None) for one in shadows])
    found = read(fresh_service)
    assert [one["version"] for one in found["versions"]] == [1]  # a shadow answers nothing
    [comparison] = found["comparisons"]
    assert (comparison["champion"], comparison["challenger"]) == (1, 2)
    assert (comparison["pairs"], comparison["differing"]) == (10, 2)
    assert comparison["difference"]["mean"] == pytest.approx(-9.0)
    assert comparison["expected_difference"] == pytest.approx((9.5 - 5.0) * 2 / 10)
    low, high = comparison["difference"]["ci95"]
    assert low < -9 < high


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "/query/since"),
        ({"since": "1980-01-01T00:00:00Z", "window": "day"}, "/query/since"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "/query/since"),
        ({"since": "2026"}, "/query/since"),
        ({"until": "2026-01-01"}, "/query/until"),
        ({"until": "2026-01-01T00:00:00"}, "/query/until"),
        ({"window": "hour"}, "/query/window"),
    ],
)
def test_a_time_that_is_none_is_refused(sqlite_service: Service, query: dict[str, str], place: str) -> None:
    refused = sqlite_service.http.get("/v1/models/cards/performance", params=query)
    assert problem(refused, 422, "invalid")["errors"][0]["pointer"] == place
