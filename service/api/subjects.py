"""/v1/subjects: erasing what is kept of one subject."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import PathConvertor, register_url_convertor

from service.api.context import Sender, Wired
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.usecases import subjects


class AnyText(PathConvertor):
    """The rest of a path, whatever it holds: a slash, or the end of a line, which `path` does not match."""

    regex = "(?s:.*)"


register_url_convertor("any_text", AnyText())

router = APIRouter(route_class=StrictRoute, tags=["subjects"])


class HoldingDataset(BaseModel):
    """A dataset that still holds the subject."""

    id: str
    name: str


class ErasureOut(BaseModel):
    """What was erased, and what was not."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "decision_records": 12,
                "feedback": 3,
                "batch_predictions": 1,
                "stored_answers": 0,
                "datasets": [{"id": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51", "name": "card-q3"}],
            }
        }
    )

    decision_records: int
    feedback: int
    batch_predictions: int = Field(
        description="Removed whole, with input and output: their rows held the subject."
    )
    stored_answers: int
    datasets: list[HoldingDataset] = Field(
        description="Datasets never change: these hold the subject until they are deleted."
    )


@router.delete(
    "/v1/subjects/{subject:any_text}",
    operation_id="erase_subject",
    summary="Erase a subject",
    responses=responses(503),
)
def erase_subject(
    *, wired: Wired, sender: Sender, subject: Annotated[str, Path(min_length=1, max_length=1000)]
) -> ErasureOut:
    """Erase a subject from decision records, feedback and stored answers; nothing to erase is no error.

    A batch prediction whose rows hold it is removed with its files, and so is one whose dataset had subjects
    and is gone.
    The subject is the value of the column of role `subject`.
    """
    erased = subjects.erase(
        wired.sessions,
        wired.readers,
        wired.store,
        wired.queue,
        tenant=sender.tenant,
        subject=subject,
        by=sender.actor,
    )
    return ErasureOut(
        decision_records=erased.decision_records,
        feedback=erased.feedback,
        batch_predictions=erased.batch_predictions,
        stored_answers=erased.stored_answers,
        datasets=[HoldingDataset(id=dataset_id, name=name) for dataset_id, name in erased.datasets],
    )
