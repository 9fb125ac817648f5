"""Many requests drawn from the OpenAPI document, on both databases: `make fuzz`."""

import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from costboost import warming
from service.usecases import api_keys
from tests.service.conftest import Service

CASES = int(os.environ.get("FUZZ_CASES") or 100_000)
SEED = int(os.environ.get("FUZZ_SEED") or secrets.randbits(32))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


@pytest.fixture(scope="module")
def fuzzed(service: Service, fraud_csv: str) -> Iterator[Service]:
    """The service with a model to be found; it logs errors only."""
    warming.warm()  # where nothing is compiled yet, a busy machine trains for minutes
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    service.train("fuzzed", fraud_csv, {"fn": 20, "fp": 1}, params={"n_estimators": 3})
    yield service
    structlog.reset_defaults()


def test_no_request_is_answered_otherwise_than_documented(fuzzed: Service) -> None:
    """Examples, boundaries, drawn requests right and wrong, and sequences of requests that follow links."""
    address = str(fuzzed.http.base_url).rstrip("/")
    document = fuzzed.http.get("/openapi.json").json()
    operations = sum(len(methods) for methods in document["paths"].values())
    each = max(1, CASES // (2 * operations))
    key = api_keys.create_key(fuzzed.wiring.sessions, "default", "fuzz", ["admin"], by="cli")[1]
    database = fuzzed.settings.masked()["database_url"].partition(":")[0]
    print(f"\n{database}: FUZZ_SEED={SEED}, {operations} operations, at most {each} cases each", flush=True)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"),
        *("--header", f"Authorization: Bearer {key}", "--max-examples", str(each), "--seed", str(SEED)),
        *("--phases", "examples,coverage,fuzzing,stateful", "--mode", "all", "--checks", ",".join(CHECKS)),
        *("--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off"),
        *("--request-timeout", "60"),
        *("--exclude-operation-id", "revoke_api_key"),  # with its own key gone, all that follows is refused
    ]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.service.fuzz_chain"}
    assert subprocess.run(command, env=environment, check=False).returncode == 0
