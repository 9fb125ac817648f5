"""A row decided in plain Python equals the row decided by arrays, to the bit."""

from dataclasses import replace

import numpy as np
import pytest

from costboost.actions import Action, Review
from costboost.calibration.calibrator import Calibrator
from costboost.calibration.isotonic import IsotonicCalibrator
from costboost.calibration.sigmoid import SigmoidCalibrator
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import unreasonable_rows
from costboost.features import FeatureEncoder
from costboost.scorer import Scorer
from costboost.single_row import RowScorer
from costboost.terms import Terms

TYPES = {"amount": "number", "city": "category"}
TRAINED = {"amount": np.array([1.0, 2.0, 3.0]), "city": np.array(["a", "b", None], dtype=object)}
RNG = np.random.default_rng(5)
ROWS = {
    "amount": np.array([*RNG.normal(0, 3, 40), 0.0, -0.0, np.nan, 1e300, -1e300]),
    "city": np.array([[None, "a", "b", "elsewhere"][i % 4] for i in range(45)], dtype=object),
}
SIGMOID, STEEP = SigmoidCalibrator(1.3, -0.2), SigmoidCalibrator(1e4, 0.0)
STEPS = IsotonicCalibrator((-2.0, -0.5, 1.0), (0.1, 0.3, 0.9))
TWO, THREE = ("legit", "fraud"), ("a", "b", "c")
PLAIN = CostSpec.binary(9.0, 1.0, classes=TWO)
BY_AMOUNT = CostSpec.binary(CostCell(per={"amount": 1.0}, max=50.0), 2.0, classes=TWO)
REVIEWED = CostSpec.from_actions(
    TWO,
    (*TWO, Action("review", None)),
    {("fraud", "legit"): 9.0, ("legit", "fraud"): 9.0},
    review=Review(1.5, (1, 0.9)),
)


def _terms(n_features, n_outputs=1, stumps=12):
    return Terms.of_stumps(
        feature=np.arange(stumps, dtype=np.int32) % n_features,
        cut=np.arange(stumps) % 3 - 1.0,
        below=RNG.normal(0, 1, stumps),
        above=RNG.normal(0, 1, stumps),
        missing=RNG.normal(0, 1, stumps),
        output=(np.arange(stumps) % n_outputs).astype(np.int32),
        constant=RNG.normal(0, 1, n_outputs),
        n_features=n_features,
    )


class Wrapped:
    """An ensemble that scores arrays alone."""

    def __init__(self, terms):
        self.n_outputs, self.n_features, self.scale, self.score = (
            terms.n_outputs,
            terms.n_features,
            terms.scale,
            terms.score,
        )


def _scorer(costs=PLAIN, outputs=(SIGMOID,), *, coded=False, wrapped=False):
    encoder = FeatureEncoder(categories="codes" if coded else "cells").fit(TRAINED, TYPES)
    terms = _terms(encoder.n_features, len(outputs))
    calibrator = Calibrator("sigmoid", outputs, (0.5, 1.0, 2.0) if len(outputs) == 3 else ())
    k = len(costs.classes)
    codes = (2, 0, 1) if k == 3 else ((0, 1) if costs.positive == 1 else (1, 0))
    ensemble = Wrapped(terms) if wrapped else terms
    return Scorer(encoder, ensemble, calibrator, costs.classes, codes, (1 / k,) * k, costs, "expected_cost")


SCORERS = {
    "sigmoid": _scorer(),
    "isotonic": _scorer(outputs=(STEPS,)),
    "steep": _scorer(outputs=(STEEP,)),
    "codes": _scorer(coded=True),
    "an ensemble of arrays": _scorer(wrapped=True),
    "positive class first": _scorer(CostSpec.binary(9.0, 1.0, classes=TWO, positive=0)),
    "review": _scorer(REVIEWED),
    "three classes": _scorer(CostSpec.from_matrix(1 - np.eye(3), THREE), (SIGMOID, STEPS, STEEP)),
    "three classes, any costs": _scorer(
        CostSpec.from_matrix(RNG.normal(0, 1, (3, 3)), THREE), (SIGMOID,) * 3
    ),
}


def _same(scorer, rows, n):
    answer = scorer.decide(rows)
    decided, scores = answer.decisions, answer.scores
    for i in range(n):
        found = RowScorer(scorer).decide({name: values.tolist()[i] for name, values in rows.items()})
        assert np.array_equal(np.ravel(scores.score[i]), found.score)
        assert np.array_equal(scores.probabilities[i], found.probabilities)
        assert np.array_equal(np.ravel(scores.log_odds[i]), found.log_odds)
        assert (decided.decision[i], decided.label[i]) == (found.decided.decision, found.decided.label)
        assert np.array_equal(decided.expected_cost[i], found.decided.expected_cost)
        assert np.array_equal(decided.threshold[i], found.decided.threshold, equal_nan=True)
        assert np.array_equal(decided.thresholds[i], found.decided.thresholds, equal_nan=True)
        unknown = scorer.encoder.unknown(rows)
        assert found.unknown == [name for name in unknown if unknown[name][i]]
        yield found


@pytest.mark.parametrize("name", SCORERS)
def test_a_single_row_is_the_row_of_a_batch(name):
    found = list(_same(SCORERS[name], ROWS, 45))
    assert not any(one.unreasonable for one in found)
    assert len({tuple(one.probabilities) for one in found}) > 1


def test_costs_of_the_row():
    rows = {name: values[np.abs(ROWS["amount"]) < 1e9] for name, values in ROWS.items()}
    n = len(rows["amount"])
    found = list(_same(_scorer(BY_AMOUNT), rows, n))
    odd = unreasonable_rows(BY_AMOUNT.evaluate(rows, n), BY_AMOUNT.serves)
    assert [one.unreasonable for one in found] == odd.tolist()
    assert len(set(odd.tolist())) == 2


@pytest.mark.parametrize("amount", [np.nan, np.inf, 1e300])
def test_a_cost_that_is_not_finite_has_no_answer(amount):
    endless = _scorer(CostSpec.binary(CostCell(per={"amount": 1.0}), 2.0, classes=TWO))
    assert RowScorer(endless).decide({"amount": amount, "city": None}) is None


def test_only_expected_costs_decide_a_single_row():
    with pytest.raises(ValueError, match="expected cost"):
        RowScorer(replace(_scorer(), rule="sign"))
