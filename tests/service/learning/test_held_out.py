"""The test part is kept whole, and bytes that are none are refused."""

import json

import numpy as np
import pytest
import safetensors.numpy

from service.domain.errors import ConflictError, InvalidError
from service.domain.reports import Report
from service.learning import (
    Circumstances,
    case_of_test_part,
    fit,
    load,
    load_report,
    load_test_part,
    prices_of_test_part,
    simulate,
    total_cost,
)

AMOUNTS = {"fn": {"per": {"amount": 1.0}}, "fp": {"per": {"price": 1.0}}}
MATRIX = {"classes": ["c", "a", "b"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}


@pytest.fixture
def trained(table, spec, spelled, columns_of):
    def train(costs, classes=("legit", "fraud")):
        dataset, typed = table(columns_of(300, classes=classes))
        return dataset, typed, fit(spec(costs), dataset, typed, spelled(costs))

    return train


def test_it_holds_what_the_metrics_are_made_of(trained):
    dataset, typed, found = trained(AMOUNTS)
    part = load_test_part(found.test_part)
    assert part.classes == dataset.classes
    assert [dataset.classes[code] for code in part.codes] == typed["label"][part.rows].tolist()
    assert np.array_equal(part.weight, typed["w"][part.rows])
    own = part.costs[np.arange(len(part.codes)), part.codes, part.decision]
    assert (own * part.weight).sum() == pytest.approx(found.metrics["total_cost"])
    assert total_cost(part) == pytest.approx(found.metrics["total_cost"], rel=1e-12)
    assert part.probabilities.sum(axis=1) == pytest.approx(1.0)


def test_three_classes(trained):
    part = load_test_part(trained(MATRIX, ("a", "b", "c"))[2].test_part)
    assert (part.positive, part.costs.shape, part.score.shape[1]) == (None, (3, 3), 3)


def test_a_report_says_which_columns_matter(trained):
    dataset, _, found = trained(AMOUNTS)
    report = load_report(found.report)
    features = {column.name for column in dataset.columns_of("feature")}
    assert {one["feature"] for one in report["importance"]} == features
    assert {one["feature"] for one in report["shapes"]} == features


@pytest.mark.parametrize("name", ["costs", "decision", "score", "rows"])
def test_a_part_of_other_shapes_is_refused(trained, name):
    data = trained(AMOUNTS)[2].test_part
    arrays = safetensors.numpy.load(data)
    arrays[name] = arrays[name][:-1]
    with pytest.raises(ConflictError):
        load_test_part(safetensors.numpy.save(arrays, {"costboost.test_part": _metadata(data)}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("probabilities", 1.5),
        ("probabilities", -0.5),
        ("probabilities", 0.0),
        ("weight", -1.0),
        ("weight", 1e13),
        ("weight", np.nan),
        ("rows", -1),
        ("costs", 1e101),
    ],
)
def test_numbers_that_mean_nothing_are_refused(trained, name, value):
    data = trained(AMOUNTS)[2].test_part
    arrays = {key: array.copy() for key, array in safetensors.numpy.load(data).items()}
    arrays[name][0] = value
    with pytest.raises(ConflictError):
        load_test_part(safetensors.numpy.save(arrays, {"costboost.test_part": _metadata(data)}))


def test_priors_that_leave_a_row_no_class_are_refused(trained):
    _, _, found = trained(AMOUNTS)
    part, predictor = load_test_part(found.test_part), load(found.artifact)
    part.probabilities[:] = [1.0, 0.0]
    given = Circumstances(
        spec=predictor.costs,
        prices=prices_of_test_part(part, predictor.costs),
        old_priors=predictor.priors,
        priors=(0.0, 1.0),
        capacity=None,
        periods=None,
    )
    with pytest.raises(InvalidError) as refused:
        simulate(case_of_test_part(part), given)
    assert refused.value.errors[0].pointer == "/priors"


def _metadata(data):
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size])["__metadata__"]["costboost.test_part"]


def test_other_bytes_are_refused(trained):
    data = trained(AMOUNTS)[2].test_part
    for wrong in (b"", data[:-8], data[:40], b"\xff" * 64, data[8:], b"{}", b"[]", b"[" * 100_000):
        for read in (load_test_part, load_report):
            with pytest.raises(ConflictError) as refused:
                read(wrong)
            assert refused.value.code == "artifact_corrupt"


@pytest.mark.parametrize(
    ("costs", "classes", "more"),
    [
        (AMOUNTS, ("legit", "fraud"), {}),
        (MATRIX, ("a", "b", "c"), {"params": {"n_estimators": 3, "estimator": "tree"}}),
        (AMOUNTS, ("legit", "fraud"), {"params": {}, "search": {"params": {"n_estimators": [2, 4]}}}),
    ],
)
def test_a_report_is_what_an_import_takes(table, spec, spelled, columns_of, costs, classes, more):
    dataset, typed = table(columns_of(300, classes=classes))
    found = fit(spec(costs, **more), dataset, typed, spelled(costs))
    Report.model_validate_json(found.report)
