"""The examples, and the how-tos that ask a service, run as they stand."""

import runpy
from pathlib import Path

import pytest

from tests.service.conftest import Service
from tests.test_docs import run_blocks

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
HOW_TOS = sorted(
    page for page in (ROOT / "docs" / "how-to").glob("*.md") if "costboost.client" in page.read_text()
)
SAID = {
    "fraud_analyst.py": "least cost",
    "clinician.py": "examined above",
    "credit_officer.py": "the last place is worth",
    "service_operator.py": "imported as version 1",
}


@pytest.mark.parametrize("service", ["sqlite"], indirect=True)
@pytest.mark.parametrize("script", sorted(SAID))
def test_an_example_runs_as_it_stands(
    service: Service, script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COSTBOOST_URL", str(service.http.base_url))
    runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    assert SAID[script] in capsys.readouterr().out


@pytest.mark.parametrize("service", ["sqlite"], indirect=True)
@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.name)
def test_how_tos_with_a_service_run_as_written(
    service: Service, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COSTBOOST_URL", str(service.http.base_url))
    assert run_blocks(page) > 2


def test_every_example_is_run_and_listed() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == SAID.keys()
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"({script})" in listed for script in scripts)
