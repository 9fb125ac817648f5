"""/v1/models: the names under which versions are kept."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import opened_by
from service.api.conditions import REVALIDATE, require_match
from service.api.context import Sender, Tenant, Wired
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.cautions import cautions_of_model
from service.domain.cost_cells import MAX_COST, ColumnName
from service.domain.models import ModelView
from service.domain.training import NAME_PATTERN
from service.usecases import models

router = APIRouter(route_class=StrictRoute, tags=["models"])

EXAMPLE: JsonDict = {
    "name": "card-fraud",
    "description": "Card payments, third quarter",
    "tags": {"team": "payments"},
    "record_rows": False,
    "retention_days": 365,
    "control_share": 0.02,
    "shadow_alias": "challenger",
    "review_price": 1.25,
    "reason_codes": {"amount": "AA-07", "merchant": "AA-12"},
    "aliases": {"champion": 7, "challenger": 8},
    "latest_version": 8,
    "versions": 8,
    "warnings": [],
    "created_at": "2026-01-05T09:30:00Z",
    "updated_at": "2026-01-07T16:05:12Z",
}

TagName = Annotated[str, Field(min_length=1, max_length=64)]
TagValue = Annotated[str, Field(max_length=256)]
ReasonCode = Annotated[str, Field(min_length=1, max_length=256)]


class SettingNotice(BaseModel):
    """A setting that is allowed, but perhaps misspelt."""

    code: str
    detail: str


class ModelOut(BaseModel):
    """A model and where its aliases point."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    name: str
    description: str
    tags: Mapping[str, str]
    record_rows: bool = Field(description="Whether decision records hold the rows themselves.")
    retention_days: int | None = Field(
        description="For so long decision records and batch predictions are kept; null: always."
    )
    control_share: float | None = Field(description="Share of refused rows that chance lets through.")
    shadow_alias: str | None = Field(description="Whose version decides every recorded row too, unseen.")
    review_price: float | None = Field(
        description="What a review must save beyond its fee; null: as the costs of training say."
    )
    reason_codes: Mapping[str, str] = Field(description="Column to the code that its reasons carry.")
    aliases: dict[str, int]
    latest_version: int | None
    versions: int = Field(description="How many versions there are.")
    warnings: list[SettingNotice] = Field(
        description="Settings that name what is not there: an alias, or columns of no version in use."
    )
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, view: ModelView) -> "ModelOut":
        """Show a model."""
        return cls(
            name=view.model.name,
            description=view.model.description,
            tags=view.model.tags,
            record_rows=view.model.record_rows,
            retention_days=view.model.retention_days,
            control_share=view.model.control_share,
            shadow_alias=view.model.shadow_alias,
            review_price=view.model.review_price,
            reason_codes=view.model.reason_codes,
            aliases={alias.name: alias.version_number for alias in view.aliases},
            latest_version=view.latest_version,
            versions=view.versions,
            warnings=[SettingNotice(code=code, detail=detail) for code, detail in cautions_of_model(view)],
            created_at=view.model.created_at,
            updated_at=view.model.updated_at,
        )


class ModelPatch(BaseModel):
    """What can be changed of a model; what is left out stays."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"description": "Card payments", "tags": {"team": "a"}}}
    )

    description: str = Field(default="", max_length=2000)
    tags: dict[TagName, TagValue] = Field(default={}, max_length=50)
    record_rows: bool = Field(
        default=False, strict=True, description="Whether decision records shall hold the rows themselves."
    )
    retention_days: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=36_500,
        description="For so long decision records with their feedback, and batch predictions, are kept; "
        "null: until erased.",
    )
    control_share: float | None = Field(
        default=None,
        strict=True,
        gt=0.0,
        le=0.5,
        allow_inf_nan=False,
        description=(
            "Two classes: of the recorded rows that would be refused (decided positive), chance lets this "
            "share through, and the record says so; what refusing costs is known only from them."
        ),
    )
    shadow_alias: str | None = Field(
        default=None,
        pattern=NAME_PATTERN,
        description="The version of this alias decides every recorded row too, without answering.",
    )
    review_price: float | None = Field(
        default=None,
        strict=True,
        ge=0.0,
        le=MAX_COST,
        allow_inf_nan=False,
        description=(
            "What a review must save beyond its fee to be chosen, such as the `shadow_price` that a "
            "simulation found for the reviewers there are. In force where a prediction brings no costs; "
            "null: the `shadow_price` of the costs of training."
        ),
    )
    reason_codes: dict[ColumnName, ReasonCode] = Field(
        default={},
        max_length=2000,
        description="Column to the code, or text, that its reasons carry when a prediction is explained.",
    )


def etag_of(view: ModelView) -> str:
    """Strong tag of the representation; a new version or a moved alias changes it too."""
    shown = f"{view.model.id} {ModelOut.of(view).model_dump_json()}"
    return f'"{hashlib.sha256(shown.encode()).hexdigest()[:32]}"'


@router.get(
    "/v1/models", operation_id="list_models", summary="List models", responses=responses(400, 422, 503)
)
@opened_by("registry", "train", "predict")
def list_models(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, part: ListSlice
) -> Page[ModelOut]:
    """List the models, newest first."""
    views = models.list_models(wired.readers, tenant, part.fetch, part.after)
    return page(request, response, part, views, key=lambda view: view.model.id, show=ModelOut.of)


@router.get(
    "/v1/models/{model}",
    operation_id="read_model",
    summary="Read a model",
    responses=responses(404, 503),
)
@opened_by("registry", "train", "predict")
def read_model(*, response: Response, wired: Wired, tenant: Tenant, model: str) -> ModelOut:
    """Read a model with its aliases; `ETag` is what `If-Match` wants."""
    view = models.read_model(wired.readers, tenant, model)
    response.headers.update({"ETag": etag_of(view), "Cache-Control": REVALIDATE})
    return ModelOut.of(view)


@router.patch(
    "/v1/models/{model}",
    operation_id="change_model",
    summary="Change a model",
    responses=responses(400, 404, 412, 413, 415, 422, 428, 503),
)
def change_model(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, model: str, change: ModelPatch
) -> ModelOut:
    """Change what is sent; `If-Match` is required."""
    view = models.change_model(
        wired.sessions,
        tenant,
        model,
        lambda present: require_match(request, etag_of(present)),
        change.model_dump(exclude_unset=True),
    )
    request.app.state.scoring.forget(tenant, model)
    response.headers["ETag"] = etag_of(view)
    return ModelOut.of(view)


@router.delete(
    "/v1/models/{model}",
    operation_id="delete_model",
    summary="Delete a model",
    status_code=204,
    responses=responses(404, 412, 428, 503),
)
def delete_model(*, request: Request, wired: Wired, sender: Sender, model: str) -> None:
    """Delete a model with its aliases, versions and artifacts; `If-Match` is required."""
    models.delete_model(
        wired.sessions,
        wired.store,
        sender.tenant,
        model,
        lambda present: require_match(request, etag_of(present)),
        by=sender.actor,
    )
    request.app.state.scoring.forget(sender.tenant, model)
