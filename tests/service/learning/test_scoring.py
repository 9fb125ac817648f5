"""A loaded version: prices of the request, priors, thresholds, and what is refused."""

import numpy as np
import pytest

from service.domain.errors import ConflictError, InvalidError
from service.learning import fit, load

AMOUNTS = {"fn": {"per": {"amount": 1.0}}, "fp": {"per": {"price": 1.0}}, "tp": 7}
REVIEW = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", "decline", {"name": "review", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": 1000},
        {"true": "legit", "action": "decline", "cost": 1000},
    ],
    "review": {"fee": 1, "accuracy": {"fraud": 1.0, "legit": 1.0}},
}


@pytest.fixture
def predictor(table, spec, spelled):
    dataset, columns = table()
    return load(fit(spec(AMOUNTS), dataset, columns, spelled(AMOUNTS)).artifact)


@pytest.fixture
def rows(columns_of):
    return columns_of(200, seed=4)


def test_inputs_follow_the_costs_in_force(predictor, spelled):
    needs = {column.name: column.nullable for column in predictor.inputs()}
    assert needs == {"amount": False, "city": True, "hour": True, "new": True, "when": True, "price": False}
    constant = predictor.cost_spec(spelled({"fn": 5, "fp": 1}))
    assert {column.name for column in predictor.inputs(constant)} == set(needs) - {"price"}
    other = predictor.cost_spec(spelled({"fn": {"per": {"loss": 1}}, "fp": 1}))
    assert {column.name: column.nullable for column in predictor.inputs(other)}["loss"] is False


def test_request_costs_move_decisions_and_never_probabilities(predictor, spelled, rows):
    own = predictor.predict(rows, 200)
    careful = predictor.predict(rows, 200, predictor.cost_spec(spelled({"fn": 1000, "fp": 1})))
    careless = predictor.predict(rows, 200, predictor.cost_spec(spelled({"fn": 1, "fp": 1000})))
    assert np.array_equal(own.probabilities, careful.probabilities)
    assert np.array_equal(own.probabilities, careless.probabilities)
    flagged = own.classes.index("fraud")
    counts = [(answers.label == flagged).sum() for answers in (careless, own, careful)]
    assert counts[0] < counts[1] < counts[2]
    assert (own.repriced, careful.repriced) == (False, True)
    same = predictor.predict(rows, 200, predictor.cost_spec(spelled({"fn": 1000_000, "fp": 1000})))
    assert np.array_equal(same.decision, careful.decision)


def test_rows_whose_handling_costs_more_than_their_loss_have_no_threshold(predictor, rows):
    answers = predictor.predict(rows, 200)
    small = rows["amount"] <= 7
    assert small.any()
    assert np.isnan(answers.threshold[small]).all()
    assert (answers.label[small] == answers.classes.index("legit")).all()
    assert not np.isnan(answers.threshold[~small]).any()


def test_a_row_alone_is_the_row_of_the_batch(predictor, rows):
    batch = predictor.predict(rows, 200)
    for i in range(0, 200, 17):
        alone = predictor.predict({name: values[i : i + 1] for name, values in rows.items()}, 1)
        for name in ("probabilities", "score", "log_odds", "decision", "expected_cost", "threshold"):
            assert getattr(alone, name)[0].tobytes() == getattr(batch, name)[i].tobytes()


def test_a_review_serves_no_class(predictor, spelled, rows):
    answers = predictor.predict(rows, 200, predictor.cost_spec(spelled(REVIEW)))
    assert answers.actions == ("approve", "decline", "review")
    reviewed = answers.decision == 2
    assert reviewed.any()
    assert (answers.label[reviewed] == -1).all()


def test_a_threshold_overrides_costs(predictor, rows):
    answers = predictor.predict(rows, 200, threshold=0.25)
    flagged = answers.classes.index("fraud")
    assert np.array_equal(answers.label == flagged, answers.probabilities[:, flagged] > 0.25)
    assert answers.source == "threshold"


def test_priors_of_one_class_leave_the_rest_to_the_other(predictor, rows):
    flagged = predictor.classes.index("fraud")
    usual = predictor.predict(rows, 200).probabilities[:, flagged]
    rarer = predictor.predict(rows, 200, priors={"fraud": 0.004}).probabilities[:, flagged]
    both = predictor.predict(rows, 200, priors={"fraud": 0.004, "legit": 0.996}).probabilities[:, flagged]
    assert (rarer < usual).all()
    assert np.allclose(rarer, both, rtol=1e-12)


@pytest.mark.parametrize(
    ("priors", "pointer"),
    [
        ({"nosuch": 0.5}, "/priors/nosuch"),
        ({"fraud": -0.1}, "/priors/fraud"),
        ({"fraud": float("nan")}, "/priors/fraud"),
        ({"fraud": 0.5, "legit": 0.6}, "/priors"),
        ({"fraud": 0.5, "legit": 0.1}, "/priors"),
    ],
)
def test_priors_refused(predictor, rows, priors, pointer):
    with pytest.raises(InvalidError) as refused:
        predictor.predict(rows, 200, priors=priors)
    assert [fault.pointer for fault in refused.value.errors] == [pointer]


def test_priors_that_leave_a_row_no_class(predictor, rows, monkeypatch):
    """What is nearly certain of several classes can be weighed down to nothing."""
    monkeypatch.setattr(
        type(predictor._scorer.calibrator), "probabilities", lambda _, raw: np.tile([1.0, 0.0], (len(raw), 1))
    )
    assert len(predictor.predict(rows, 200).label) == 200
    for share in (0.0, 1.0):
        try:
            found = predictor.predict(rows, 200, priors={"fraud": share})
        except InvalidError as error:
            refused = error
        else:
            assert np.isfinite(found.probabilities).all()
    assert [(refused.code, fault.pointer) for fault in refused.errors] == [("invalid_priors", "/priors")]


def test_costs_of_a_row_must_be_finite(predictor, rows):
    rows["price"] = rows["price"].copy()
    rows["price"][3] = 1e200
    with pytest.raises(InvalidError) as refused:
        predictor.predict(rows, 200)
    assert [fault.pointer for fault in refused.value.errors] == ["/rows/3"]


@pytest.mark.parametrize(
    ("costs", "code", "pointer"),
    [
        ({"fn": {"per": {"city": 1}}, "fp": 1}, "wrong_type", "/costs/fn/per/city"),
        ({"fn": 1, "fp": 0}, "unreasonable_costs", "/costs/fp"),
        (
            REVIEW
            | {"classes": ["legit", "other"], "costs": [], "review": None, "actions": ["legit", "other"]},
            "classes_mismatch",
            "/costs/classes",
        ),
    ],
)
def test_request_costs_refused(predictor, spelled, costs, code, pointer):
    with pytest.raises(InvalidError) as refused:
        predictor.cost_spec(spelled(costs))
    assert (refused.value.code, refused.value.errors[0].pointer) == (code, pointer)


def test_unknown_categories_are_named(predictor, rows):
    rows["city"] = rows["city"].copy()
    rows["city"][5] = "atlantis"
    unknown = predictor.predict(rows, 200).unknown
    assert list(unknown) == ["city"]
    assert np.flatnonzero(unknown["city"]).tolist() == [5]


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80\x04K\x01.", b"\xff" * 100])
def test_other_bytes_are_corrupt(data):
    with pytest.raises(ConflictError) as refused:
        load(data)
    assert refused.value.code == "artifact_corrupt"


def test_another_price_of_a_review(table, spec, spelled, rows):
    dataset, columns = table()
    reviewing = load(fit(spec(REVIEW), dataset, columns, spelled(REVIEW)).artifact)
    as_trained = reviewing.predict(rows, 200)
    assert (as_trained.label < 0).any()
    dear = reviewing.predict(rows, 200, reviewing.reviewed_at(1e6))
    assert not (dear.label < 0).any()
    assert np.array_equal(dear.probabilities, as_trained.probabilities)
    assert reviewing.reviewed_at(None) is None
    assert reviewing.reviewed_at(0.0) is None


@pytest.mark.parametrize("rule", ["sign", "expected_cost"])
def test_where_nothing_is_reviewed_its_price_is_no_matter(table, spec, spelled, rule):
    dataset, columns = table()
    costs = REVIEW if rule == "sign" else AMOUNTS
    trained = fit(spec(costs, decision_rule=rule), dataset, columns, spelled(costs))
    assert load(trained.artifact).reviewed_at(5.0) is None
