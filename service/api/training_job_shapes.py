"""What answers about training jobs look like."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.api.job_shapes import JobErrorOut, stand_of
from service.domain.training import (
    JobStatus,
    Progress,
    SettledSpec,
    TrainingSpec,
    requested_algorithm,
)
from service.usecases.planning import Plan
from service.usecases.training import TrainingView

EXAMPLE: JsonDict = {
    "id": "job_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "status": "running",
    "done": False,
    "model": "card-fraud",
    "dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "algorithm": "adacost",
    "requested_algorithm": "adacost",
    "warnings": [],
    "attempt": 1,
    "progress": {"phase": "boosting", "round": 140, "rounds": 400, "fraction": 0.31, "metrics": {}},
    "queue_position": None,
    "created_at": "2026-01-05T09:30:00Z",
    "started_at": "2026-01-05T09:30:00Z",
    "finished_at": None,
    "heartbeat_at": "2026-01-05T09:30:12Z",
    "result": None,
    "error": None,
}
EXAMPLE_SPEC: JsonDict = {
    "model": "card-fraud",
    "dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "costs": {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": 5},
    "algorithm": "adacost",
    "params": {"n_estimators": 200},
    "seed": 7,
}
SPEC_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What to train; or a form with `spec`, the table as `dataset`, and its `options`.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/TrainingSpec"},
                "example": EXAMPLE_SPEC,
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["spec", "dataset"],
                    "properties": {
                        "spec": {"type": "string", "description": "The JSON object, without `dataset`."},
                        "dataset": {"type": "string", "format": "binary"},
                        "options": {"type": "string", "description": "Options of the dataset, as JSON."},
                    },
                }
            },
        },
    }
}


class NoticeOut(BaseModel):
    """Something that is allowed, but perhaps not meant."""

    code: str
    detail: str


def _warnings(spec: TrainingSpec) -> list[NoticeOut]:
    told = spec.warnings if isinstance(spec, SettledSpec) else {}
    return [NoticeOut(code=code, detail=detail) for code, detail in told.items()]


class JobOut(BaseModel):
    """A training job; once it is done it has either a result or an error."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    status: JobStatus
    done: bool
    model: str
    dataset: str
    algorithm: str
    requested_algorithm: str = Field(description="As it was asked for, such as `auto`.")
    warnings: list[NoticeOut]
    attempt: int = Field(description="Executions begun so far.")
    progress: Progress | None
    queue_position: int | None = Field(description="1 is the next to start; null when it does not wait.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    heartbeat_at: datetime | None
    result: dict[str, Any] | None = Field(
        description="`model`, number of its new `version`, `metrics`, `warnings` about them; after a search "
        "`params` and `search`."
    )
    error: JobErrorOut | None

    @classmethod
    def of(cls, view: TrainingView) -> "JobOut":
        """Show a job."""
        job = view.job
        return cls(
            model=job.model,
            dataset=job.dataset_id,
            algorithm=job.spec.algorithm,
            requested_algorithm=requested_algorithm(job.spec),
            warnings=_warnings(job.spec),
            **stand_of(view),
        )


class PlanOut(BaseModel):
    """What a spec would train."""

    model: str
    dataset: str
    algorithm: str
    requested_algorithm: str = Field(description="As it was asked for, such as `auto`.")
    params: Mapping[str, Any] = Field(description="All parameters, with the defaults filled in.")
    trials: int | None = Field(description="Parameters that the search would try; null without one.")
    cost_spec: str | None
    consequences: list[str] = Field(description="What the costs lead to, in words.")
    unreasonable_rows: int = Field(
        description="Rows in which a wrong decision costs no more than the right one."
    )
    warnings: list[NoticeOut]
    rows: int = Field(description="Rows of the dataset.")
    train_rows: int
    test_rows: int = Field(description="Rows set aside for the evaluation.")
    test_fraction: float
    folds: int = Field(description="Folds that the rows make; may be fewer than were asked for.")
    classes: list[str]
    class_counts: dict[str, int]
    positive_class: str | None

    @classmethod
    def of(cls, plan: Plan) -> "PlanOut":
        """Show a plan."""
        return cls(
            model=plan.spec.model,
            dataset=plan.dataset.id,
            algorithm=plan.spec.algorithm,
            requested_algorithm=requested_algorithm(plan.spec),
            params=plan.spec.params,
            trials=plan.trials,
            cost_spec=plan.spec.cost_spec,
            consequences=plan.consequences,
            unreasonable_rows=plan.unreasonable_rows,
            warnings=_warnings(plan.spec),
            rows=plan.dataset.rows,
            train_rows=plan.division.train_rows,
            test_rows=plan.division.test_rows,
            test_fraction=plan.spec.split.test_fraction,
            folds=plan.division.folds,
            classes=list(plan.dataset.classes),
            class_counts=plan.dataset.class_counts,
            positive_class=plan.dataset.positive_class,
        )


class EventOut(BaseModel):
    """How a job stood at some moment."""

    id: int
    event: str = Field(description="`progress`, and `done` as the last one.")
    data: JobOut


class EventPage(BaseModel):
    """The events known of a job."""

    data: list[EventOut]
    has_more: bool = False
    next: str | None = None
