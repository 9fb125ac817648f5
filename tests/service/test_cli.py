"""The command line as somebody at a terminal has it: with a service, and without one."""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import costboost
from service.cli import app
from tests.service.conftest import Service, table

COSTS = '{"fn": {"per": {"amount": 1}}, "fp": 10}'
QUICK = ("--algorithm", "cgada", "--params", '{"n_estimators": 20}', "--costs", COSTS)


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["costboost", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            app()
        told = capsys.readouterr()
        return Done(int(ended.value.code or 0), told.out, told.err)

    return run


@pytest.fixture
def asked(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same with a service to talk to."""
    monkeypatch.setenv("COSTBOOST_URL", str(service.http.base_url))
    return run


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    path = tmp_path / "payments.csv"
    path.write_text(table())
    return path


on_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)


# --- without a service ------------------------------------------------------------------------------------


def test_a_model_is_trained_and_asked_in_files(run: Run, payments: Path, tmp_path: Path) -> None:
    trained = run("train", payments, "--label", "label", *QUICK)
    assert trained.status == 0, trained.err
    assert "saved against it" in trained.out
    assert "boosting" in trained.err
    model = costboost.load((tmp_path / "payments.costboost").read_bytes())
    decided = run("predict", "payments.costboost", payments, "--id", "hour")
    rows = list(csv.DictReader(io.StringIO(decided.out)))
    data = list(csv.DictReader(io.StringIO(payments.read_text())))
    assert [row["hour"] for row in rows] == [row["hour"] for row in data]
    numbers = {name: [float(data[0][name])] for name in ("amount", "hour")}
    probabilities = model.predict_proba(numbers | {"merchant": [data[0]["merchant"]]})
    assert float(rows[0]["probability_fraud"]) == probabilities[0, list(model.classes_).index("fraud")]
    odd = payments.with_name("odd.csv")
    odd.write_text(payments.read_text().replace(",a,", ",never seen,", 2))
    told = run("predict", "payments.costboost", odd).err
    assert told == "a category of merchant did not occur in training, and counts as other (rows: 2)\n"


def test_other_costs_and_thresholds_move_decisions_alone(run: Run, payments: Path, tmp_path: Path) -> None:
    run("train", payments, *QUICK, "--output", "m.costboost")
    (tmp_path / "dear.json").write_text('{"fn": 1, "fp": 1000}')
    plain = run("predict", "m.costboost", payments, "--output", "plain.parquet")
    dear = run("predict", "m.costboost", payments, "--costs", "dear.json", "--output", "dear.parquet")
    low = run("predict", "m.costboost", payments, "--threshold", "0.001", "--output", "low.json")
    assert (plain.status, dear.status, low.status) == (0, 0, 0)
    before, after = pq.read_table(tmp_path / "plain.parquet"), pq.read_table(tmp_path / "dear.parquet")
    assert before["probability_fraud"] == after["probability_fraud"]
    assert set(after["label"].to_pylist()) == {"legit"}
    assert {row["label"] for row in json.loads((tmp_path / "low.json").read_text())} == {"fraud"}
    for threshold in ("2", "-1", "nan"):
        done = run("predict", "m.costboost", payments, "--threshold", threshold)
        assert (done.status, done.out) == (1, "")
        assert "--threshold: must lie between 0 and 1" in done.err


def test_what_cannot_be_trained_is_told_with_its_place(run: Run, payments: Path, tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("amount,label\n1,a\n2\n3,b\n")
    ragged = run("train", "ragged.csv", "--costs", COSTS)
    assert (ragged.status, "line 3" in ragged.err) == (1, True)
    unknown = run("train", payments, "--costs", COSTS, "--algorithm", "adabust")
    assert (unknown.status, "--algorithm: " in unknown.err) == (1, True)
    assert "did you mean adaboost?" in unknown.err
    assert "/v1/" not in unknown.err
    absurd = run("train", payments, "--costs", '{"fn": -5, "fp": 1}')
    assert absurd.status == 1
    assert "Traceback" not in ragged.err + unknown.err + absurd.err
    assert list(tmp_path.glob("*.costboost")) == []


def test_what_is_wrong_is_said_once_with_its_option_and_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("amount,fraud\n1,a\n2,b\n")
    done = run("train", "bare.csv", "--costs", COSTS)
    assert done.err.splitlines() == [
        "costboost: --label: there is no column `label`: say which one tells the class; "
        "the columns are amount, fraud",
        "  Say with --label which column tells what each row turned out to be.",
    ]
    wrong = run(
        "train", "bare.csv", "--label", "fraud", "--costs", COSTS, "--spec", '{"split": {"folds": 1}}'
    )
    assert wrong.err == "costboost: --spec, split/folds: must be at least 2\n"


def test_a_file_of_the_model_is_pointed_at(run: Run, payments: Path, tmp_path: Path) -> None:
    (tmp_path / "card.costboost").touch()
    done = run("predict", "card", payments, "--threshold", 0.2)
    assert (done.status, "`costboost predict card.costboost …`" in done.err) == (2, True)
    assert "there is no file cart.costboost" in run("predict", "cart.costboost", payments).err


# --- a folder ---------------------------------------------------------------------------------------------

BY_ROWS = ("--role", "merchant=ignore", *QUICK)


def write_parts(folder: Path, rows: pa.Table, parts: int) -> Path:
    """The rows in so many files, one of them in a folder of its own."""
    (folder / "b").mkdir(parents=True)
    size = -(-rows.num_rows // parts)
    for number in range(parts):
        name = folder / "b" / "0.parquet" if number == 0 else folder / f"{number}.parquet"
        pq.write_table(rows.slice(number * size, size), name)
    return folder


@pytest.fixture(scope="module")
def rows_of_parts() -> pa.Table:
    return pyarrow.csv.read_csv(io.BytesIO(table(rows=2000).encode()))


def test_a_folder_trains_the_same_model_however_its_rows_are_parted(
    run: Run, rows_of_parts: pa.Table, tmp_path: Path
) -> None:
    write_parts(tmp_path / "some", rows_of_parts, 3)
    mixed = np.random.default_rng(0).permutation(rows_of_parts.num_rows)
    write_parts(tmp_path / "others", rows_of_parts.take(pa.array(mixed)), 2)
    some, others = run("train", "some", *BY_ROWS), run("train", "others", *BY_ROWS, "--compute", "local")
    assert some.status == 0, some.err
    assert "saved against it" in some.out
    assert "reading\nboosting\ncalibration" in some.err
    assert some.out == others.out
    model = (tmp_path / "some.costboost").read_bytes()
    assert model == (tmp_path / "others.costboost").read_bytes()
    grouped = run("train", "some", *BY_ROWS, "--role", "hour=group", "--spec", '{"split": {"kind": "group"}}')
    assert grouped.status == 0, grouped.err
    assert (tmp_path / "some.costboost").read_bytes() != model
    pq.write_table(rows_of_parts, tmp_path / "rows.parquet")
    decided = list(csv.DictReader(io.StringIO(run("predict", "others.costboost", "rows.parquet").out)))
    labels = rows_of_parts["label"].to_pylist()
    right = sum(row["label"] == label for row, label in zip(decided, labels, strict=True))
    assert right > 0.7 * len(labels)


def test_a_folder_that_cannot_be_trained_is_told_with_its_file_or_place(
    run: Run, rows_of_parts: pa.Table, tmp_path: Path
) -> None:
    write_parts(tmp_path / "rows", rows_of_parts.slice(0, 200), 2)
    searched = json.dumps(
        {
            "search": {"params": {"n_estimators": {"low": 1, "high": 9}}},
            "train_costs": "row",
            "split": {"kind": "time"},
        }
    )
    apart = run("train", "rows", "--role", "hour=time", "--costs", COSTS, "--spec", searched)
    assert apart.status == 1
    places = ("--algorithm", "--spec, search", "train_costs", "split/kind", "--role, column merchant")
    assert all(place in apart.err for place in places), apart.err
    unknown = run("train", "rows", *BY_ROWS, "--label", "labl")
    assert (unknown.status, "label" in unknown.err) == (1, True)
    holes = rows_of_parts.slice(0, 200).set_column(3, "label", pa.nulls(200, pa.string()))
    pq.write_table(holes, tmp_path / "rows" / "holes.parquet")
    unlabelled = run("train", "rows", *BY_ROWS)
    assert "holes.parquet: 200 rows have no label" in unlabelled.err
    pq.write_table(holes.drop_columns("hour"), tmp_path / "rows" / "holes.parquet")
    assert "holes.parquet has other columns" in run("train", "rows", *BY_ROWS).err
    (tmp_path / "rows" / "holes.parquet").write_bytes(b"PAR0")
    assert "holes.parquet is no readable Parquet file" in run("train", "rows", *BY_ROWS).err
    endless = rows_of_parts.slice(0, 200).set_column(1, "hour", pa.array([math.inf] * 200))
    write_parts(tmp_path / "endless", endless, 1)
    told = run("train", "endless", *BY_ROWS).err
    assert "column hour: infinite" in told
    assert "row " not in told
    (tmp_path / "none" / "x.parquet").mkdir(parents=True)
    assert "no file that ends in .parquet" in run("train", "none", *BY_ROWS).err
    assert "Traceback" not in apart.err + unknown.err + unlabelled.err
    assert list(tmp_path.glob("*.costboost")) == []


def test_what_can_be_trained_is_listed(run: Run) -> None:
    listed = run("algorithms")
    assert "adacost" in listed.out
    found = {one["name"]: one for one in json.loads(run("algorithms", "--json").out)}
    assert "n_estimators" in found["adacost"]["params"]["properties"]


def test_what_is_no_model_is_refused(run: Run, payments: Path) -> None:
    done = run("predict", payments, payments)
    assert (done.status, done.out) == (1, "")
    assert "holds no model" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "payments.csv", "--costs", "{fn: 5}"),
        ("train", "no-such.csv", "--costs", COSTS),
        ("train", "payments.csv", "--costs", COSTS, "--role", "amount"),
        ("predict", "m", "payments.csv", "--output", "rows.xlsx"),
        ("predict", "m", "no-such.csv"),
        ("simulate", "m", "--capacity", "many"),
        ("keys", "list"),
        ("fly",),
    ],
)
def test_wrong_usage_is_status_2(run: Run, payments: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("train", "no-such.csv", "--costs", COSTS), "there is no file no-such.csv"),
        (("train", "payments", "--costs", COSTS), "needs --url"),
        (("train", "payments.csv", "--costs", COSTS, "--compute", "local"), "--compute is for a folder"),
        (("train", ".", "--costs", COSTS, "--url", "http://127.0.0.1:9"), "without a service"),
        (("train", ".", "--costs", COSTS, "--compute", "dask://8.8.8.8:1"), "use dask+tls"),
        (("train", "notes.txt", "--costs", COSTS), "ends in one of"),
        (("train", "payments.csv", "--costs", COSTS, "--output", "payments.csv"), "would be lost"),
        (
            ("train", "payments.csv", "--costs", COSTS, "--role", "hour=cost", "--role", "hour=ignore"),
            "--role names hour twice",
        ),
        (("predict", "m.costboost", "payments.csv", "--output", "payments.csv"), "would be lost"),
        (("keys", "create", "--tenant", "a", "--scopes", "predict", "--name", 200 * "n"), "1 to 128"),
        (("train", "payments.csv", "--costs", "costs.json"), "there is no file costs.json"),
        (("train", "payments.csv", "--costs", "{fn: 5}"), "double quotes"),
        (("train", "payments.csv", "--costs", COSTS, "--output", "no/m.costboost"), "no folder"),
        (("predict", "m", "payments.csv", "--output", "no/d.csv"), "no folder"),
        (("models", "export", "m", "1", "no/m.zip"), "no folder"),
        (("jobs", "show", "card"), "begins with job_"),
        (("train", "payments.csv", "--costs", '{"fn": NaN, "fp": 1}'), "is no JSON"),
        (("train", "payments.csv", "--costs", COSTS, "--params", "[1]"), "is a JSON object"),
        (("train", "payments.csv", "--costs", COSTS, "--spec", '{"label": "y"}'), "--label says it"),
    ],
)
def test_wrong_usage_is_told_before_any_work(
    run: Run, payments: Path, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "notes.txt").write_text("a\n1\n")
    done = run(*arguments)
    assert done.status == 2
    assert told in re.sub(r"[│\s]+", " ", done.err)
    assert "Content-Type" not in done.err


# --- with a service ---------------------------------------------------------------------------------------


@on_sqlite
def test_a_newcomer_reaches_decisions_in_money(asked: Run, payments: Path, tmp_path: Path) -> None:
    uploaded = asked("datasets", "upload", payments, "--name", "cli-payments", "--json")
    dataset = json.loads(uploaded.out)
    assert dataset["positive_class"] == "fraud"
    assert "merchant" in asked("datasets", "show", "cli-payments").out
    assert dataset["id"] in asked("datasets", "list", "--limit", 1000).out
    trained = asked("train", "cli-payments", "--model", "cli-card", *QUICK)
    assert trained.status == 0, trained.err
    assert "cli-card version 1" in trained.out
    assert "succeeded" in trained.err
    job = trained.err.split()[0]
    assert json.loads(asked("jobs", "show", job, "--json").out)["status"] == "succeeded"
    assert job in asked("jobs", "list", "--limit", 1000).out
    shown = asked("models", "show", "cli-card", 1).out
    assert "saved against it" in shown
    assert '"per": {"amount": 1.0}' in shown
    simulated = asked("simulate", "cli-card", "--costs", '{"fn": 100, "fp": 5}')
    assert "always legit" in simulated.out
    assert re.search(r"as it decides now +\S+ +\S+ to \S+", simulated.out)


@on_sqlite
def test_here_and_there_are_the_same_bytes_and_decisions(asked: Run, payments: Path, tmp_path: Path) -> None:
    assert asked("train", payments, "--model", "cli-same", *QUICK).status == 0
    assert asked("models", "download", "cli-same", 1, "there.costboost").status == 0
    there = asked("predict", "cli-same", payments)
    assert there.status == 0, there.err
    assert "cli-same" not in asked("jobs", "list", "--batch").out
    named = asked("predict", "cli-same", payments, "--id", "hour")
    assert named.status == 0, named.err
    assert asked("predict", "cli-same", payments, "--id", "our").status == 1
    with pytest.MonkeyPatch.context() as alone:
        alone.delenv("COSTBOOST_URL")
        assert asked("train", payments, *QUICK, "--output", "here.costboost").status == 0
        here = asked("predict", "there.costboost", payments)
        assert asked("predict", "there.costboost", payments, "--id", "hour").out == named.out
    assert (tmp_path / "here.costboost").read_bytes() == (tmp_path / "there.costboost").read_bytes()
    columns = [list(csv.reader(io.StringIO(done.out))) for done in (here, there)]
    assert columns[0] == columns[1]


@on_sqlite
def test_costs_are_stored_checked_and_shown(asked: Run) -> None:
    made = asked("costs", "create", "cli-costs", '{"fn": 500, "fp": 10}', "--currency", "EUR")
    assert "flag when p > 0.0196" in made.out
    assert "cli-costs" in asked("costs", "list", "--limit", 1000).out
    assert json.loads(asked("costs", "show", "cli-costs", "--json").out)["currency"] == "EUR"
    assert "flag when" in asked("costs", "check", '{"fn": 500, "fp": 10}').out


@on_sqlite
def test_what_the_service_refuses_is_status_3(asked: Run, payments: Path) -> None:
    for arguments in (("models", "show", "no-such-model", 1), ("costs", "check", '{"fn": -5, "fp": 1}')):
        done = asked(*arguments)
        assert (done.status, done.out) == (3, ""), done.err
        assert "request " in done.err
    twice = asked("simulate", "no-such-model", "--capacity", "4/year").err
    assert "refused (invalid): --capacity, per: must be" in twice
    assert twice.count("must be") == 1


@on_sqlite
def test_a_job_that_ends_badly_is_status_4(asked: Run, payments: Path) -> None:
    spec = '{"limits": {"seconds": 0.2}}'
    done = asked("train", payments, "--model", "cli-late", "--costs", COSTS, "--spec", spec)
    assert done.status == 4, done.err
    assert "time_limit" in done.err


@on_sqlite
def test_versions_are_promoted_carried_and_deleted(asked: Run, payments: Path) -> None:
    assert asked("train", payments, "--model", "cli-moved", *QUICK).status == 0
    assert asked("models", "promote", "cli-moved", 1, "--alias", "night", "--reason", "quiet").status == 0
    assert "night=1" in asked("models", "list", "--limit", 1000).out
    assert asked("models", "export", "cli-moved", 1, "moved.zip").status == 0
    assert "cli-copy" in asked("models", "import", "cli-copy", "moved.zip").out
    assert asked("models", "delete", "cli-copy").status == 0
    assert asked("models", "versions", "cli-copy").status == 3


@on_sqlite
def test_feedback_is_read_from_a_file(asked: Run, service: Service, payments: Path, tmp_path: Path) -> None:
    assert asked("train", payments, "--model", "cli-told", *QUICK).status == 0
    row = {"amount": 640.0, "hour": 3, "merchant": "d"}
    prediction = service.predict("cli-told", [row], record="durable")[0]["prediction_id"]
    (tmp_path / "labels.csv").write_text(f"prediction_id,label,amount\n{prediction},fraud,640\n")
    assert json.loads(asked("feedback", "labels.csv", "--json").out)["accepted"] == 1
    (tmp_path / "odd.csv").write_text("id,label\nx,fraud\n")
    assert asked("feedback", "odd.csv").status == 2


def test_nobody_at_the_address_is_status_1(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("costboost.client.exchange._FIRST_PAUSE", 0.0)
    done = run("models", "list", "--url", "http://127.0.0.1:1")
    assert done.status == 1
    assert "no answer" in done.err
    assert "`costboost serve` starts one" in done.err
    assert caplog.messages == ["ConnectError; trying again in 0.0 s"] * 5
