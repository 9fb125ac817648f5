"""What answers about jobs of every kind have in common."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from service.api.problems import Fault
from service.domain.training import FailureCode, Job, JobStatus
from service.usecases.jobs import JobView


class JobErrorOut(BaseModel):
    """Why a job has no result."""

    code: FailureCode | Literal["cancelled"]
    detail: str
    errors: list[Fault] = Field(default=[], description="First faults of what was given to the job.")
    errors_total: int = 0


def stand_of(view: JobView[Any]) -> dict[str, Any]:
    """Fields that say where a job stands and how it ended."""
    job = view.job
    return {
        "id": job.id,
        "status": job.status,
        "done": job.status.done,
        "attempt": job.attempt,
        "progress": job.progress,
        "queue_position": view.queue_position,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "heartbeat_at": job.heartbeat_at,
        "result": job.result,
        "error": _error_of(job),
    }


def _error_of(job: Job) -> JobErrorOut | None:
    if job.status is JobStatus.CANCELLED:
        return JobErrorOut(code="cancelled", detail="the job was cancelled on request")
    return None if job.error is None else JobErrorOut.model_validate(job.error.model_dump())
