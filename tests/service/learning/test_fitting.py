"""A whole training: what it leaves, what does not matter to it, and what does."""

import json

import numpy as np
import pytest

from service.domain.errors import InvalidError
from service.learning import fit, load
from service.rows import decode_rows

AMOUNTS = {"fn": {"per": {"amount": 1.0}}, "fp": {"per": {"price": 1.0}}, "tp": 7}
MATRIX = {"classes": ["c", "a", "b"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
NAMES = [
    "expected_cost",
    "total_cost",
    "savings",
    "savings_ci95",
    "g_mean",
    "roc_auc",
    "pr_auc",
    "brier",
    "log_loss",
    "recall",
    "precision",
    "specificity",
    "f1",
    "confusion",
    "confusion_columns",
    "average_margin",
    "base_rate",
]


@pytest.fixture
def train(table, spec, spelled):
    def train(columns=None, costs=None, options=None, progress=None, **more):
        dataset, typed = table(columns, **(options or {}))
        job = spec(costs, **more)
        return fit(job, dataset, typed, spelled(costs or {"fn": 50, "fp": 5}), progress)

    return train


def probabilities(trained, columns):
    predictor = load(trained.artifact)
    given = {column.name: columns[column.name] for column in predictor.inputs()}
    answers = predictor.predict(given, len(columns["amount"]))
    return answers, dict(zip(answers.classes, answers.probabilities.T, strict=True))


def test_what_a_training_leaves(train, columns_of):
    told = []
    trained = train(costs=AMOUNTS, progress=lambda *where: told.append(where))
    json.dumps([trained.metrics, trained.schema, trained.library_versions], allow_nan=False)
    for part in (trained.metrics, trained.metrics["out_of_fold"]):
        assert set(NAMES) <= set(part)
        assert part["savings"] > 0
    assert trained.metrics["rows"] + trained.metrics["out_of_fold"]["rows"] == 400
    assert trained.metrics["rows"] == pytest.approx(80, abs=2)
    assert trained.metrics["unreasonable_rows"] > 0
    assert set(trained.library_versions) >= {"costboost", "numpy", "scikit-learn"}
    assert trained.training_seconds > 0
    fractions = [step[3] for step in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] <= 1


def test_the_schema_says_what_a_row_is(train):
    schema = train(costs=AMOUNTS).schema
    columns = {column["name"]: column for column in schema["columns"]}
    assert {name: (column["type"], column["role"]) for name, column in columns.items()} == {
        "amount": ("number", "feature"),
        "hour": ("number", "feature"),
        "city": ("category", "feature"),
        "when": ("timestamp", "feature"),
        "new": ("boolean", "feature"),
        "price": ("number", "cost"),
    }
    assert sorted(columns["city"]["categories"]) == ["at", "ch", "de", "fr"]
    assert schema["cost_columns"] == ["amount", "price"]
    assert (columns["amount"]["nullable"], columns["hour"]["nullable"]) == (False, True)
    assert (schema["classes"], schema["positive_class"]) == (["fraud", "legit"], "fraud")


def test_the_example_row_can_be_predicted(train):
    trained = train(costs=AMOUNTS)
    predictor = load(trained.artifact)
    decoded = decode_rows([trained.schema["example"]], predictor.inputs())
    assert (decoded.errors, decoded.extra) == ((), ())
    assert predictor.predict(decoded.columns, 1).source == "expected_cost"


def test_the_same_again_is_the_same_bytes(train):
    assert train().artifact == train().artifact
    assert train().artifact != train(seed=1).artifact


def test_costs_weights_and_groups_are_no_features(train, columns_of):
    trained = train()
    columns = columns_of(50, seed=3)
    assert {column.name for column in load(trained.artifact).inputs()} == {
        "amount",
        "hour",
        "city",
        "when",
        "new",
    }
    for name in ("price", "w", "shop", "label"):
        columns.pop(name)
    probabilities(trained, columns)


def test_weights_enter_the_fit(train):
    assert train().artifact != train(options={"roles": {"price": "cost", "w": "ignore"}}).artifact


@pytest.mark.parametrize("costs", [{"fn": 50, "fp": 5}, AMOUNTS])
def test_order_of_rows_and_columns_and_names_of_classes_do_not_matter(train, columns_of, costs):
    columns, fresh = columns_of(400), columns_of(60, seed=9)
    answers, first = probabilities(train(columns, costs), fresh)
    order = np.random.default_rng(5).permutation(400)
    shuffled = {name: columns[name][order] for name in reversed(columns)}
    shuffled["label"] = np.array(
        [{"legit": "zebra", "fraud": "ant"}[text] for text in shuffled["label"]], dtype=object
    )
    again, second = probabilities(train(shuffled, costs), fresh)
    assert np.array_equal(first["fraud"], second["ant"])
    meaning = {"zebra": "legit", "ant": "fraud"}
    assert [answers.actions[a] for a in answers.decision] == [
        meaning[again.actions[a]] for a in again.decision
    ]


def test_costs_in_another_currency_change_no_decision(train, columns_of):
    fresh = columns_of(60, seed=9)
    euros, _ = probabilities(train(costs={"fn": 50, "fp": 5}), fresh)
    cents, _ = probabilities(train(costs={"fn": 50_000, "fp": 5_000}), fresh)
    assert np.array_equal(euros.probabilities, cents.probabilities)
    assert np.array_equal(euros.decision, cents.decision)


def test_three_classes(train, columns_of):
    trained = train(columns_of(600, classes=("a", "b", "c")), MATRIX)
    assert (
        trained.metrics["expected_cost"] <= trained.metrics["baseline_cost"] / trained.metrics["rows"] * 1.5
    )
    answers, by_class = probabilities(trained, columns_of(20, seed=2))
    assert set(by_class) == {"a", "b", "c"}
    assert trained.metrics["confusion_columns"] == list(answers.actions) == ["c", "a", "b"]
    assert np.allclose(answers.probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "estimator",
    ["tree", "svm", {"name": "svm", "kernel": "rbf", "exact_rows": 50, "nystroem_components": 20}],
)
@pytest.mark.parametrize("costs", [{"fn": 50, "fp": 5}, MATRIX])
def test_other_weak_learners(train, columns_of, estimator, costs):
    classes = ("a", "b", "c") if costs is MATRIX else ("legit", "fraud")
    trained = train(
        columns_of(400, classes=classes), costs, params={"n_estimators": 5, "estimator": estimator}
    )
    assert trained.metrics["roc_auc" if costs is not MATRIX else "expected_cost"] is not None
    _, by_class = probabilities(trained, columns_of(20, seed=2))
    assert set(by_class) == set(classes)
    _, again = probabilities(trained, {name: values[:1] for name, values in columns_of(20, seed=2).items()})
    assert all(again[name][0] == by_class[name][0] for name in classes)


@pytest.mark.parametrize("rule", ["empirical", "sign"])
def test_other_decision_rules(train, columns_of, rule):
    trained = train(decision_rule=rule)
    assert probabilities(trained, columns_of(20, seed=2))[0].source == rule
    assert trained.metrics["out_of_fold"]["savings"] is not None


def test_a_least_recall_has_its_price(train):
    free = train(decision_rule="empirical").metrics["out_of_fold"]
    bound = train(decision_rule="empirical", min_recall=0.99).metrics["out_of_fold"]
    assert free["threshold"]["extra_cost"] == 0
    assert bound["threshold"]["recall"] >= 0.99 > free["threshold"]["recall"]
    assert bound["threshold"]["extra_cost"] > 0
    assert bound["recall"] >= 0.99
    price = bound["threshold"]["cost"] - free["threshold"]["cost"]
    assert bound["threshold"]["extra_cost"] == pytest.approx(price)


def test_a_threshold_beyond_all_scores_is_null(train):
    found = train(decision_rule="empirical", min_recall=1.0, costs={"fn": 1e-6, "fp": 1e6}).metrics
    assert found["out_of_fold"]["threshold"]["recall"] == 1.0
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("aim", ["g_mean", "f1"])
def test_a_threshold_may_aim_at_something_else(train, aim):
    found = train(decision_rule="empirical", threshold_aim=aim).metrics["out_of_fold"]
    best = train(decision_rule="empirical").metrics["out_of_fold"]
    assert found[aim] >= best[aim]
    assert found["threshold"]["extra_cost"] >= 0


@pytest.mark.parametrize(
    "split",
    [
        {"kind": "group", "column": "shop"},
        {"kind": "time", "column": "when"},
        {"kind": "stratified", "test_fraction": 0.5, "folds": 3},
    ],
)
def test_splits(train, split):
    trained = train(split=split)
    share = split.get("test_fraction", 0.2)
    assert trained.metrics["rows"] / 400 == pytest.approx(share, abs=0.06)


def test_a_predefined_split(train, columns_of):
    columns = columns_of(400)
    columns["part"] = np.array(["test" if i % 4 == 0 else "train" for i in range(400)], dtype=object)
    roles = {"price": "cost", "part": "ignore", "w": "weight", "shop": "ignore"}
    options = {"roles": roles, "types": {"part": "category"}}
    trained = train(columns, options=options, split={"kind": "predefined", "column": "part"})
    assert trained.metrics["rows"] == 100


def test_data_that_cannot_be_split_is_invalid(train, columns_of):
    columns = columns_of(40)
    columns["shop"][:] = "the only one"
    with pytest.raises(InvalidError) as refused:
        train(columns, split={"kind": "group", "column": "shop"})
    assert refused.value.code == "invalid_data"
