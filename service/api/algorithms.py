"""/v1/algorithms: what can be trained, read from the estimators themselves."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from service import learning
from service.api.lists import ListSlice, Page, page
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.errors import NotFoundError

router = APIRouter(route_class=StrictRoute, tags=["algorithms"])


class AlgorithmOut(BaseModel):
    """An algorithm that `algorithm` of a training job can name."""

    name: str
    title: str
    reference: str
    tasks: list[str] = Field(description="binary, multiclass", examples=[["binary", "multiclass"]])
    default: bool = Field(description="Whether it is what `auto` stands for.")
    params: Mapping[str, Any] = Field(description="JSON Schema of `params`, with defaults and bounds.")

    @classmethod
    def of(cls, info: learning.AlgorithmInfo) -> "AlgorithmOut":
        """Show an algorithm."""
        return cls(
            name=info.name,
            title=info.title,
            reference=info.reference,
            tasks=list(info.tasks),
            default=info.default,
            params=info.params,
        )


@router.get(
    "/v1/algorithms", operation_id="list_algorithms", summary="List algorithms", responses=responses(400, 422)
)
def list_algorithms(request: Request, response: Response, part: ListSlice) -> Page[AlgorithmOut]:
    """List what can be trained, by name."""
    known = sorted(learning.algorithms(), key=lambda one: one.name)
    rest = [one for one in known if part.after is None or one.name > part.after]
    return page(request, response, part, rest, key=lambda one: one.name, show=AlgorithmOut.of)


@router.get(
    "/v1/algorithms/{name}",
    operation_id="read_algorithm",
    summary="Read an algorithm",
    responses=responses(404),
)
def read_algorithm(name: str) -> AlgorithmOut:
    """Read one algorithm; `auto` is the default one. Case, "-" and "_" make no difference."""
    found = learning.algorithm(name)
    if found is None:
        raise NotFoundError("algorithm", name)
    return AlgorithmOut.of(found)
