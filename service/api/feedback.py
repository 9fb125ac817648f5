"""/v1/feedback: what became known of decided rows."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from service.api.context import Tenant, Wired
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.feedback import FeedbackBody
from service.usecases import feedback

router = APIRouter(route_class=StrictRoute, tags=["performance"])


class FeedbackOut(BaseModel):
    """What became of the items."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"accepted": 1, "corrections": 0, "duplicates": 0, "outdated": 0, "unknown": 0}
        }
    )

    accepted: int = Field(description="Kept; `corrections` are among them.")
    corrections: int = Field(description="Took the place of another label or amount.")
    duplicates: int = Field(description="Known already.")
    outdated: int = Field(description="Differ from what is known, but were observed earlier: not kept.")
    unknown: int = Field(
        description="Whose `prediction_id` (of the answer, not the row's own `id`) names no decision record, "
        "or one that is gone."
    )


@router.post(
    "/v1/feedback",
    operation_id="give_feedback",
    summary="Tell what decided rows turned out to be",
    responses=responses(400, 413, 415, 422, 503),
)
def give_feedback(*, wired: Wired, tenant: Tenant, body: FeedbackBody) -> FeedbackOut:
    """Keep labels of recorded decisions; sent twice they count once, and a later observation corrects."""
    counts = feedback.give(wired.sessions, tenant, body.items)
    return FeedbackOut.model_validate(counts, from_attributes=True)
