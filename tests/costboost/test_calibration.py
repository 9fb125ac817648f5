import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.calibration.calibrator import Calibrator, fit_calibrator
from costboost.calibration.isotonic import IsotonicCalibrator
from costboost.calibration.sigmoid import SigmoidCalibrator

FAMILIES = [SigmoidCalibrator, IsotonicCalibrator]


def scored(n, seed, shift=0.0, scale=1.0):
    """Scores whose true probability is sigmoid(2 s), then moved and stretched as costs do."""
    rng = np.random.default_rng(seed)
    s = rng.normal(-0.8, 1.0, n)
    positive = rng.random(n) < 1 / (1 + np.exp(-2 * s))
    positive[:2] = [True, False]
    return s * scale + shift, positive


@pytest.mark.parametrize("family", FAMILIES)
@given(st.integers(0, 10_000), st.floats(-5, 5), st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_mean_probability_is_the_base_rate_and_the_map_never_falls(family, seed, shift, scale):
    scores, positive = scored(300, seed, shift, scale)
    calibrator = family.fit(scores, positive)
    p = calibrator.probability(scores)
    assert abs(p.mean() - positive.mean()) < 0.01
    assert (np.diff(calibrator.probability(np.sort(scores))) >= 0).all()
    far = calibrator.probability(np.array([-1e300, 1e300]))
    assert (far > 0).all()
    assert (far < 1).all()


@pytest.mark.parametrize("family", FAMILIES)
@given(st.integers(0, 10_000))
def test_a_score_alone_is_mapped_as_in_a_batch(family, seed):
    scores, positive = scored(700, seed)
    calibrator = family.fit(scores, positive)
    batch = calibrator.probability(scores)
    assert all(calibrator.probability(scores[i : i + 1])[0] == batch[i] for i in range(0, 700, 13))


def test_newton_finds_the_minimum_of_platts_loss():
    scores, positive = scored(400, 5)
    fitted = SigmoidCalibrator.fit(scores, positive)
    n_positive, n_negative = positive.sum(), (~positive).sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    error = fitted.probability(scores) - target
    assert abs(error.sum()) < 1e-6
    assert abs((error * scores).sum()) < 1e-6


def test_separable_scores_stay_finite():
    scores = np.array([-2.0, -1.0, 1.0, 2.0] * 50)
    p = SigmoidCalibrator.fit(scores, scores > 0).probability(scores)
    assert 0.9 < p.max() < 1
    assert 0 < p.min() < 0.1
    stepped = IsotonicCalibrator.fit(scores, scores > 0).probability(scores)
    assert stepped.max() == pytest.approx(101 / 102)
    assert stepped.min() == pytest.approx(1 / 102)


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_that_say_nothing_or_the_opposite_give_the_base_rate(family):
    positive = np.arange(100) < 30
    for scores in (np.full(100, 3.0), -positive.astype(float), np.where(positive, 0.0, 1e-300)):
        p = family.fit(scores, positive).probability(np.array([-5.0, 0.0, 5.0]))
        assert np.ptp(p) < 1e-12
        assert p[0] == pytest.approx(0.3, abs=0.005)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_count_as_copies_and_have_no_unit(family):
    scores, positive = scored(200, 9)
    weight = np.random.default_rng(1).integers(0, 4, 200).astype(float)
    weight[:2] = 1
    one = family.fit(scores, positive, weight).probability(scores)
    assert family.fit(scores, positive, weight * 7).probability(scores) == pytest.approx(one, abs=1e-9)
    copies = np.repeat(np.arange(200), weight.astype(int))
    assert family.fit(scores[copies], positive[copies]).probability(scores) == pytest.approx(one, abs=0.03)


def test_auto_is_isotonic_from_a_thousand_rows_of_each_class():
    rng = np.random.default_rng(0)
    for n_positive, kind in ((999, "sigmoid"), (1000, "isotonic")):
        y = np.r_[np.zeros(2000, dtype=np.intp), np.ones(n_positive, dtype=np.intp)]
        calibrator = fit_calibrator("auto", (y + rng.normal(size=len(y)))[:, None], y, 2)
        assert calibrator.kind == kind


def test_none_is_the_raw_link():
    y = np.array([0, 1])
    p = fit_calibrator("none", np.array([[-0.5], [0.5]]), y, 2).probabilities(np.array([[0.3]]))
    assert p[0, 1] == 1 / (1 + math.exp(-0.6))


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic", "none"])
def test_three_classes_sum_to_one_and_do_not_depend_on_the_batch(kind):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 500)
    scores = np.eye(3)[y] * 2 + rng.normal(size=(500, 3))
    calibrator = fit_calibrator(kind, scores, y, 3)
    p = calibrator.probabilities(scores)
    assert np.allclose(p.sum(axis=1), 1)
    assert ((p > 0) & (p < 1)).all()
    assert all(calibrator.probabilities(scores[i : i + 1]).tobytes() == p[i].tobytes() for i in range(50))
    if kind != "none":
        assert p.mean(axis=0) == pytest.approx(np.bincount(y) / 500, abs=1e-6)


def test_wrong_requests_are_refused():
    scores = np.zeros((3, 1))
    with pytest.raises(ValueError, match="must be one of"):
        fit_calibrator("platt", scores, np.array([0, 1, 1]), 2)
    with pytest.raises(ValueError, match="rows of every class"):
        fit_calibrator("sigmoid", scores, np.array([1, 1, 1]), 2)
    with pytest.raises(ValueError, match="one output"):
        Calibrator("none", (SigmoidCalibrator(2.0, 0.0),) * 2)
    for factors in ((), (1.0, 1.0), (1.0, 1.0, 11.0), (1.0, 1.0, 0.0)):
        with pytest.raises(ValueError, match="factor"):
            Calibrator("none", (SigmoidCalibrator(2.0, 0.0),) * 3, factors)


@given(st.integers(0, 1000), st.sampled_from(["sigmoid", "isotonic", "none"]))
def test_state_survives_json(seed, kind):
    scores, positive = scored(100, seed)
    calibrator = fit_calibrator(kind, scores[:, None], positive.astype(np.intp), 2)
    assert Calibrator.from_state(json.loads(json.dumps(calibrator.to_state()))) == calibrator


@pytest.mark.parametrize(
    "state",
    [
        {"kind": "magic", "outputs": []},
        {"kind": "sigmoid", "outputs": []},
        {
            "kind": "sigmoid",
            "outputs": [{"kind": "sigmoid", "slope": 1.0, "intercept": 0.0}],
            "factors": [1.0],
        },
        {"kind": "sigmoid", "outputs": [{"kind": "sigmoid", "slope": -1.0, "intercept": 0.0}]},
        {"kind": "sigmoid", "outputs": [{"kind": "sigmoid", "slope": math.nan, "intercept": 0.0}]},
        {"kind": "sigmoid", "outputs": [{"kind": "sigmoid", "slope": "1", "intercept": 0.0}]},
        {"kind": "sigmoid", "outputs": [{"kind": "other"}]},
        {"kind": "isotonic", "outputs": [{"kind": "isotonic", "scores": [], "probabilities": []}]},
        {
            "kind": "isotonic",
            "outputs": [{"kind": "isotonic", "scores": [1.0, 1.0], "probabilities": [0.1, 0.2]}],
        },
        {
            "kind": "isotonic",
            "outputs": [{"kind": "isotonic", "scores": [1.0, 2.0], "probabilities": [0.2, 0.1]}],
        },
        {"kind": "isotonic", "outputs": [{"kind": "isotonic", "scores": [1.0], "probabilities": [1.0]}]},
        {"kind": "isotonic", "outputs": [{"kind": "isotonic", "scores": [1.0], "probabilities": [0.1, 0.2]}]},
    ],
)
def test_unsound_states_are_refused(state):
    with pytest.raises(ValueError):
        Calibrator.from_state({"factors": []} | state)
