"""What cannot be divided is told before the job is queued; what is told to be possible is."""

import json

import numpy as np
import pytest

from service.learning import check, division_columns, fit, rehearse

MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
ROLES = {"price": "cost", "shop": "group"}


@pytest.fixture
def rehearsed(table, spec):
    """Rehearse a job; gives the division, and the faults as (pointer, code)."""

    def rehearsed(columns=None, roles=None, **more):
        dataset, typed = table(columns, roles=roles or ROLES)
        job = spec(**more)
        needed = {column.name: typed[column.name] for column in division_columns(job, dataset)}
        division, faults = rehearse(job, dataset, needed)
        return division, [(fault.pointer, fault.code) for fault in faults]

    return rehearsed


def parts(columns_of, names, rows=60):
    return columns_of(rows) | {"part": np.array([names[i % len(names)] for i in range(rows)], dtype=object)}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"split": {"kind": "group", "column": "shop"}},
        {"split": {"kind": "time", "column": "when"}},
        {"split": {"test_fraction": 0.5, "folds": 3}, "params": {"early_stopping": 5, "n_estimators": 8}},
        {"roles": ROLES | {"w": "weight"}},
    ],
)
def test_it_comes_as_it_was_rehearsed(rehearsed, table, spec, spelled, more):
    division, faults = rehearsed(**more)
    assert faults == []
    dataset, typed = table(roles=more.pop("roles", ROLES))
    trained = fit(spec(**more), dataset, typed, spelled({"fn": 50, "fp": 5}))
    assert division.train_rows + division.test_rows == dataset.rows
    assert division.test_rows == trained.metrics["rows"]
    assert division.folds == more.get("split", {}).get("folds", 5)


def test_a_plain_split_reads_nothing(table, spec):
    dataset, _ = table(roles=ROLES)
    assert division_columns(spec(), dataset) == []
    by = division_columns(spec(split={"kind": "time", "column": "when"}), dataset)
    assert [column.name for column in by] == ["when", "label"]


def test_three_classes(rehearsed, columns_of):
    division, faults = rehearsed(columns_of(300, classes=("a", "b", "c")), costs=MATRIX)
    assert (division.train_rows + division.test_rows, faults) == (300, [])


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("train", "test"), []),
        (("0", "1", "2"), []),
        (("train", "other"), [("/split/column", "cannot_split")]),
        (("train", "train"), [("/split/column", "cannot_split")]),
        (("0", "test"), [("/split/column", "cannot_split")]),
    ],
)
def test_a_predefined_column(rehearsed, columns_of, names, told):
    columns = parts(columns_of, names)
    found = rehearsed(columns, {"part": "ignore"}, split={"kind": "predefined", "column": "part"})
    assert found[1] == told


@pytest.mark.parametrize("fraction", [0.999, 1e-9])
def test_a_test_part_that_leaves_too_little(rehearsed, fraction):
    division, faults = rehearsed(split={"test_fraction": fraction})
    if fraction > 0.5:
        assert (division, faults) == (None, [("/split/test_fraction", "cannot_split")])
    else:  # one row of each class is enough to test on
        assert (division.test_rows, faults) == (2, [])


def test_too_few_groups(rehearsed, columns_of):
    columns = columns_of(60) | {"shop": np.array(["one"] * 60, dtype=object)}
    assert rehearsed(columns, split={"kind": "group"})[1] == [("/split/column", "cannot_split")]


def test_fewer_folds_than_asked_for(rehearsed, columns_of):
    columns = columns_of(60) | {"shop": np.array(list("abcd") * 15, dtype=object)}
    division, faults = rehearsed(columns, split={"kind": "group"})
    assert faults == []
    assert 2 <= division.folds < 5


@pytest.mark.parametrize("kind", ["time", "predefined"])
def test_a_class_that_nothing_is_calibrated_on(rehearsed, columns_of, kind):
    columns = columns_of(60)
    columns["label"] = np.array(["fraud"] * 10 + ["legit"] * 50, dtype=object)
    columns["part"] = np.array(
        ["test"] * 3 + ["train"] * 7 + ["0", "1", "test"] * 16 + ["0", "1"], dtype=object
    )
    column = {"time": "when", "predefined": "part"}[kind]
    found = rehearsed(columns, {"part": "ignore"}, split={"kind": kind, "column": column})
    assert found[1] == [("/split/column", "cannot_split")]


def test_a_class_without_weight(rehearsed, columns_of):
    columns = columns_of(60)
    columns["w"] = np.where(columns["label"] == "fraud", 0.0, 1.0)
    assert rehearsed(columns, {"w": "weight"})[1] == [("/dataset", "no_weight")]


@pytest.mark.parametrize(("scale", "told"), [(1e-12, []), (4e11, []), (1e300, None), (1e-300, None)])
def test_weights_whose_sums_are_no_numbers(rehearsed, columns_of, scale, told):
    columns = columns_of(60)
    columns["w"] = columns["w"] * scale
    columns["w"][:5] = 0.0
    expected = [("/dataset", "weight_out_of_range")] if told is None else told
    assert rehearsed(columns, {"w": "weight"})[1] == expected


@pytest.mark.parametrize("scale", [1e-12, 4e11])
@pytest.mark.parametrize("costs", [{"fn": 1e15, "fp": 1e15}, {"fn": 1e-12, "fp": 1e-15}])
def test_the_widest_weights_and_costs_give_numbers(table, spec, spelled, columns_of, scale, costs):
    columns = columns_of(100)
    columns["w"] = columns["w"] * scale
    dataset, typed = table(columns)
    trained = fit(spec(costs), dataset, typed, spelled(costs))
    json.dumps(trained.metrics, allow_nan=False)


def test_early_stopping_needs_rows_to_set_aside(rehearsed, columns_of):
    columns = columns_of(60)
    columns["label"] = np.array(["fraud"] * 3 + ["legit"] * 57, dtype=object)
    assert rehearsed(columns)[1] == []
    found = rehearsed(columns, params={"n_estimators": 5, "early_stopping": 2})
    assert found[1] == [("/params/early_stopping", "cannot_split")]


@pytest.mark.parametrize("response", ["proba", "decision"])
def test_a_response_that_the_weak_learner_has_not(table, spec, spelled, response):
    dataset, _ = table()
    job = spec(algorithm="adacost", params={"response": response})
    found = check(job, dataset, spelled({"fn": 50, "fp": 5}))
    assert [(fault.pointer, fault.code) for fault in found] == [("/params/response", "invalid_param")]
