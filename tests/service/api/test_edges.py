"""What was kept under older rules, and numbers at the end of what is possible: never a server error."""

import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy import select, text

from costboost import persistence
from costboost.model import CostSensitiveModel
from costboost.registry import make
from service.db.tables import CostSpecRow, TrainingJobRow
from tests.service.conftest import Service, problem
from tests.service.records import add_version


def test_jobs_and_costs_of_older_rules_are_read(fresh_service: Service) -> None:
    """Bounds have moved since: what is kept is shown as it is, though nobody could ask for it now."""
    add_version(fresh_service.wiring, "old")
    with fresh_service.wiring.sessions.begin() as session:
        job = session.scalars(select(TrainingJobRow)).one()
        kept = json.dumps(job.spec.model_dump(mode="json") | {"limits": {"seconds": 5.0, "memory_mb": 64}})
        kind = " AS JSONB" if session.get_bind().dialect.name == "postgresql" else " AS TEXT"
        session.execute(text(f"UPDATE training_jobs SET spec = CAST(:kept{kind})"), {"kept": kept})
        for name, spec in (("zero", {"fn": 0, "fp": 0}), ("odd", {"fn": 1, "fp": -9})):
            row = CostSpecRow(id=f"cs_{name}", tenant_id="default", name=name, revision=1, spec=spec)
            row.created_at = datetime.now(UTC)
            session.add(row)
    [listed] = fresh_service.http.get("/v1/training-jobs").json()["data"]
    assert fresh_service.http.get(f"/v1/training-jobs/{listed['id']}").status_code == 200
    for path in ("", "/cs_zero", "/cs_odd"):
        for listing in ("/v1/cost-specs", "/ui/costs"):
            answer = fresh_service.http.get(listing + path)
            assert answer.status_code == 200, answer.text
    body = {"model": "old", "dataset": listed["dataset"], "cost_spec": "cs_odd"}
    refused = fresh_service.http.post("/v1/training-jobs/validate", json=body)
    assert refused.status_code == 422, refused.text


def extreme(least: float, most: float) -> bytes:
    """A version whose calibration ends at these probabilities."""
    rng = np.random.default_rng(0)
    amount = rng.lognormal(3, 1, 200)
    zip_code = np.array(["01", "02"] * 100, dtype=object)
    y = np.where(amount + rng.normal(0, 8, 200) > 25, "fraud", "legit")
    model = CostSensitiveModel(make("cgada", {"n_estimators": 6}), calibration="isotonic")
    header, arrays = persistence._verified(
        persistence.dump(model.fit({"amount": amount, "zip": zip_code}, y))
    )
    scorer = json.loads(json.dumps(header["scorer"]))
    [output] = scorer["calibrator"]["outputs"]
    output["probabilities"][0], output["probabilities"][-1] = least, most
    return persistence._signed(header | {"scorer": scorer}, arrays)


ROWS = [{"amount": amount, "zip": "01"} for amount in (0.01, 20.0, 1e6)]


def test_probabilities_of_0_and_1_are_no_version(sqlite_service: Service) -> None:
    add_version(sqlite_service.wiring, "certain", data=extreme(0.0, 1.0))
    body = {"rows": ROWS, "priors": {"fraud": 0.0}}
    problem(sqlite_service.http.post("/v1/models/certain/predict", json=body), 409, "artifact_corrupt")


@pytest.fixture(scope="module")
def edges(sqlite_service: Service) -> Service:
    """The service with a model `extreme`."""
    add_version(sqlite_service.wiring, "extreme", data=extreme(5e-324, 1 - 2**-53))
    return sqlite_service


@pytest.mark.parametrize("fraud", [0.0, 5e-324, 1e-300, 0.5, 1 - 2**-53, 1.0])
def test_probabilities_next_to_0_and_1_meet_any_priors(edges: Service, fraud: float) -> None:
    for more in ({}, {"on_row_error": "null"}, {"explain": {}}, {"threshold": 0.5}):
        for one in edges.predict("extreme", ROWS, priors={"fraud": fraud}, **more):
            assert one["decision"] in ("legit", "fraud")
            assert math.isclose(sum(one["probabilities"].values()), 1.0)


def test_thousands_of_unseen_categories_are_warned_of_once_each(edges: Service) -> None:
    rows = [{"amount": 1.0, "zip": f"new-{number}"} for number in range(5_000)]
    answer = edges.http.post("/v1/models/extreme/predict", json={"rows": rows})
    found = answer.json()["predictions"]
    unseen = [{"code": "unknown_category", "feature": "zip"}]
    assert all(one["warnings"] == unseen for one in found)
    assert len({one["score"] for one in found}) == 1  # all of them are one to the version
    assert len(answer.content) < 1_000 * len(rows)
    assert "new-" not in answer.text


def test_thousands_of_unknown_columns_are_not_all_named(edges: Service) -> None:
    """Of each row the first twenty, whether it comes alone, among others that have others, or in a table."""
    rows = [
        {"amount": 1.0, "zip": "01"} | {f"x{number}-{i:03}": None for i in range(100)}
        for number in range(300)
    ]
    found = edges.predict("extreme", rows)
    for number in (0, 299):
        assert edges.predict("extreme", rows[number : number + 1]) == [found[number]]
        assert [one["feature"] for one in found[number]["warnings"]] == [
            f"x{number}-{i:03}" for i in range(20)
        ]
    head = ",".join(["amount", "zip", *(f"x{i:04}" for i in range(1_900))])
    table = head + "\n" + f"1.0,01{',' * 1_900}\n" * 300
    headers = {"Content-Type": "text/csv", "Accept": "application/json"}
    answer = edges.http.post("/v1/models/extreme/predict", content=table, headers=headers)
    assert answer.status_code == 200, answer.text
    assert [len(one["warnings"]) for one in answer.json()["predictions"]] == [20] * 300
