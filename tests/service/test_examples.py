"""The examples run as they stand, and say what they promise."""

import runpy
from pathlib import Path

import pytest

from tests.service.conftest import Service

EXAMPLES = Path(__file__).parents[2] / "examples"
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


def test_every_example_is_run_and_listed() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == SAID.keys()
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"({script})" in listed for script in scripts)
