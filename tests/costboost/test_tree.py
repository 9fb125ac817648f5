"""The histogram tree against its slow twin, its edges, and its form for boosting rounds."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from costboost.kernels.tree import sum_node
from costboost.learners.columns import BinnedColumns
from costboost.learners.tree import HistogramTree, PreparedTree
from costboost.learners.weak import Labels, Sample
from tests.costboost.naive_tree import level_by_level, naive_tree
from tests.costboost.test_stump import weighted_rows

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def assert_same_tree(tree: HistogramTree, rows: Rows, n_classes: int, **limits: Any) -> None:
    X, y, weights = rows
    kept = weights > 0
    expected = level_by_level(
        naive_tree(X[kept], y[kept], weights[kept], tree.max_depth, n_classes=n_classes, **limits)
    )
    assert tree.tree_.feature.tolist() == [node.column for node in expected]
    assert tree.tree_.cut.tolist() == [node.cut for node in expected]
    assert tree.tree_.missing_above.tolist() == [int(node.missing_above) for node in expected]
    shares = [[float(m / sum(node.masses)) for m in node.masses] for node in expected]
    np.testing.assert_allclose(tree.frequencies_, shares, rtol=1e-12)


@settings(max_examples=60)
@given(weighted_rows(2), st.integers(1, 4))
def test_two_classes_are_cut_as_the_slow_twin_does(rows: Rows, depth: int) -> None:
    tree = HistogramTree(max_depth=depth, smoothing=0.0).fit(*rows)
    assert_same_tree(tree, rows, 2)


@settings(max_examples=40)
@given(weighted_rows(3), st.integers(1, 3))
def test_three_classes_are_cut_as_the_slow_twin_does(rows: Rows, depth: int) -> None:
    tree = HistogramTree(max_depth=depth, smoothing=0.0).fit(*rows)
    assert_same_tree(tree, rows, 3)


@settings(max_examples=40)
@given(weighted_rows(2), st.integers(1, 5), st.sampled_from([0.0, 0.25]))
def test_leaves_keep_enough_rows_and_weight(rows: Rows, min_rows: int, share: float) -> None:
    tree = HistogramTree(min_samples_leaf=min_rows, min_weight_leaf=share, smoothing=0.0).fit(*rows)
    whole = sum(map(Fraction, rows[2]))
    assert_same_tree(tree, rows, 2, min_rows=min_rows, min_mass=Fraction(share) * whole)


@given(weighted_rows(2))
def test_the_order_of_rows_does_not_matter(rows: Rows) -> None:
    X, y, weights = rows
    one, other = HistogramTree().fit(X, y, weights), HistogramTree().fit(X[::-1], y[::-1], weights[::-1])
    assert one.tree_.cut.tobytes() == other.tree_.cut.tobytes()
    assert one.tree_.feature.tobytes() == other.tree_.feature.tobytes()
    assert one.frequencies_.tobytes() == other.frequencies_.tobytes()


@given(weighted_rows(2))
def test_an_integer_weight_is_that_many_copies(rows: Rows) -> None:
    X, y, weights = rows
    counts = np.rint(8 * weights).astype(int)
    one = HistogramTree().fit(X, y, counts)
    other = HistogramTree().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert one.tree_.cut.tolist() == other.tree_.cut.tolist()
    np.testing.assert_allclose(one.frequencies_, other.frequencies_, rtol=1e-12)


@given(weighted_rows(2), st.sampled_from(["sign", "proba"]))
def test_training_rows_are_answered_as_the_fitted_tree_does(rows: Rows, response: Any) -> None:
    X, y, weights = rows
    learner = PreparedTree.of(HistogramTree(), X, np.ones(len(y)), response)
    labels = Labels(y, np.array(["a", "b"]), positive=0)
    found = learner.fit(Sample(weights), labels, np.random.default_rng(0))
    expected = (
        2.0 * found.estimator.predict_proba(X)[:, 0] - 1.0
        if response == "proba"
        else np.where(found.estimator.predict(X) == "a", 1.0, -1.0)
    )
    assert found.response.tobytes() == expected.tobytes()


def test_rows_drawn_with_repeats_count_as_often() -> None:
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
    learner = PreparedTree.of(HistogramTree(max_depth=2), X, np.ones(6), "sign")
    drawn = np.array([0, 0, 1, 3, 3, 3])
    labels, rng = Labels(y, np.array([0, 1])), np.random.default_rng(0)
    one = learner.fit(Sample(np.ones(6), drawn), labels, rng).estimator
    other = learner.fit(Sample(np.array([2.0, 1.0, 0.0, 3.0, 0.0, 0.0])), labels, rng).estimator
    assert one.tree_.cut.tolist() == other.tree_.cut.tolist()
    np.testing.assert_allclose(one.frequencies_, other.frequencies_, rtol=1e-12)


def test_columns_are_summed_alike_whatever_the_number_of_rows() -> None:
    rng = np.random.default_rng(0)
    for n in (*range(1, 12), 8191, 8192, 20_000, 30_000):
        columns = BinnedColumns.of(rng.integers(0, 4, (n, 2)).astype(float), np.ones(n), 255)
        masses, classes = rng.integers(0, 100, n), rng.integers(0, 3, n).astype(np.uint16)
        weights = masses / 8 + 0.01
        for rows in (np.arange(n, dtype=np.uint32), np.flatnonzero(rng.random(n) < 0.7).astype(np.uint32)):
            sums = np.empty((columns.starts[-1], 3), dtype=np.int64)
            sum_node(columns.codes, columns.starts, rows, weights, 8.0, classes, sums)
            expected = np.zeros_like(sums)
            for codes, start in zip(columns.codes, columns.starts[:-1], strict=True):
                np.add.at(expected, (start + codes[rows].astype(int), classes[rows]), masses[rows])
            assert sums.tolist() == expected.tolist()


def test_missing_values_unseen_in_a_node_go_to_its_heavier_side() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    tree = HistogramTree().fit(X, [0, 0, 0, 1])
    assert tree.predict([[np.nan]]).tolist() == [0]
    assert HistogramTree().fit(X, [0, 0, 0, 1], [1, 1, 1, 9]).predict([[np.nan]]).tolist() == [1]


def test_presence_alone_can_be_a_cut() -> None:
    tree = HistogramTree().fit([[4.0], [5.0], [np.nan], [np.nan]], [0, 0, 1, 1])
    assert tree.tree_.cut[0] == -math.inf
    assert tree.predict([[-9.0], [np.nan], [9.0]]).tolist() == [0, 1, 0]


def test_a_pure_node_is_a_leaf_and_so_is_one_that_no_cut_improves() -> None:
    tree = HistogramTree(max_depth=8).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert tree.tree_.feature.tolist() == [0, -1, -1]
    assert HistogramTree().fit(np.zeros((4, 2)), [0, 1, 0, 1]).tree_.feature.tolist() == [-1]
    assert HistogramTree().fit(np.full((4, 1), np.nan), [0, 1, 1, 1]).predict([[3.0]]).tolist() == [1]


def test_probabilities_of_light_leaves_are_smoothed_by_a_share_of_the_whole_weight() -> None:
    X, y = np.arange(4.0)[:, None], [0, 1, 1, 1]
    tree = HistogramTree(smoothing=0.5).fit(X, y)
    # Half of the weight 4 is added, one to each class: (0 + 1) / (1 + 2) and (3 + 1) / (3 + 2).
    np.testing.assert_allclose(tree.predict_proba(X)[:, 1], [1 / 3, 4 / 5, 4 / 5, 4 / 5], rtol=1e-12)
    other = HistogramTree(smoothing=0.5).fit(X, y, np.full(4, 7.0))
    np.testing.assert_allclose(other.predict_proba(X), tree.predict_proba(X), rtol=1e-12)


def test_deeper_trees_know_more() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    scores = [HistogramTree(max_depth=depth).fit(X, y).score(X, y) for depth in (1, 3, 6)]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.1


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 9}, "max_depth"),
        ({"max_bins": 256}, "max_bins"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_weight_leaf": 0.6}, "min_weight_leaf"),
        ({"smoothing": -1.0}, "smoothing"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"HistogramTree: {name} must be"):
        HistogramTree(**params).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=f"HistogramTree: {name} must be"):
        PreparedTree.of(HistogramTree(**params), np.zeros((2, 1)), np.ones(2), "sign")


def test_what_a_tree_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="no decision function"):
        PreparedTree.of(HistogramTree(), np.zeros((2, 1)), np.ones(2), "decision")
    with pytest.raises(ValueError, match="infinity"):
        HistogramTree().fit([[np.inf], [1.0]], [0, 1])
    with pytest.raises(NotFittedError):
        HistogramTree().predict([[0.0]])


def test_a_leaf_whose_classes_weigh_the_same_names_the_first() -> None:
    X, y = np.zeros((4, 1)), np.array([0, 0, 1, 1])
    for weights in ([0.1, 0.2, 0.3, 0.0], [0.3, 0.0, 0.1, 0.2]):  # 0.1 + 0.2 is not 0.3
        assert HistogramTree().fit(X, y, sample_weight=weights).predict(X).tolist() == [0, 0, 0, 0]
