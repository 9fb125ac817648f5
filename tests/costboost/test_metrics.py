"""Money worked by hand; everything else against scikit-learn, with ties and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from costboost.costs import CostMatrix
from costboost.decisions import decide
from costboost.metrics.evaluation import evaluate
from costboost.metrics.money import savings, savings_interval
from costboost.metrics.threshold_table import threshold_table
from tests.costboost import naive

NAMES = {
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
    "average_margin",
    "base_rate",
}


def sample(n, n_classes, seed, ties=10):
    """Labels, probabilities with ties, and weights with zeros."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    counts = rng.integers(1, ties, size=(n, n_classes)) + ties * (np.arange(n_classes) == y[:, None])
    return (
        y,
        counts / counts.sum(axis=1, keepdims=True),
        rng.integers(0, 4, n).astype(float) + (rng.random(n) < 0.9),
    )


def measure(y, p, costs=None, serves=None, positive=1, **options):
    n_classes = p.shape[1]
    costs = 1 - np.eye(n_classes) if costs is None else np.asarray(costs, dtype=float)
    serves = range(n_classes) if serves is None else serves
    decisions = decide(p, costs, serves=serves, positive=positive)
    return evaluate(y, p, costs, serves, positive, decisions, **options)


def test_money_worked_by_hand():
    # Amounts 100, 40 (frauds) and two honest payments; a miss costs the amount, a false alarm 10.
    p = np.array([0.5, 0.1, 0.5, 0.01])
    costs = np.array([[[0, 10], [amount, 0]] for amount in (100.0, 40, 100, 100)])
    got = measure(np.array([1, 1, 0, 0]), np.column_stack([1 - p, p]), costs)
    # Row 0: 0.5 * 100 > 0.5 * 10, caught, 0. Row 1: 0.1 * 40 = 4 < 9, missed, 40. Row 2: alarm, 10.
    # Row 3: 1 < 9.9, left, 0. Approving all costs 140, refusing all 20.
    assert got["total_cost"] == 50
    assert got["expected_cost"] == 12.5
    assert (got["baseline_cost"], got["baseline_action"]) == (20, 1)
    assert got["savings"] == 1 - 50 / 20
    assert got["confusion"] == [[1, 1], [1, 1]]


def test_every_promised_name_is_there_and_nothing_is_nan():
    y, p, _ = sample(50, 2, 0)
    got = measure(y, p, scores=p[:, 1] - 0.5)
    assert set(got) >= NAMES
    assert got["undefined"] == {}
    assert all(np.isfinite(got[name]).all() for name in NAMES)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_agree_with_scikit_learn(seed, weighted):
    y, p, weight = sample(200, 2, seed)
    w = weight if weighted else None
    got = measure(y, p, [[0, 1], [3, 0]], sample_weight=w)
    told = (p[:, 1] * 3 > (1 - p[:, 1]) * 1).astype(int)
    recalls = sk.recall_score(y, told, average=None, sample_weight=w)
    expected = {
        "roc_auc": sk.roc_auc_score(y, p[:, 1], sample_weight=w),
        "pr_auc": sk.average_precision_score(y, p[:, 1], sample_weight=w),
        "brier": sk.brier_score_loss(y, p[:, 1], sample_weight=w),
        "log_loss": sk.log_loss(y, p, sample_weight=w),
        "recall": recalls[1],
        "specificity": recalls[0],
        "precision": sk.precision_score(y, told, sample_weight=w),
        "f1": sk.f1_score(y, told, sample_weight=w),
        "g_mean": np.sqrt(recalls[0] * recalls[1]),
        "base_rate": np.average(y, weights=w),
        "expected_cost": np.average(np.where(y == 1, 3 * (told == 0), told), weights=w),
    }
    for name, value in expected.items():
        assert got[name] == pytest.approx(value, rel=1e-12), name
    np.testing.assert_allclose(got["confusion"], sk.confusion_matrix(y, told, sample_weight=w))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_four_classes_agree_with_scikit_learn(seed, weighted):
    y, p, weight = sample(300, 4, seed)
    w = weight if weighted else None
    got = measure(y, p, positive=None, sample_weight=w)
    told = p.argmax(axis=1)
    one_hot = np.eye(4)[y]
    expected = {
        "roc_auc": sk.roc_auc_score(y, p, multi_class="ovr", average="macro", sample_weight=w),
        "pr_auc": sk.average_precision_score(one_hot, p, average="macro", sample_weight=w),
        "brier": sk.brier_score_loss(y, p, sample_weight=w),
        "log_loss": sk.log_loss(y, p, sample_weight=w),
        "recall": sk.recall_score(y, told, average="macro", sample_weight=w),
        "precision": sk.precision_score(y, told, average="macro", sample_weight=w),
        "f1": sk.f1_score(y, told, average="macro", sample_weight=w),
        "g_mean": np.prod(sk.recall_score(y, told, average=None, sample_weight=w)) ** 0.25,
    }
    for name, value in expected.items():
        assert got[name] == pytest.approx(value, rel=1e-12), name
    assert got["base_rate"] is None
    assert "positive" in got["undefined"]["base_rate"]


def test_scores_rank_two_classes_when_given():
    y = np.array([0, 1, 0, 1])
    p = np.full((4, 2), 0.5)
    assert measure(y, p)["roc_auc"] == 0.5
    assert measure(y, p, scores=np.array([-2.0, 3.0, 1.0, 2.0]))["roc_auc"] == 1.0


def test_the_average_margin_worked_by_hand():
    # y F = 2, 1, -1, 3 in units of the sum of votes, 4: mean 5 / 16.
    y, scores = np.array([1, 0, 1, 0]), np.array([2.0, -1.0, -1.0, -3.0])
    p = np.full((4, 2), 0.5)
    assert measure(y, p, scores=scores, score_scale=4.0)["average_margin"] == 5 / 16
    # Class 0 positive: the same scores speak for the other class.
    assert measure(y, p, positive=0, scores=scores, score_scale=4.0)["average_margin"] == -5 / 16
    # Three classes: own score minus the best other one: 2 - 1 and 0 - 3.
    votes = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 0.0]])
    got = measure(np.array([1, 2]), np.full((2, 3), 1 / 3), positive=None, scores=votes, score_scale=3.0)
    assert got["average_margin"] == pytest.approx((1 - 3) / 2 / 3)


@pytest.mark.parametrize(
    ("y", "p", "names"),
    [
        # Only positives, all caught: nothing to be specific about, to rank against, or to save.
        ([1, 1], [0.9, 0.8], {"specificity", "g_mean", "roc_auc", "savings", "savings_ci95"}),
        # Only negatives, all left alone.
        (
            [0, 0],
            [0.1, 0.2],
            {"recall", "precision", "f1", "g_mean", "roc_auc", "pr_auc", "savings", "savings_ci95"},
        ),
        # A positive that nothing was said about: no precision, but recall 0.
        ([1, 0], [0.1, 0.2], {"precision", "savings_ci95"}),
    ],
)
def test_undefined_metrics_are_none_with_a_reason(y, p, names):
    p = np.array(p)
    got = measure(np.array(y), np.column_stack([1 - p, p]), scores=p)
    missing = {name for name in NAMES if got[name] is None}
    assert missing == set(got["undefined"])
    assert names <= missing | {"pr_auc"}
    assert missing - {"pr_auc"} <= names
    assert all(len(reason) > 10 for reason in got["undefined"].values())


def test_savings_are_undefined_when_a_constant_decision_earns_money():
    y, p, _ = sample(20, 2, 1)
    got = measure(y, p, [[-5, 1], [1, -5]])
    assert got["savings"] is None
    assert "earns money" in got["undefined"]["savings"]
    assert got["total_cost"] < 0


def test_a_reviewed_row_has_no_label():
    p = np.array([[0.5, 0.5], [0.99, 0.01], [0.01, 0.99]])
    costs = [[0, 2, 10], [100, 2, 0]]
    got = measure(np.array([1, 0, 1]), p, costs, serves=(0, None, 1))
    assert got["confusion"] == [[1, 0, 0], [0, 1, 1]]
    assert got["review_rate"] == pytest.approx(1 / 3)
    assert got["recall"] == 0.5
    assert got["precision"] == 1.0
    # Refusing all costs 10; reviewing all is no baseline, though it would cost 6.
    assert (got["baseline_action"], got["baseline_cost"]) == (2, 10)


@pytest.mark.parametrize("n", [200, 5000])
def test_the_order_of_rows_changes_no_number(n):
    y, p, weight = sample(n, 2, 7)
    amounts = np.random.default_rng(1).lognormal(3, 1, n)
    costs = np.zeros((n, 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = 5.1, amounts
    mixed = np.random.default_rng(2).permutation(n)
    one = measure(y, p, costs, sample_weight=weight, scores=p[:, 1])
    other = measure(y[mixed], p[mixed], costs[mixed], sample_weight=weight[mixed], scores=p[mixed, 1])
    close = {"roc_auc", "pr_auc"}
    for name in one:
        if name in close:
            assert one[name] == pytest.approx(other[name], rel=1e-12)
        else:
            assert one[name] == other[name], name


def test_rows_with_weight_two_count_twice():
    y, p, _ = sample(60, 2, 3)
    twice = np.repeat(np.arange(60), 2)
    one = measure(y, p, [[0, 1], [7, 0]], sample_weight=np.full(60, 2.0))
    other = measure(y[twice], p[twice], [[0, 1], [7, 0]])
    for name in NAMES - {"savings_ci95", "average_margin"}:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-12)


def test_metrics_need_rows():
    with pytest.raises(ValueError, match="at least one row"):
        measure(np.empty(0, dtype=int), np.empty((0, 2)))
    with pytest.raises(ValueError, match="at least one row"):
        measure(np.array([1]), np.array([[0.5, 0.5]]), sample_weight=np.zeros(1))


# The interval


def skewed(n, seed=0):
    """What was charged and what approving or refusing all would have cost: few large amounts."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.1
    amount = rng.lognormal(4, 1, n)
    constant = np.column_stack([fraud * amount, (~fraud) * 5.0])
    caught = rng.random(n) < 0.7
    return np.where(fraud, np.where(caught, 0.0, amount), 5.0 * (rng.random(n) < 0.1)), constant


def test_the_interval_holds_the_savings_and_is_seeded():
    charged, constant = skewed(1000)
    low, high = savings_interval(charged, constant, np.ones(1000), seed=1)
    assert low < savings(charged, constant, np.ones(1000)) < high
    assert savings_interval(charged, constant, np.ones(1000), seed=1) == [low, high]
    assert savings_interval(charged, constant, np.ones(1000), seed=2) != [low, high]


def test_the_interval_agrees_with_a_plain_bootstrap():
    charged, constant = skewed(300)
    drawn = np.random.default_rng(5).integers(0, 300, size=(1000, 300))
    plain = naive.bootstrap_savings(charged.tolist(), constant.T.tolist(), drawn.tolist())
    np.testing.assert_allclose(
        savings_interval(charged, constant, np.ones(300)), np.percentile(plain, [2.5, 97.5]), atol=0.05
    )


def test_blocks_of_rows_give_the_interval_of_rows():
    # 20,000 rows are drawn in blocks; the twin draws rows (numpy, or it would take a minute).
    charged, constant = skewed(20_000)
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(1000):
        rows = rng.integers(0, 20_000, 20_000)
        plain.append(1 - charged[rows].sum() / constant[rows].sum(axis=0).min())
    got = savings_interval(charged, constant, np.ones(20_000))
    expected = np.percentile(plain, [2.5, 97.5])
    np.testing.assert_allclose(got, expected, atol=0.15 * (expected[1] - expected[0]))


# The threshold table


def costs_of(n, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 20, size=(n, 2, 2)).astype(float)


@given(st.integers(2, 80), st.integers(0, 2**32 - 1), st.sampled_from([3, 1000]))
def test_the_table_equals_the_naive_twin(n, seed, distinct):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, n), rng.integers(0, distinct + 1, n) / distinct
    costs = costs_of(n, seed)
    table = threshold_table(y, p, costs, serves=(0, 1))
    assert np.all(np.diff(table["threshold"]) > 0)
    assert 0 <= table["threshold"][0] <= table["threshold"][-1] == 1
    for i, threshold in enumerate(table["threshold"]):
        outcome = naive.outcome(y.tolist(), p.tolist(), threshold)
        assert tuple(table[name][i] for name in ("tp", "fp", "fn", "tn")) == outcome
        told = (p > threshold).astype(int)
        assert table["cost"][i] == costs[np.arange(n), y, told].sum()
    # Every outcome that a threshold in [0, 1] can give is in the table.
    assert len(table["threshold"]) == len(np.unique(p[p > 0])) + 1


def test_a_long_table_keeps_ends_cheapest_and_both_scales():
    rng = np.random.default_rng(0)
    p = rng.random(50_000) ** 4
    y = (rng.random(50_000) < p).astype(int)
    costs = np.zeros((50_000, 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = 1.0, rng.lognormal(2, 1, 50_000)
    whole = threshold_table(y, p, costs, serves=(0, 1), max_rows=10**6)
    table = threshold_table(y, p, costs, serves=(0, 1))
    assert 400 < len(table["threshold"]) <= 512
    assert table["cost"].min() == whole["cost"].min()
    assert table["threshold"][[0, -1]].tolist() == [0.0, 1.0]
    assert np.diff(table["threshold"]).max() < 0.01
    assert np.diff(table["tp"] + table["fp"]).min() > -500


def test_the_table_knows_the_positive_class_and_its_action():
    y, p = np.array([0, 1]), np.array([0.75, 0.25])
    costs = np.array([[5.0, 0], [0, 2]])  # action 0 serves class 1: a miss of class 0 costs 5
    table = threshold_table(y, p, costs, serves=(1, 0), positive=0)
    assert table["threshold"].tolist() == [0.0, 0.5, 1.0]
    # All called class 0: the row of class 1 costs 2; at 0.5 nothing; none: the row of class 0 costs 5.
    assert table["cost"].tolist() == [2, 0, 5]
    assert table["tp"].tolist() == [1, 1, 0]
    assert table["fp"].tolist() == [1, 0, 0]


def test_the_cheapest_row_of_the_table_beats_both_constant_decisions():
    y, p, weight = sample(100, 2, 11)
    costs = CostMatrix(cost_fn=5, cost_fp=1).matrix
    table = threshold_table(y, p[:, 1], costs, serves=(0, 1), sample_weight=weight)
    assert table["cost"].min() <= min(table["cost"][0], table["cost"][-1])
    assert table["cost"][-1] == (weight * 5)[y == 1].sum()
