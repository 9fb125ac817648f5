"""The OpenAPI document: FastAPI's, with our problems instead of its own and the parts it cannot see."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from service.api import batch_predictions, idempotency, prediction_schema
from service.api.links import add_links
from service.api.problems import ProblemDetails, responses
from service.api.routes import StrictRoute

TAGS = [
    {"name": "datasets", "description": "Tables to learn from."},
    {"name": "cost-specs", "description": "What each outcome costs, named and kept."},
    {"name": "algorithms", "description": "What can be trained, and with which parameters."},
    {"name": "training-jobs", "description": "Requested trainings."},
    {"name": "models", "description": "Models, their versions and the aliases that point to them."},
    {"name": "predictions", "description": "The decision that costs least, for each row."},
    {"name": "performance", "description": "What decisions cost in the end, from labels that come later."},
    {"name": "api-keys", "description": "Who may ask, and for what."},
    {"name": "audit-log", "description": "Who did what, and when."},
    {"name": "webhooks", "description": "Who is told of ended jobs and moved aliases."},
    {"name": "subjects", "description": "Whom rows are about, and how they are forgotten."},
    {"name": "batch-predictions", "description": "Tables in, decisions out as files."},
    {"name": "simulations", "description": "What decisions would cost in other circumstances."},
    {"name": "probes", "description": "Is it alive, ready, which release, how busy."},
]

SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "cb_<id>_<secret>",
    "description": "An API key with one of the scopes named, or `admin`. A service on a loopback address "
    "needs none, unless `COSTBOOST_AUTH=keys`.",
}

_OWN = {"HTTPValidationError", "ValidationError"}


def document(app: FastAPI) -> dict[str, Any]:
    """Build the document once."""
    if app.openapi_schema is None:
        app.openapi_schema = _build(app)
    return app.openapi_schema


def _build(app: FastAPI) -> dict[str, Any]:
    built = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
    )
    schemas = built.setdefault("components", {}).setdefault("schemas", {})
    built["components"]["securitySchemes"] = {"api_key": SECURITY}
    schemas |= _problem_schemas() | prediction_schema.schemas() | batch_predictions.schemas()
    for name in _OWN:
        schemas.pop(name, None)
    for operation in _operations(built):
        _complete(operation)
    for route in _routes(app):
        for method in route.methods or ():
            _mark(built["paths"][route.path_format][method.lower()], route, method)
    add_links(built)
    return built


def _problem_schemas() -> dict[str, Any]:
    schema = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "ProblemDetails": schema}


def _operations(built: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in built["paths"].items():
        if path.startswith("/v1") or path == "/predict":
            yield from methods.values()


def _routes(app: FastAPI) -> Iterator[StrictRoute]:
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, StrictRoute) and route.include_in_schema:
            yield route


def _mark(operation: dict[str, Any], route: StrictRoute, method: str) -> None:
    """Add what the route class does for every route."""
    scopes = route.opened_by(method)
    if scopes is not None:
        # One of them is enough; each is a way in of its own.
        operation["security"] = [{"api_key": [scope]} for scope in scopes]
    if route.has_tags and "304" not in operation["responses"]:
        operation["responses"]["304"] = {"description": "Unchanged"}
        operation["responses"] = dict(sorted(operation["responses"].items()))
    if route.is_creating:
        operation.setdefault("parameters", []).append(idempotency.PARAMETER)
        # 404: what the key of an earlier request made was deleted since, and its answer was not kept.
        answers = {"404": responses(404)[404], **operation["responses"], "409": responses(409)[409]}
        operation["responses"] = dict(sorted(answers.items()))


def _complete(operation: dict[str, Any]) -> None:
    """Add the problems that the layers around every handler answer."""
    common = [400, 401, 403, 429, 503] + ([408, 413, 415, 422] if "requestBody" in operation else [])
    answers = operation["responses"]
    for status, entry in responses(*common).items():
        if _is_fastapi_own(answers.get(str(status))):
            answers[str(status)] = entry
    if _is_fastapi_own(answers.get("422", {"content": {}})):
        answers["422"] = responses(422)[422]
    operation["responses"] = dict(sorted(answers.items()))


def _is_fastapi_own(response: dict[str, Any] | None) -> bool:
    return response is None or "HTTPValidationError" in str(response.get("content", {}))
