"""The OpenAPI document: committed, complete, and true (a bounded fuzz finds no 5xx)."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.domain.problems.registry import KINDS, PROBLEMS
from service.domain.wording import PATTERNS
from tests.service.conftest import Service

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
CONTRACT = {
    "/v1/datasets": {"get", "post"},
    "/v1/datasets/{dataset}": {"get", "delete"},
    "/v1/datasets/{dataset}/content": {"get"},
    "/v1/cost-specs": {"get", "post"},
    "/v1/cost-specs/{cost_spec}": {"get"},
    "/v1/cost-specs/validate": {"post"},
    "/v1/algorithms": {"get"},
    "/v1/algorithms/{name}": {"get"},
    "/v1/training-jobs": {"get", "post"},
    "/v1/training-jobs/validate": {"post"},
    "/v1/training-jobs/{job}": {"get"},
    "/v1/training-jobs/{job}/cancel": {"post"},
    "/v1/models": {"get"},
    "/v1/models/{model}": {"get", "patch", "delete"},
    "/v1/models/{model}/versions": {"get"},
    "/v1/models/{model}/versions/{version}": {"get", "delete"},
    "/v1/models/{model}/versions/{version}/schema": {"get"},
    "/v1/models/{model}/versions/{version}/evaluation": {"get"},
    "/v1/models/{model}/versions/{version}/artifact": {"get"},
    "/v1/models/{model}/aliases/{alias}": {"get", "put", "delete"},
    "/predict": {"post"},
    "/v1/predict": {"post"},
    "/v1/models/{model}/predict": {"post"},
    "/v1/predictions/{prediction}": {"get"},
    "/v1/simulations": {"post"},
    "/v1/models/{model}/versions/{version}/simulations": {"post"},
    "/v1/batch-predictions": {"get", "post"},
    "/v1/batch-predictions/{batch_prediction}": {"get"},
    "/v1/batch-predictions/{batch_prediction}/output": {"get"},
    "/v1/feedback": {"post"},
    "/v1/subjects/{subject}": {"delete"},
    "/v1/webhooks": {"get", "post"},
    "/v1/webhooks/{webhook}": {"get", "delete"},
    "/v1/models/{model}/performance": {"get"},
    "/livez": {"get"},
    "/readyz": {"get"},
    "/version": {"get"},
    "/metrics": {"get"},
}


@pytest.fixture(scope="module")
def document(sqlite_service: Service) -> dict[str, Any]:
    found: dict[str, Any] = sqlite_service.http.get("/openapi.json").json()
    return found


def test_the_committed_document_is_up_to_date(document: dict[str, Any]) -> None:
    """Renew it with `costboost openapi > docs/openapi.json`."""
    assert json.loads(COMMITTED.read_text()) == document


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")


@pytest.mark.parametrize("path", CONTRACT)
def test_the_paths_of_the_contract_are_there(document: dict[str, Any], path: str) -> None:
    assert CONTRACT[path] <= set(document["paths"][path])


def test_every_operation_says_what_it_is(document: dict[str, Any]) -> None:
    seen = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert len(operation["tags"]) == 1, (method, path)
            assert operation["operationId"] not in seen, (method, path)
            seen.add(operation["operationId"])


def test_every_problem_response_is_a_problem(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                if status >= "400" and path != "/readyz":
                    assert set(response["content"]) == {"application/problem+json"}, (method, path, status)
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(one) for one in value.values()))
        return set().union(*(references(one) for one in value)) if isinstance(value, list) else set()

    assert {one.rpartition("/")[2] for one in references(document)} <= set(schemas)


def test_every_pattern_has_words(document: dict[str, Any]) -> None:
    """Who sends a wrong name is not shown a regular expression."""

    def patterns(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["pattern"]} if isinstance(value.get("pattern"), str) else set()
            return own.union(*(patterns(one) for one in value.values()))
        return set().union(*(patterns(one) for one in value)) if isinstance(value, list) else set()

    assert patterns(document) <= set(PATTERNS)


def test_every_code_has_words() -> None:
    for code, problem in PROBLEMS.items():
        assert code == code.lower()
        assert problem.title
        assert problem.meaning.endswith(".")
        assert problem.remedy.endswith(".")
    assert len(PROBLEMS) == sum(len(kind) for kind in KINDS), "a code has two meanings"
