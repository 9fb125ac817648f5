"""Curves against scikit-learn and against slow twins."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, precision_recall_curve
from sklearn.metrics import roc_curve as sklearn_roc_curve

from costboost.curves import (
    MAX_POINTS,
    brier_curve,
    evaluate_curves,
    margin_distribution,
    net_benefit_curve,
    pr_curve,
    roc_curve,
)
from costboost.metrics.probabilities import brier
from costboost.metrics.ranking import roc_auc
from costboost.metrics.undefined import UndefinedMetricError
from costboost.reliability import calibration_line, reliability_table


@st.composite
def ranked(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Which rows are positive, their probabilities with ties, and weights of which some are 0."""
    n = draw(st.integers(2, 30))
    p = draw(arrays(float, n, elements=st.integers(1, 9).map(lambda tenth: tenth / 10)))
    is_positive = draw(arrays(bool, n))
    is_positive[:2] = True, False
    weight = draw(arrays(float, n, elements=st.sampled_from([0.0, 1.0, 2.0])))
    weight[:2] = 1.0
    return is_positive, p, weight


@given(ranked())
def test_roc_as_scikit_learn_draws_it(rows: Any) -> None:
    is_positive, p, weight = rows
    curve = roc_curve(is_positive, p, weight)
    fpr, tpr, _ = sklearn_roc_curve(is_positive, p, sample_weight=weight, drop_intermediate=False)
    points = set(zip(fpr.round(9), tpr.round(9), strict=True))
    assert set(zip(np.round(curve["fpr"], 9), np.round(curve["tpr"], 9), strict=True)) <= points
    assert auc(curve["fpr"], curve["tpr"]) == pytest.approx(roc_auc(is_positive, p, weight))
    for x, y, least in zip(curve["fpr"][1:], curve["tpr"][1:], curve["threshold"][1:], strict=True):
        told = p >= least
        assert x == pytest.approx(weight[told & ~is_positive].sum() / weight[~is_positive].sum())
        assert y == pytest.approx(weight[told & is_positive].sum() / weight[is_positive].sum())
    assert curve["threshold"][0] is None


@given(ranked())
def test_precision_and_recall_as_scikit_learn_draws_them(rows: Any) -> None:
    is_positive, p, weight = rows
    curve = pr_curve(is_positive, p, weight)
    kept = weight > 0
    precision, recall, thresholds = precision_recall_curve(
        is_positive[kept], p[kept], sample_weight=weight[kept]
    )
    assert curve["threshold"] == thresholds[::-1].tolist()
    np.testing.assert_allclose(curve["recall"], recall[:-1][::-1])
    np.testing.assert_allclose(curve["precision"], precision[:-1][::-1])


@given(ranked(), st.integers(1, 12))
def test_even_bins_as_scikit_learn_makes_them(rows: Any, bins: int) -> None:
    is_positive, p, _ = rows
    table = reliability_table(is_positive, p, np.ones(len(p)), bins=bins, strategy="uniform")
    rate, mean = calibration_curve(is_positive, p, n_bins=bins, strategy="uniform")
    np.testing.assert_allclose(table["observed_rate"], rate)
    np.testing.assert_allclose(table["mean_probability"], mean)


@given(ranked(), st.integers(1, 12))
def test_bins_of_rows_hold_every_row_once_and_are_about_even(rows: Any, bins: int) -> None:
    is_positive, p, weight = rows
    table = reliability_table(is_positive, p, weight, bins=bins)
    assert sum(table["weight"]) == pytest.approx(weight.sum())
    heaviest = max(weight[p == level].sum() for level in p)
    for low, high, mean, rate, mass in zip(*table.values(), strict=True):
        own = (p >= low) & (p <= high)
        assert mass == pytest.approx(weight[own].sum())
        assert mass <= weight.sum() / bins + heaviest + 1e-9
        assert mean == pytest.approx((weight * p)[own].sum() / mass)
        assert rate == pytest.approx((weight * is_positive)[own].sum() / mass)


@pytest.mark.parametrize("seed", range(3))
def test_the_calibration_line_is_a_logistic_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=500) * 2
    p, weight = 1 / (1 + np.exp(-odds)), rng.integers(0, 4, 500).astype(float)
    is_positive = rng.random(500) < 1 / (1 + np.exp(-(0.5 * odds - 1)))
    line = calibration_line(is_positive, p, weight)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(odds[:, None], is_positive, weight)
    assert line["slope"] == pytest.approx(peer.coef_[0, 0], rel=1e-4)
    assert line["intercept"] == pytest.approx(peer.intercept_[0], rel=1e-4)
    # In the large: probabilities moved by it have the mean of the labels.
    moved = 1 / (1 + np.exp(-(odds + line["in_the_large"])))
    assert np.average(moved, weights=weight) == pytest.approx(np.average(is_positive, weights=weight))


def test_calibrated_probabilities_have_slope_1_and_a_stretched_logit_another() -> None:
    p = np.repeat([0.1, 0.3, 0.7], 1000)
    is_positive = np.concatenate([np.arange(1000) < 1000 * share for share in (0.1, 0.3, 0.7)])
    line = calibration_line(is_positive, p, np.ones(3000))
    assert line == pytest.approx({"slope": 1.0, "intercept": 0.0, "in_the_large": 0.0}, abs=1e-8)
    stretched = 1 / (1 + (1 / p - 1) ** 2)
    assert calibration_line(is_positive, stretched, np.ones(3000))["slope"] == pytest.approx(0.5)
    extreme = np.where(p == 0.1, 0.0, np.where(p == 0.7, 1.0, p))
    assert np.isfinite(list(calibration_line(is_positive, extreme, np.ones(3000)).values())).all()


@pytest.mark.parametrize(
    ("is_positive", "p", "reason"),
    [
        ([True, True], [0.2, 0.3], "one class"),
        ([True, False], [0.2, 0.2], "all equal"),
        ([True, False, True], [0.7, 0.2, 0.2], "separate"),
        ([True, False, False], [0.1, 0.2, 0.1], "separate"),
    ],
)
def test_lines_that_do_not_exist(is_positive: Any, p: Any, reason: str) -> None:
    with pytest.raises(UndefinedMetricError, match=reason):
        calibration_line(np.array(is_positive), np.array(p), np.ones(len(p)))


@given(ranked())
def test_the_area_under_the_brier_curve_is_the_brier_score(rows: Any) -> None:
    is_positive, p, weight = rows
    curve = brier_curve(is_positive, p, weight, points=MAX_POINTS)
    score = brier(is_positive.astype(int), np.column_stack([1 - p, p]), weight)
    assert np.mean(curve["cost"]) == pytest.approx(score, abs=0.01)
    for c, cost, every, none in list(zip(*curve.values(), strict=True))[::37]:
        told = p > c
        lost = np.where(is_positive & ~told, 2 * (1 - c), 0) + np.where(~is_positive & told, 2 * c, 0)
        assert cost == pytest.approx(np.average(lost, weights=weight))
        assert every == pytest.approx(np.average(np.where(is_positive, 0, 2 * c), weights=weight))
        assert none == pytest.approx(np.average(np.where(is_positive, 2 * (1 - c), 0), weights=weight))


@given(ranked())
def test_net_benefit_row_by_row(rows: Any) -> None:
    is_positive, p, weight = rows
    curve = net_benefit_curve(is_positive, p, weight, points=13)
    for t, benefit, every, nobody in zip(*curve.values(), strict=True):
        worth = np.where(is_positive, 1.0, -t / (1 - t))
        assert benefit == pytest.approx(np.average(worth * (p > t), weights=weight))
        assert every == pytest.approx(np.average(worth, weights=weight))
        assert nobody == 0.0


def test_margins() -> None:
    rng = np.random.default_rng(0)
    y, scores, weight = rng.integers(0, 2, 50), rng.normal(size=50), rng.integers(0, 3, 50).astype(float)
    found = margin_distribution(y, scores, scale=4.0, positive=0, sample_weight=weight)
    own = np.where(y == 0, scores, -scores)[weight > 0] / 4
    assert found["minimum"] == own.min()
    assert found["average"] == pytest.approx(np.average(own, weights=weight[weight > 0]))
    for margin, share in zip(found["margin"], found["share"], strict=True):
        assert share == pytest.approx(np.average(own <= margin, weights=weight[weight > 0]))
    with pytest.raises(UndefinedMetricError, match="no votes"):
        margin_distribution(y, scores, scale=0.0)


def test_many_rows_give_512_points_at_most() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    found = evaluate_curves(y, np.column_stack([1 - p, p]), costs, serves=(0, 1))
    assert found["undefined"] == {}
    for name in ("roc", "pr", "calibration", "cost", "net_benefit", "thresholds"):
        assert {len(column) for column in found[name].values()} <= set(range(2, MAX_POINTS + 1))
        assert len({len(column) for column in found[name].values()}) == 1
    json.dumps(found, allow_nan=False)
    roc = found["roc"]
    assert auc(roc["fpr"], roc["tpr"]) == pytest.approx(roc_auc(y == 1, p, np.ones(n)), abs=1e-4)
    assert (roc["fpr"][-1], roc["tpr"][-1]) == (1.0, 1.0)
    margins = margin_distribution(y, p - 0.5, scale=1.0)
    assert len(margins["margin"]) <= MAX_POINTS


def test_several_classes_each_against_the_rest_and_what_is_undefined() -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 60)
    y = np.array([rng.choice(3, p=row) for row in p])
    found = evaluate_curves(y, p, 1 - np.eye(3), serves=(0, 1, 2))
    assert len(found["classes"]) == 3
    assert found["classes"][1]["roc"] == roc_curve(y == 1, p[:, 1], np.ones(60))
    one = evaluate_curves(np.zeros(4, dtype=int), np.full((4, 2), 0.5), 1 - np.eye(2), serves=(0, 1))
    assert one["roc"] is None
    assert one["undefined"].keys() == {"roc", "pr", "calibration_line"}
    json.dumps(one, allow_nan=False)
    flipped = evaluate_curves(
        1 - y.clip(0, 1),
        p[:, [1, 0]] / p[:, :2].sum(axis=1)[:, None],
        1 - np.eye(2),
        serves=(0, 1),
        positive=0,
    )
    assert flipped["thresholds"].keys() == {"threshold", "tp", "fp", "fn", "tn", "cost"}


def test_sizes_out_of_bounds_are_refused() -> None:
    rows = (np.array([True, False]), np.array([0.2, 0.3]), np.ones(2))
    with pytest.raises(ValueError, match="points must lie"):
        brier_curve(*rows, points=513)
    with pytest.raises(ValueError, match="bins must lie"):
        reliability_table(*rows, bins=0)
