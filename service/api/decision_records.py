"""/v1/predictions: what was decided for one row, and on what."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.api.context import Tenant, Wired
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.decision_records import DecisionRecord
from service.domain.models import Model
from service.usecases import recording

router = APIRouter(route_class=StrictRoute, tags=["predictions"])

EXAMPLE: JsonDict = {
    "id": "pred_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "model": "card-fraud",
    "version": 7,
    "alias": "champion",
    "row_id": "tx-1",
    "decided_at": "2026-01-05T09:30:00Z",
    "probabilities": {"legit": 0.934, "fraud": 0.066},
    "decision": "fraud",
    "label": "fraud",
    "decision_source": "expected_cost",
    "rule_decision": "fraud",
    "propensity": 1.0,
    "expected_cost": {"legit": 33.0, "fraud": 4.67},
    "costs": {"legit": {"legit": 0.0, "fraud": 5.0}, "fraud": {"legit": 500.0, "fraud": 0.0}},
    "row": None,
}


class DecisionRecordOut(BaseModel):
    """What was decided for a row."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    model: str | None = Field(description="null when the model was deleted since.")
    version: int
    alias: str | None = Field(description="The alias that was asked; null when a version was.")
    row_id: str | None = Field(description="The `id` that the row brought, as text.")
    decided_at: datetime
    probabilities: Mapping[str, float]
    decision: str
    label: str | None
    decision_source: str
    rule_decision: str = Field(description="What the rule chose; chance may have answered something else.")
    propensity: float = Field(description="Probability with which this decision was answered.")
    expected_cost: Mapping[str, float]
    costs: Mapping[str, Mapping[str, float]] = Field(description="For each class: what each action costs.")
    row: Mapping[str, Any] | None = Field(description="The row, if the model keeps rows.")

    @classmethod
    def of(cls, record: DecisionRecord, model: Model | None) -> "DecisionRecordOut":
        """Show a record."""
        return cls(
            id=record.id,
            model=None if model is None else model.name,
            version=record.version_number,
            alias=record.alias,
            row_id=record.row_id,
            decided_at=record.decided_at,
            probabilities=record.probabilities,
            decision=record.decision,
            label=record.label,
            decision_source=record.decision_source,
            rule_decision=record.rule_decision,
            propensity=record.propensity,
            expected_cost=record.expected_cost,
            costs=record.costs,
            row=record.row,
        )


@router.get(
    "/v1/predictions/{prediction}",
    operation_id="read_prediction",
    summary="Read a decision record",
    responses=responses(404, 503),
)
def read_prediction(*, wired: Wired, tenant: Tenant, prediction: str) -> DecisionRecordOut:
    """Read what was decided for a row that was predicted with `record`."""
    return DecisionRecordOut.of(*recording.read_record(wired.readers, tenant, prediction))
