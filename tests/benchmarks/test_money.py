"""The benchmark in money: the arithmetic of its rules, its statistics, and one small run of it."""

import csv
import gzip
import importlib
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def money() -> Iterator[dict[str, ModuleType]]:
    """Modules of the benchmark; none needs a peer before that peer takes part."""
    names = ("rules", "statistics", "sets", "store", "results", "contestants", "page", "__main__")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield {name: importlib.import_module(f"money.{name}") for name in names}
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in [name for name in sys.modules if name.split(".")[0] in ("money", "speed")]:
            del sys.modules[name]


# --- rules ------------------------------------------------------------------------------------------------


def test_rows_cost_what_their_own_class_and_decision_cost(money: dict[str, ModuleType]) -> None:
    costs = np.array([[[0.0, 1.0], [7.0, 2.0]], [[0.0, 3.0], [9.0, 4.0]]])
    charged = money["rules"].charged
    assert charged(costs, np.array([1, 0]), np.array([0, 1])).tolist() == [7.0, 3.0]
    assert charged(costs, np.array([1, 1]), np.array([1, 1])).tolist() == [2.0, 4.0]


def test_the_cheapest_decision_is_that_of_the_row(money: dict[str, ModuleType]) -> None:
    p = np.array([[0.8, 0.2], [0.8, 0.2]])
    # 0.2 · 5 = 1.0 > 0.8 · 1; 0.2 · 3 = 0.6 < 0.8.
    costs = np.array([[[0.0, 1.0], [5.0, 0.0]], [[0.0, 1.0], [3.0, 0.0]]])
    assert money["rules"].cheapest(p, costs).tolist() == [1, 0]
    # Of three decisions the one between, though no row is likeliest of its class.
    three = np.array([[[0.0, 1.0, 9.0], [2.0, 0.0, 2.0], [9.0, 1.0, 0.0]]])
    assert money["rules"].cheapest(np.array([[0.45, 0.1, 0.45]]), three).tolist() == [1]


def test_the_cheapest_constant_counts_all_rows(money: dict[str, ModuleType]) -> None:
    costs = np.array([[[0.0, 1.0], [5.0, 0.0]]] * 7)
    constant = money["rules"].cheapest_constant
    assert constant(costs, np.array([0, 0, 0, 0, 0, 0, 1])) == 0  # 5 against 6
    assert constant(costs, np.array([0, 0, 0, 0, 0, 1, 1])) == 1  # 10 against 5


def test_class_weights_are_mean_regrets(money: dict[str, ModuleType]) -> None:
    # Regrets of class 1: 10 - 2 = 8 and 6 - 2 = 4, mean 6; of class 0: 1 - 0 = 1.
    costs = np.array([[[0.0, 1.0], [10.0, 2.0]], [[0.0, 1.0], [6.0, 2.0]], [[0.0, 1.0], [0.0, 2.0]]])
    weights = money["rules"].class_weights(costs, np.array([1, 1, 0]))
    assert weights == pytest.approx(np.array([6.0, 6.0, 1.0]) * 3 / 13)


def test_calibration_spreads_and_draws_together(money: dict[str, ModuleType]) -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(size=4000) * 2
    y = (rng.random(4000) < 1 / (1 + np.exp(-odds))).astype(np.intp)
    # Three times too sure: the slope that is found is a third.
    sure = 1 / (1 + np.exp(-3 * odds))
    p = money["rules"].calibrated(np.column_stack([1 - sure, sure]), y, np.array([[0.5, 0.5], [0.05, 0.95]]))
    assert p[0, 1] == pytest.approx(0.5, abs=0.05)
    assert math.log(p[1, 1] / p[1, 0]) == pytest.approx(math.log(19) / 3, rel=0.15)


# --- statistics -------------------------------------------------------------------------------------------


def test_a_figure_is_no_draw_and_its_interval_is_that_of_a_mean(money: dict[str, ModuleType]) -> None:
    values = np.random.default_rng(1).exponential(size=(400, 1)) * np.array([[1.0, 2.0]])
    totals = money["statistics"].resampled(values, seed=0)
    assert totals.shape == (1001, 2)
    assert totals[0] == pytest.approx(values.sum(axis=0))
    estimate = money["statistics"].summary(totals[:, 0] / 400)
    half = 1.96 * values[:, 0].std() / 20
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half, rel=0.1)
    # The same rows are drawn for both: what is exactly twice as dear stays so.
    ratio = money["statistics"].summary(totals[:, 1] / totals[:, 0])
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 2.0, 2.0))


def test_sets_count_alike_however_many_cases_they_have(money: dict[str, ModuleType]) -> None:
    one = np.ones(3)
    mean = money["statistics"].geometric_mean({"few": [4 * one], "many": [1 * one, 1 * one, 1 * one]})
    assert mean == pytest.approx(2 * one)


def test_ranks_are_those_worked_by_hand(money: dict[str, ModuleType]) -> None:
    costs = {
        "one": [{"a": 1.0, "b": 2.0, "c": 3.0}],  # 1 2 3
        "two": [
            {"a": 1.0, "b": 2.0, "c": 2.0},
            {"a": 5.0, "b": 1.0, "c": 9.0},
        ],  # (1+2)/2 (2.5+1)/2 (2.5+3)/2
    }
    ranks = money["statistics"].mean_ranks(costs)
    assert ranks.mean == pytest.approx({"a": 1.25, "b": 1.875, "c": 2.875})
    assert ranks.n_sets == 2
    # Demšar 2006, table 5: q of three at 5 % is 2.343.
    assert ranks.critical == pytest.approx(2.343 * math.sqrt(3 * 4 / (6 * 2)), rel=1e-3)


# --- sets and runs ----------------------------------------------------------------------------------------


def test_halves_share_nothing_and_leave_nothing_out(money: dict[str, ModuleType]) -> None:
    sets = money["sets"]
    assert set(sets.CHOOSING).isdisjoint(sets.CONFIRMING)
    assert {*sets.CHOOSING, *sets.CONFIRMING} == set(sets.SETS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sets: one of constant costs, one whose rows have their own."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    notes = {}
    for name, costs in (("ecoli4", False), ("heart_statlog", True)):
        x = rng.normal(size=80)
        y = (x + 0.5 * rng.normal(size=80) > 0.7).astype(int)
        header = ["x", "kind", *(["cost_fn", "cost_fp", "cost_tp", "cost_tn"] if costs else []), "label"]
        rows = [
            [f"{a:.3f}", "uv"[int(b)], *([f"{5 + abs(a):.1f}", "1", "0", "0"] if costs else []), str(b)]
            for a, b in zip(x, y, strict=True)
        ]
        with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        notes[name] = {"numeric": ["x"], "categorical": ["kind"], "cost_columns": header[2:-1]}
    (folder / "datasets.json").write_text(json.dumps(notes))
    return folder


def test_folds_learn_categories_of_their_own_rows(money: dict[str, ModuleType], folder: Path) -> None:
    made = money["sets"].read_set(folder, "heart_statlog", 1000)
    folds = list(made.folds(3))
    assert sorted(np.concatenate([fold.test_rows for fold in folds]).tolist()) == list(range(80))
    assert all(fold.categories == ["kind"] for fold in folds)
    assert folds[0].costs_test["own"].shape == (len(folds[0].y_test), 2, 2)
    ratio = money["sets"].read_set(folder, "ecoli4", 1000)
    positives = int(ratio.y.sum())
    assert ratio.costs["5 × ratio"][0, 1, 0] == pytest.approx(5 * (80 - positives) / positives)
    assert len(money["sets"].read_set(folder, "ecoli4", 50).y) == 50


def test_a_run_is_resumed_and_writes_its_page(
    money: dict[str, ModuleType],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COSTBOOST_DATA", str(folder))
    main = money["__main__"].main
    command = ["--sets", "ecoli4", "heart_statlog", "avila", "--seeds", "1", "--jobs", "1"]
    command += [
        "--only",
        "constant",
        "csb",
        "logistic regression",
        "--out",
        str(tmp_path),
        "--page",
        str(tmp_path),
    ]
    assert main([*command, "--hours", "0"]) == 1
    assert "30 folds missing" in capsys.readouterr().out
    assert main(command) == 0
    capsys.readouterr()
    assert main(command) == 0
    assert "0 folds to do, 30 kept" in capsys.readouterr().out
    page = (tmp_path / "money.md").read_text(encoding="utf-8")
    assert "Not in the data folder: avila." in page
    assert "- LightGBM: nothing" in page
    assert "| heart_statlog |" in page


def test_a_line_cut_off_in_the_middle_is_done_again(money: dict[str, ModuleType], tmp_path: Path) -> None:
    (tmp_path / "folds.jsonl").write_text('{"key": "whole", "cost": {}}\n{"key": "half", "co')
    assert list(money["store"].Store(tmp_path).lines) == ["whole"]
