"""Every route of the application, in the OpenAPI document or not, needs a key or is one of a few."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts

from service.api.app import create_app
from tests.service.conftest import Service, running, settings_for

#: Routes that need no key: probes, and pages that are the same for everybody.
OPEN = {
    *("/livez", "/readyz", "/version", "/v2", "/v2/health/live", "/v2/health/ready"),
    *("/docs", "/docs/", "/openapi.json", "/problems", "/problems/", "/problems/{code}"),
}


@pytest.fixture(scope="module")
def keyed(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that needs keys."""
    folder = tmp_path_factory.mktemp("keyed")
    (folder / "costboost.db").write_bytes(migrated_sqlite.read_bytes())
    settings = settings_for(f"sqlite:///{folder / 'costboost.db'}", folder, auth="keys")
    with running(settings, with_worker=False, preload=()) as service:
        yield service


def test_no_route_is_left_out(keyed: Service) -> None:
    document = keyed.http.get("/openapi.json").json()["paths"]
    documented = {
        (method.upper(), path)
        for path, methods in document.items()
        for method, operation in methods.items()
        if "security" in operation
    }
    opened, closed = set[str](), set[tuple[str, str]]()
    for context in iter_route_contexts(create_app(keyed.wiring).routes):
        path = context.path_format
        for method in sorted((context.methods or set()) - {"HEAD"}):
            answer = keyed.http.request(method, re.sub(r"\{.*?\}", "invalid", path))
            if path in OPEN:
                assert answer.status_code < 400, path
                opened.add(path)
                continue
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            closed.add((method, path))
    assert opened == OPEN
    # The Open Inference Protocol has a document of its own.
    assert {one for one in closed if not one[1].startswith("/v2/models/{model}")} == documented
    assert len(closed - documented) == 6
