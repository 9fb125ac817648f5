"""Decision records for tests that need some before anything is predicted."""

from datetime import UTC, datetime

from service.domain.decision_records import DecisionRecord
from service.domain.ids import new_id


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
