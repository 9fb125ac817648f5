"""Whatever is sent, no answer is a server error, and each refusal is a problem with a known code."""

from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode

from service.domain.problems.registry import PROBLEMS
from tests.service import fuzz_hooks  # noqa: F401
from tests.service.conftest import Service

KNOWN = {"model": "fuzzed", "version": 1, "alias": "champion"}
FEW = settings(
    max_examples=7,
    deadline=None,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def api(service: Service, fraud_csv: str) -> Any:
    """The document of a service that has a model to be found."""
    service.train("fuzzed", fraud_csv, {"fn": 20, "fp": 1}, params={"n_estimators": 3})
    return schemathesis.openapi.from_url(f"{service.http.base_url}/openapi.json")


def find_something(case: Case) -> None:
    """Let half of the requests name what exists."""
    if len(str(case.path_parameters)) % 2:
        case.path_parameters = {name: KNOWN.get(name, value) for name, value in case.path_parameters.items()}


# PostgreSQL is the stricter of the two: it refuses what SQLite swallows.
@pytest.mark.parametrize("service", ["postgresql"], indirect=True)
@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
def test_no_request_makes_a_server_error(api: Any, mode: GenerationMode) -> None:
    asked = 0

    def check(case: Case) -> None:
        nonlocal asked
        asked += 1
        find_something(case)
        answer = case.call()
        assert answer.status_code < 500, (answer.status_code, answer.text, case.as_curl_command())
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == ["application/problem+json"]
            assert answer.json()["code"] in PROBLEMS, answer.text

    for found in api.get_all_operations():
        with suppress(Unsatisfiable):  # where nothing is sent, nothing can be wrong
            FEW(given(found.ok().as_strategy(generation_mode=mode))(check))()
    assert asked > 100
