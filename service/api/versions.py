"""/v1/models/{model}/versions: what training jobs made; a version never changes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.access import opened_by
from service.api.conditions import IMMUTABLE, is_unchanged, unchanged
from service.api.context import Sender, Tenant, Wired
from service.api.downloads import chunks
from service.api.lists import ListSlice, Page, page
from service.api.numerals import plain
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.costs import Costs
from service.domain.models import Version
from service.domain.searching import SearchSpec
from service.domain.training import SplitSpec, requested_algorithm
from service.usecases import models

router = APIRouter(route_class=StrictRoute, tags=["models"])

PATH = "/v1/models/{model}/versions/{version}"

Number = Annotated[int, Field(ge=1, lt=2**31), BeforeValidator(plain), Path(examples=[7])]


class ImportedFrom(BaseModel):
    """What a version was where it was made."""

    model: str
    version: int
    created_at: datetime


class VersionOut(BaseModel):
    """A version with all that made it."""

    id: str
    model: str
    version: int
    training_job: str | None = Field(description="Null where the version was imported.")
    dataset: str | None = Field(description="Null where the version was imported.")
    dataset_sha256: str
    imported_from: ImportedFrom | None = Field(description="Where an imported version was made.")
    costs: Costs | None
    cost_spec: str | None
    algorithm: str
    requested_algorithm: str = Field(description="As it was asked for, such as `auto`.")
    params: Mapping[str, Any]
    search: SearchSpec | None = Field(description="What was searched; `params` holds what was found.")
    split: SplitSpec
    calibration: str
    decision_rule: str
    threshold_aim: str
    min_recall: float | None
    train_costs: str
    seed: int
    library_versions: Mapping[str, Any]
    training_seconds: float
    metrics: Mapping[str, Any]
    artifact_sha256: str
    artifact_bytes: int
    created_at: datetime

    @classmethod
    def of(cls, model: str, version: Version) -> "VersionOut":
        """Show a version."""
        spec = version.spec
        return cls(
            id=version.id,
            model=model,
            version=version.number,
            training_job=version.job_id,
            dataset=version.dataset_id,
            dataset_sha256=version.dataset_sha256,
            imported_from=None if version.origin is None else ImportedFrom.model_validate(version.origin),
            costs=spec.costs,
            cost_spec=spec.cost_spec,
            algorithm=spec.algorithm,
            requested_algorithm=requested_algorithm(spec),
            params=spec.params,
            search=spec.search,
            split=spec.split,
            calibration=spec.calibration,
            decision_rule=spec.decision_rule,
            threshold_aim=spec.threshold_aim,
            min_recall=spec.min_recall,
            train_costs=spec.train_costs,
            seed=spec.seed,
            library_versions=version.library_versions,
            training_seconds=version.training_seconds,
            metrics=version.metrics,
            artifact_sha256=version.artifact_sha256,
            artifact_bytes=version.artifact_bytes,
            created_at=version.created_at,
        )


@router.get(
    "/v1/models/{model}/versions",
    operation_id="list_versions",
    summary="List versions",
    responses=responses(400, 404, 422, 503),
)
def list_versions(
    *, request: Request, response: Response, wired: Wired, tenant: Tenant, model: str, part: ListSlice
) -> Page[VersionOut]:
    """List the versions of a model, newest first."""
    versions = models.list_versions(wired.readers, tenant, model, part.fetch, part.number)
    return page(
        request,
        response,
        part,
        versions,
        key=lambda version: str(version.number),
        show=lambda version: VersionOut.of(model, version),
    )


@router.get(
    PATH,
    operation_id="read_version",
    summary="Read a version",
    responses=responses(404, 422, 503),
)
def read_version(
    *, response: Response, wired: Wired, tenant: Tenant, model: str, version: Number
) -> VersionOut:
    """Read what made a version and how well it does."""
    found = models.read_version(wired.readers, tenant, model, version)
    response.headers.update({"ETag": f'"{found.id}"', "Cache-Control": IMMUTABLE})
    return VersionOut.of(model, found)


@router.delete(
    PATH,
    operation_id="delete_version",
    summary="Delete a version",
    status_code=204,
    responses=responses(404, 409, 422, 503),
)
def delete_version(*, request: Request, wired: Wired, sender: Sender, model: str, version: Number) -> None:
    """Delete a version and its artifact; refused while an alias points to it."""
    models.delete_version(wired.sessions, wired.store, sender.tenant, model, version, by=sender.actor)
    request.app.state.scoring.forget(sender.tenant, model)


@router.get(
    PATH + "/schema",
    operation_id="read_version_schema",
    summary="Read what a version needs in a row",
    responses=responses(404, 422, 503),
)
@opened_by("registry", "train", "predict")
def read_schema(
    *, response: Response, wired: Wired, tenant: Tenant, model: str, version: Number
) -> dict[str, Any]:
    """Read the input columns with their types and categories, the cost columns and an example row."""
    response.headers["Cache-Control"] = IMMUTABLE
    return dict(models.read_version(wired.readers, tenant, model, version).schema)


@router.get(
    PATH + "/artifact",
    operation_id="read_version_artifact",
    summary="Download the artifact of a version",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}}, **responses(404, 409, 422, 503)},
)
def read_artifact(*, request: Request, wired: Wired, tenant: Tenant, model: str, version: Number) -> Response:
    """Download the bytes: safetensors with a JSON header; `costboost.load` reads them."""
    found = models.read_version(wired.readers, tenant, model, version)
    headers = {
        "ETag": f'"{found.artifact_sha256}"',
        "Cache-Control": IMMUTABLE,
        "Content-Length": str(found.artifact_bytes),
        "Content-Disposition": f'attachment; filename="{model}-{found.number}.safetensors"',
    }
    if is_unchanged(request, headers["ETag"]):
        return unchanged(headers)
    body = chunks(wired.store.open(found.artifact_sha256))
    return StreamingResponse(body, headers=headers, media_type="application/octet-stream")
