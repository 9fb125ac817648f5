"""The project around the code: what README, constraints, data notes and docs say is what is there."""

import csv
import gzip
import importlib.metadata
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sqlalchemy import inspect

from service.api import inference
from service.db.engine import open_database
from tests.postgresql import drop_database, make_database
from tests.service.conftest import table

ROOT = Path(__file__).parent.parent
DATA = ROOT / "demo" / "data"
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("demo/**/*.md"),
    *ROOT.glob("examples/*.md"),
]
COMMANDS = ("serve", "worker", "migrate", "config", "openapi", "version")


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


def costboost(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COSTBOOST_")}
    command = [str(Path(sys.executable).with_name("costboost")), *arguments]
    env = clean | {"COLUMNS": "200", "NO_COLOR": "1"} | environment
    # By default data are kept below the current folder, and that shall not be the repository.
    with TemporaryDirectory() as folder:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=env, cwd=folder, check=False
        )


# --- constraints ------------------------------------------------------------------------------------------


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line), line


def test_constraints_lie_within_the_ranges_of_the_project() -> None:
    project = pyproject()
    extras = project["project"]["optional-dependencies"].values()
    ranges = [*project["project"]["dependencies"], *(r for extra in extras for r in extra)]
    ranges += project["build-system"]["requires"]
    pins = constraints()
    for text in ranges:
        requirement = Requirement(text)
        if requirement.name != "costboost":
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, text


def test_constraints_cover_all_that_gets_installed() -> None:
    needed = set(installed_with("costboost", {"dev"}))
    assert needed - {"costboost"} <= constraints().keys()


def installed_with(name: str, extras: set[str], seen: set[tuple[str, str]] | None = None) -> Iterator[str]:
    """Names of everything an installed distribution needs, through all levels."""
    seen = set() if seen is None else seen
    yield canonicalize_name(name)
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        wanted = [
            e for e in ("", *extras) if not requirement.marker or requirement.marker.evaluate({"extra": e})
        ]
        key = (requirement.name, ",".join(sorted(requirement.extras)))
        if wanted and key not in seen:
            seen.add(key)
            yield from installed_with(requirement.name, requirement.extras, seen)


# --- make, contracts, pages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "demo",
        "test",
        "test-slow",
        "test-lowest",
        "test-newest",
        "audit",
        "mutation",
        "secrets",
        "vulnerabilities",
        "compose-test",
        "check",
        "bench",
        "bench-full",
        "serve",
        "clean",
        "vendor",
    ],
)
def test_make_knows_the_target(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE)


def test_import_contracts_hold_both_packages_to_their_floors() -> None:
    contracts = pyproject()["tool"]["importlinter"]["contracts"]
    layers = {one["containers"][0]: one for one in contracts if one["type"] == "layers"}
    assert layers.keys() == {"costboost", "service"}
    assert all(one["exhaustive"] for one in layers.values())
    assert {one["type"] for one in contracts} == {"layers", "forbidden", "protected", "acyclic_siblings"}
    doors = {
        one["protected_modules"][0]: one["allowed_importers"]
        for one in contracts
        if one["type"] == "protected"
    }
    assert doors["costboost"] == ["service.learning", "service.cli"]
    assert doors["dbos"] == ["service.queue"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_architecture_names_every_floor() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    contracts = pyproject()["tool"]["importlinter"]["contracts"]
    floors = [floor for one in contracts if one["type"] == "layers" for floor in one["layers"]]
    modules = {module.strip() for floor in floors for module in floor.split("|")}
    missing = {module for module in modules if module not in text}
    assert missing == set(), "a new module needs its line in the code map of ARCHITECTURE.md"


# --- bundled data -----------------------------------------------------------------------------------------


def data_rows(file: str) -> list[dict[str, str]]:
    with gzip.open(DATA / file, "rt", encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def noted_data() -> list[tuple[str, int, int, int]]:
    pattern = r"^\| `([a-z_]+\.csv\.gz)` \| (\d+) \| (\d+) \| (\d+) \|"
    found = re.findall(pattern, (DATA / "README.md").read_text(), re.MULTILINE)
    return [(file, int(rows), int(features), int(positives)) for file, rows, features, positives in found]


def test_each_data_file_has_a_note_on_source_and_licence() -> None:
    files = {path.name for path in DATA.glob("*.gz")}
    assert {file for file, *_ in noted_data()} == files
    sources = (DATA / "README.md").read_text().partition("## Sources and licences")[2]
    assert all(f"**{file.removesuffix('.csv.gz')}**" in sources for file in files)


@pytest.mark.parametrize(("file", "rows", "features", "positives"), noted_data())
def test_data_are_as_noted(file: str, rows: int, features: int, positives: int) -> None:
    table = data_rows(file)
    costs_and_label = ["cost_fn", "cost_fp", "cost_tp", "cost_tn", "label"]
    assert list(table[0])[-5:] == costs_and_label
    assert (len(table), len(table[0]) - 5) == (rows, features)
    assert sum(row["label"] == "1" for row in table) == positives
    assert {row["label"] for row in table} == {"0", "1"}


def test_card_fraud_costs_are_amounts_and_a_check_of_ten() -> None:
    for row in data_rows("card_fraud.csv.gz"):
        assert float(row["cost_fn"]) == float(row["Amount"])
        assert (row["cost_fp"], row["cost_tp"], row["cost_tn"]) == ("10", "10", "0")


# --- the command line -------------------------------------------------------------------------------------


def test_help_lists_the_commands() -> None:
    shown = costboost("--help").stdout
    assert [name for name in COMMANDS if not re.search(rf"\b{name}\b", shown)] == []


def test_version_is_that_of_the_package() -> None:
    assert costboost("version").stdout.split()[:2] == ["costboost", pyproject()["project"]["version"]]


def test_config_masks_the_password() -> None:
    done = costboost("config", COSTBOOST_DATABASE_URL="postgresql://someone:tell-nobody@db/costboost")
    assert done.returncode == 0
    assert "postgresql://someone:***@db/costboost" in done.stdout
    assert "tell-nobody" not in done.stdout + done.stderr


def test_an_unknown_variable_stops_the_start_and_names_the_near_one() -> None:
    done = costboost("serve", COSTBOOST_DATABSE_URL="sqlite:///x.db")
    assert done.returncode == 2
    assert "COSTBOOST_DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_serving_to_the_network_without_keys_is_refused() -> None:
    done = costboost("serve", "--host", "0.0.0.0", "--port", "0", COSTBOOST_AUTH="off")
    assert done.returncode == 2
    assert "other machines" in done.stderr


def test_migrating_makes_the_tables_of_the_service_and_of_the_job_engine(tmp_path: Path) -> None:
    for _ in range(2):  # safe to repeat
        done = costboost("migrate", "--data-dir", str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    with closing(sqlite3.connect(tmp_path / "costboost.db")) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"training_jobs", "versions", "workflow_status"} <= tables


def test_a_database_that_cannot_be_reached_is_told_in_one_line() -> None:
    done = costboost("migrate", COSTBOOST_DATABASE_URL="postgresql://someone:tell-nobody@127.0.0.1:1/none")
    assert done.returncode == 1
    assert done.stderr.startswith("costboost: the database answered: ")
    assert done.stderr.count("\n") == 1
    assert "tell-nobody" not in done.stderr


@pytest.mark.parametrize(
    "asked",
    [("serve", "--port=0"), ("worker",), ("keys", "create", "--tenant=acme", "--scopes=admin")],
    ids=" ".join,
)
def test_postgresql_is_migrated_by_migrate_alone(postgresql_server: str, asked: tuple[str, ...]) -> None:
    url = make_database(postgresql_server)
    try:
        done = costboost(*asked, COSTBOOST_DATABASE_URL=url)
        database = open_database(url)
        tables = inspect(database).get_table_names()
        database.dispose()
    finally:
        drop_database(postgresql_server, url)
    assert done.returncode == 1
    assert done.stderr.startswith("costboost: the database has not the schema of this release; ")
    assert "`costboost migrate`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert tables == []


def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "costboost.db").write_bytes(b"not SQLite" * 1000)
    done = costboost("migrate", "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


# --- the documentation, against a running service ---------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A service started by the command line, as a newcomer would; the demo's own way to do it."""
    sys.path.insert(0, str(ROOT / "demo"))
    try:
        from running import running_service  # noqa: PLC0415  a script's folder, not a package
    finally:
        sys.path.pop(0)
    with running_service() as address:
        yield address


def test_every_route_is_documented_and_no_other() -> None:
    document = json.loads(costboost("openapi").stdout)
    methods = ("get", "put", "post", "patch", "delete")
    there = {f"{m.upper()} {path}" for path, item in document["paths"].items() for m in methods if m in item}
    text = (ROOT / "docs" / "http.md").read_text()
    documented = set(re.findall(r"`((?:GET|PUT|POST|PATCH|DELETE) /[^`?]*)`", text))
    # The Open Inference Protocol has a document of its own; here its routes are what is served.
    foreign = {route for route in documented if " /v2" in route}
    assert unnamed(documented - foreign) == unnamed(there)
    versions = ("", "/versions/{}")
    told = {route.replace("[/versions/{version}]", part) for route in foreign for part in versions}
    routes = [*inference.router.routes, *inference.direct.routes]
    served = {f"{method} {route.path}" for route in routes for method in route.methods}
    about_models = {route for route in served if not route.startswith("HEAD")}
    assert unnamed({route for route in told if "/models/" in route}) == unnamed(about_models)


def unnamed(routes: set[str]) -> set[str]:
    """Routes whatever their path parameters are called."""
    return {re.sub(r"\{\w+\}", "{}", route) for route in routes}


def readme_blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )


def test_the_requests_of_the_readme_work_as_written(url: str, tmp_path: Path) -> None:
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    blocks = readme_blocks("sh")
    assert len(blocks) == 4
    # --fail-with-body: an answer of 4xx or 5xx ends the script, with the answer shown.
    script = "\necho; echo ----\n".join(blocks).replace("http://127.0.0.1:8000", url)
    script = script.replace("curl -s ", "curl -s -S --fail-with-body ")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    queued, job, trained, repriced = (json.loads(part) for part in done.stdout.split("----"))
    assert queued["done"] is False
    assert job["status"] == "succeeded"
    before, after = trained["predictions"][0], repriced["predictions"][0]
    assert before["probabilities"] == after["probabilities"]
    assert (before["decision"], after["decision"]) == ("1", "0")


def test_the_library_of_the_readme_works_on_a_table() -> None:
    rows = list(csv.DictReader(io.StringIO(table(120))))
    given = pandas.DataFrame(rows).astype({"amount": float, "hour": float})
    y = given.pop("label")
    names = {"table": given, "y": y, "X": given[["amount", "hour"]].to_numpy()}
    exec(next(code for code in readme_blocks("python") if "CostSensitiveModel" in code), names)


def test_the_command_line_of_the_readme_needs_no_service(tmp_path: Path) -> None:
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    (script,) = readme_blocks("bash")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "saved against it" in done.stdout
    with (tmp_path / "decisions.csv").open() as decisions:
        assert len(list(csv.DictReader(decisions))) == 270


def test_the_python_of_the_readme_works_as_written(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "heart.csv").write_bytes(gzip.decompress((DATA / "heart_statlog.csv.gz").read_bytes()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTBOOST_URL", url)
    names: dict[str, Any] = {}
    exec(next(code for code in readme_blocks("python") if "costboost.client" in code), names)
    names["client"].close()
    first, *reasons = capsys.readouterr().out.splitlines()
    assert first[0] in "01"
    assert len(reasons) == 3
