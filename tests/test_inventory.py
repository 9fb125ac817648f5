"""What the service stands on may be passed on with it, and can be listed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import inventory

ROOT = Path(__file__).parent.parent


def test_every_licence_was_looked_at() -> None:
    packages = inventory.installed()
    assert {"numpy", "fastapi", "psycopg", "dbos"} <= packages.keys()
    assert list(inventory.refused(packages)) == []


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("MIT AND (Apache-2.0 OR GPL-3.0-only)", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0-only", False),
        ("GPL-3.0-only", False),
        ("MIT AND AGPL-3.0-or-later", False),
        ("LGPL-3.0-only", False),
        ("", False),
    ],
)
def test_licences_are_read_as_expressions(expression: str, is_allowed: bool) -> None:
    assert inventory.is_allowed("some", expression) is is_allowed


def test_the_list_names_each_package_with_its_version(tmp_path: Path) -> None:
    path = tmp_path / "build" / "sbom.json"
    subprocess.run([sys.executable, ROOT / "scripts" / "inventory.py", path], check=True, cwd=ROOT)
    document = json.loads(path.read_text())
    assert (document["bomFormat"], document["metadata"]["component"]["name"]) == ("CycloneDX", "costboost")
    assert len(document["components"]) == len(inventory.installed()) - 1
    for one in document["components"]:
        assert re.fullmatch(r"pkg:pypi/[a-z0-9-]+@\S+", one["purl"])
        assert one["licenses"]
