import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from costboost.actions import Action, Review
from costboost.calibration.calibrator import Calibrator
from costboost.calibration.sigmoid import SigmoidCalibrator
from costboost.cost_specs import CostSpec
from costboost.features import FeatureEncoder
from costboost.scorer import Scorer
from costboost.terms import Terms

ENCODER = FeatureEncoder().fit({"x": np.zeros(1)}, {"x": "number"})
TERMS = Terms.single([0], [0.0], [-1.0], [1.0], [0.25], n_features=1)
LOGIT = Calibrator("sigmoid", (SigmoidCalibrator(1.0, 0.0),))
COSTS = CostSpec.binary(9.0, 1.0, classes=("legit", "fraud"))
SCORER = Scorer(ENCODER, TERMS, LOGIT, COSTS.classes, (0, 1), (0.75, 0.25), COSTS, "expected_cost")
ROWS = {"x": np.array([-1.0, 1.0, np.nan])}


def test_scores_probabilities_and_log_odds():
    scores = SCORER.score(ROWS)
    assert scores.score.tolist() == [-1.0, 1.0, 0.25]
    assert scores.log_odds == pytest.approx([-1.0, 1.0, 0.25])
    assert scores.probabilities[:, 1] == pytest.approx(1 / (1 + np.exp([1.0, -1.0, -0.25])))


def test_the_positive_class_may_come_first():
    turned = replace(
        SCORER, classes=("fraud", "legit"), codes=(1, 0), costs=COSTS.reordered(("fraud", "legit"))
    )
    one, other = SCORER.decide(ROWS), turned.decide(ROWS)
    assert other.scores.probabilities[:, ::-1].tolist() == one.scores.probabilities.tolist()
    assert other.scores.log_odds.tolist() == one.scores.log_odds.tolist()
    assert other.decisions.decision.tolist() == one.decisions.decision.tolist()


def test_log_odds_are_those_of_clipped_probabilities():
    steep = replace(SCORER, calibrator=Calibrator("sigmoid", (SigmoidCalibrator(100.0, 0.0),)))
    scores = steep.score(ROWS)
    assert scores.log_odds[:2] == pytest.approx([-13.815509558, 13.815509558])
    assert (scores.probabilities > 0).all()
    assert (scores.probabilities < 1).all()


def test_costs_in_force_and_costs_of_the_request():
    assert SCORER.decide(ROWS).decisions.label.tolist() == [1, 1, 1]
    request = CostSpec.binary(1.0, 1.0, classes=("fraud", "legit"), positive=0)
    answer = SCORER.decide(ROWS, costs=request)
    assert answer.repriced
    assert answer.costs.classes == ("legit", "fraud")
    assert [answer.costs.actions[a].name for a in answer.decisions.decision] == ["legit", "fraud", "fraud"]
    with pytest.raises(ValueError, match="not the classes"):
        SCORER.decide(ROWS, costs=CostSpec.binary(1.0, 1.0))


def test_threshold_rules_decide_on_the_score_and_show_a_probability():
    for rule in ("empirical", "sign"):
        scorer = replace(SCORER, rule=rule, score_threshold=0.25)
        answer = scorer.decide(ROWS)
        assert answer.source == rule
        assert answer.decisions.label.tolist() == [0, 1, 0]  # a score equal to the threshold is negative
        assert answer.decisions.threshold == pytest.approx([1 / (1 + np.exp(-0.25))] * 3)
        moved = scorer.decide(ROWS, priors=(0.99, 0.01))
        assert moved.decisions.threshold[0] < answer.decisions.threshold[0]
        assert moved.decisions.label.tolist() == [0, 1, 0]
        assert scorer.decide(ROWS, costs=COSTS).source == "expected_cost"
        assert scorer.decide(ROWS, threshold=0.9).source == "threshold"
    for infinite, label in ((np.inf, 0), (-np.inf, 1)):
        answer = replace(SCORER, rule="empirical", score_threshold=infinite).decide(ROWS)
        assert set(answer.decisions.label.tolist()) == {label}
        assert set(answer.decisions.threshold.tolist()) == {float(infinite > 0)}


def test_three_classes_by_vote_and_by_cost():
    terms = Terms.of_stumps(
        feature=np.zeros(3, np.int32),
        cut=np.zeros(3),
        below=np.array([1.0, -1.0, 0.0]),
        above=np.array([-1.0, 1.0, 0.0]),
        missing=np.array([0.0, 0.0, 1.0]),
        output=np.arange(3, dtype=np.int32),
        constant=np.zeros(3),
        n_features=1,
    )
    costs = CostSpec.from_matrix(1 - np.eye(3), ("a", "b", "c"))
    calibrator = Calibrator("none", (SigmoidCalibrator(2.0, 0.0),) * 3, (1.0,) * 3)
    scorer = Scorer(ENCODER, terms, calibrator, costs.classes, (2, 0, 1), (0.2, 0.3, 0.5), costs, "sign")
    assert scorer.score(ROWS).score.tolist() == [[0, 1, -1], [0, -1, 1], [1, 0, 0]]
    for rule in ("sign", "expected_cost"):
        assert replace(scorer, rule=rule).decide(ROWS).decisions.label.tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="two classes"):
        scorer.decide(ROWS, threshold=0.5)
    with pytest.raises(ValueError, match="decision rule"):
        replace(scorer, rule="empirical")


def test_a_review_of_the_request():
    actions = ("legit", "fraud", Action("review", None))
    spec = CostSpec.from_actions(
        ("legit", "fraud"),
        actions,
        {("fraud", "legit"): 9.0, ("legit", "fraud"): 9.0},
        review=Review(0.1, (1, 1)),
    )
    assert SCORER.decide(ROWS, costs=spec).decisions.label.tolist() == [-1, -1, -1]


def test_blocks_of_rows_do_not_show(monkeypatch):
    whole = SCORER.decide(ROWS)
    monkeypatch.setattr("costboost.scorer._BLOCK", 2)
    blocks = SCORER.decide(ROWS)
    assert blocks.scores.score.tobytes() == whole.scores.score.tobytes()
    assert blocks.scores.probabilities.tobytes() == whole.scores.probabilities.tobytes()
    with pytest.raises(ValueError, match="'x' is missing"):
        SCORER.score({"y": np.zeros(3)})
    assert len(SCORER.score({"x": np.zeros(0)}).score) == 0


def test_rows_without_a_needed_column_are_refused():
    with pytest.raises(ValueError, match="'x' is missing"):
        SCORER.score({"y": np.zeros(1)})
    assert SCORER.columns == {"x"}


@pytest.mark.parametrize(
    "flaw",
    [
        {"classes": ("a", "b")},
        {"codes": (1, 0)},
        {"codes": (0, 0)},
        {"codes": (0,)},
        {"priors": (1.0, 0.0)},
        {"priors": (0.5,)},
        {"rule": "best"},
        {"score_threshold": np.nan},
        {"calibrator": Calibrator("none", (SigmoidCalibrator(2.0, 0.0),) * 3, (1.0,) * 3)},
        {"ensemble": Terms.single([0], [0.0], [-1.0], [1.0], [0.25], n_features=2)},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(flaw):
    with pytest.raises(ValueError):
        replace(SCORER, **flaw)


def test_serving_code_loads_numpy_only():
    code = (
        "import sys, costboost.scorer, costboost.persistence, costboost.features, "
        "costboost.calibration.calibrator, costboost.decisions, costboost.cost_specs, "
        "costboost.metrics.evaluation\n"
        "heavy = {'sklearn', 'numba', 'joblib', 'scipy', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
