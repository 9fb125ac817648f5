"""What would make a job fail is told before it is queued, with a pointer."""

import pytest

from service.learning import check

MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}


@pytest.fixture
def faults(table, spec, spelled):
    def faults(costs=None, options=None, **more):
        dataset, _ = table(**(options or {}))
        job = spec(costs, **more)
        found = check(job, dataset, spelled(costs or {"fn": 50, "fp": 5}))
        return [(fault.pointer, fault.code) for fault in found]

    return faults


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"algorithm": "CS-AdaBoost"},
        {"params": {"estimator": "svm"}},
        {"params": {"estimator": {"name": "tree", "max_depth": 3}}},
        {"costs": {"fn": {"per": {"amount": 1}}, "fp": {"per": {"price": 1}}}},
        {"split": {"kind": "group", "column": "shop"}},
        {"split": {"kind": "time", "column": "when"}},
    ],
)
def test_nothing_wrong(faults, more):
    assert faults(**more) == []


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"algorithm": "deep-thought"}, ("/algorithm", "unknown_algorithm")),
        ({"params": {"n_estimators": 0}}, ("/params/n_estimators", "invalid_param")),
        ({"params": {"n_estimators": "many"}}, ("/params/n_estimators", "invalid_param")),
        ({"params": {"n_estimators": True}}, ("/params/n_estimators", "invalid_param")),
        ({"params": {"n_estimators": 10**9}}, ("/params/n_estimators", "invalid_param")),
        ({"params": {"n_estimators": 10**400}}, ("/params/n_estimators", "invalid_param")),
        (
            {"params": {"estimator": {"name": "svm", "nystroem_components": 10**6}}},
            ("/params/estimator/nystroem_components", "invalid_param"),
        ),
        ({"params": {"no/such": 1}}, ("/params/no~1such", "invalid_param")),
        ({"params": {"estimator": "forest"}}, ("/params/estimator", "invalid_param")),
        ({"params": {"estimator": {"name": "forest"}}}, ("/params/estimator/name", "invalid_param")),
        (
            {"params": {"estimator": {"name": "tree", "max_depth": 0}}},
            ("/params/estimator/max_depth", "invalid_param"),
        ),
        ({"costs": {"fn": 1, "fp": 0}}, ("/costs/fp", "unreasonable_costs")),
        ({"costs": MATRIX}, ("/costs/classes", "classes_mismatch")),
        ({"costs": {"fn": {"per": {"nosuch": 1}}, "fp": 1}}, ("/costs/fn/per/nosuch", "unknown_column")),
        ({"costs": {"fn": {"per": {"city": 1}}, "fp": 1}}, ("/costs/fn/per/city", "wrong_type")),
        ({"costs": {"fn": {"per": {"hour": 1}}, "fp": 1}}, ("/costs/fn/per/hour", "missing_value")),
        ({"costs": {"fn": {"per": {"label": 1}}, "fp": 1}}, ("/costs/fn/per/label", "wrong_role")),
        ({"split": {"kind": "group", "column": "nosuch"}}, ("/split/column", "unknown_column")),
        ({"split": {"column": "city"}}, ("/split/column", "exclusive")),
        ({"split": {"kind": "time", "column": "city"}}, ("/split/column", "wrong_type")),
        ({"split": {"kind": "time", "column": "hour"}}, ("/split/column", "missing_value")),
        ({"split": {"kind": "group", "column": "label"}}, ("/split/column", "wrong_role")),
        ({"min_recall": 0.9}, ("/min_recall", "exclusive")),
        ({"threshold_aim": "f1", "decision_rule": "sign"}, ("/threshold_aim", "exclusive")),
    ],
)
def test_told(faults, more, fault):
    assert fault in faults(**more)


def test_faults_of_a_stored_cost_spec_point_to_its_name(table, spec, spelled):
    dataset, _ = table()
    job = spec().model_copy(update={"costs": None, "cost_spec": "cs_1"})
    found = check(job, dataset, spelled({"fn": {"per": {"nosuch": 1}}, "fp": 1}))
    assert [(fault.pointer, fault.code) for fault in found] == [("/cost_spec", "unknown_column")]


def test_a_class_of_two_rows_is_too_small(table, spec, spelled, columns_of):
    columns = columns_of(50)
    columns["label"][:] = "legit"
    columns["label"][:2] = "fraud"
    dataset, _ = table(columns)
    found = check(spec(), dataset, spelled({"fn": 2, "fp": 1}))
    assert [(fault.pointer, fault.code) for fault in found] == [("/dataset", "too_few_rows")]


def test_an_empirical_threshold_is_for_two_classes(table, spec, spelled, columns_of):
    dataset, _ = table(columns_of(300, classes=("a", "b", "c")))
    found = check(spec(MATRIX, decision_rule="empirical"), dataset, spelled(MATRIX))
    assert [(fault.pointer, fault.code) for fault in found] == [("/decision_rule", "not_binary")]
