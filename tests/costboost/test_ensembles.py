"""Stored ensembles of trees and machines say what the votes of the booster say, to the bit, row by row."""

import dataclasses
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier
from costboost.boosting.ada_c import AdaCClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.boosting.gentle import GentleAdaBoostClassifier
from costboost.ensembles.expansions import Expansions
from costboost.ensembles.planes import Planes
from costboost.ensembles.sides import Sides
from costboost.ensembles.trees import Branches, Trees
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree
from costboost.registry import ALGORITHMS
from costboost.terms import Terms
from tests.costboost.naive_contributions import lies_above

LEARNERS: dict[str, Any] = {
    "stump": "stump",
    "tree": {"name": "tree", "max_depth": 2, "min_weight_leaf": 0.02},
    "svm": "svm",
    "rbf": {"name": "svm", "kernel": "rbf", "exact_rows": 20, "nystroem_components": 12},
    "poly": {"name": "svm", "kernel": "poly", "degree": 2},
}
KINDS = {"stump": Terms, "tree": Trees, "svm": Planes, "rbf": Expansions, "poly": Expansions}
Rows = tuple[NDArray[Any], NDArray[Any]]


def table(n: int = 90, n_classes: int = 2, d: int = 11, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 6, d)
    signal = X[:, 0] / X[:, 0].std() + np.abs(X[:, 1]) / X[:, 1].std() + rng.normal(size=n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.digitize(signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1]))


def fitted(cls: Any, rows: Rows, **params: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*costs compound|.*kept no hypothesis")
        return cls(n_estimators=4, random_state=0, **params).fit(*rows)


def assert_one_score(model: Any, X: NDArray[Any]) -> None:
    """The votes, the stored form, and the stored form row by row are equal to the bit."""
    stored = model.ensemble_.score(X)
    if model.estimators_:
        *_, voted = model.staged_decision_function(X)
        assert stored.tobytes() == voted.reshape(stored.shape).tobytes()
    assert np.vstack([model.ensemble_.score(row[None]) for row in X]).tobytes() == stored.tobytes()
    assert model.decision_function(X).tobytes() == stored.tobytes()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_over_every_learner_has_a_stored_form(name: str, learner: str) -> None:
    rows, fresh = table(), table(40, seed=1)[0]
    model = fitted(ALGORITHMS[name].cls, rows, estimator=LEARNERS[learner])
    if model.estimators_:
        assert type(model.ensemble_) is KINDS[learner]
    assert (model.terms_ is model.ensemble_) == isinstance(model.ensemble_, Terms)
    assert_one_score(model, fresh)
    assert_one_score(model, rows[0])


@pytest.mark.parametrize("learner", ["tree", "svm", "rbf"])
@pytest.mark.parametrize(
    ("cls", "params", "votes"),
    [
        (AdaBoostClassifier, {}, True),
        (AdaMECClassifier, {"cost_matrix": [[0, 1, 2], [3, 0, 1], [9, 1, 0]]}, True),
        (AdaCClassifier, {"variant": 2}, True),
        (AdaCostClassifier, {}, False),
        (GentleAdaBoostClassifier, {}, False),
    ],
)
def test_more_classes(cls: Any, params: dict[str, Any], votes: bool, learner: str) -> None:
    rows, fresh = table(n_classes=3), table(40, seed=1)[0]
    model = fitted(cls, rows, estimator=LEARNERS[learner], **params)
    assert model.ensemble_.n_outputs == 3
    # A machine is for two classes: each class is told from the rest, also where trees vote for classes.
    assert (model.machines_ is None) == (votes and learner == "tree")
    assert_one_score(model, fresh)
    assert set(model.predict(fresh)) <= {0, 1, 2}
    np.testing.assert_allclose(model.predict_proba(fresh).sum(axis=1), 1.0)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize(
    ("learner", "response"),
    [("tree", "proba"), ("tree", "sign"), ("svm", "decision"), ("rbf", "decision"), ("svm", "sign")],
)
def test_answers_of_every_kind(learner: str, response: str, pos_label: int) -> None:
    rows, fresh = table(), table(40, seed=1)[0]
    model = fitted(
        AdaCostClassifier, rows, estimator=LEARNERS[learner], response=response, pos_label=pos_label
    )
    assert len(model.estimators_) == 4
    assert_one_score(model, fresh)


def test_the_scale_is_the_sum_of_the_votes() -> None:
    rows = table()
    for learner in LEARNERS.values():
        model = fitted(AdaBoostClassifier, rows, estimator=learner)
        assert math.isclose(model.ensemble_.scale, model.estimator_weights_.sum(), rel_tol=1e-12)


def test_learners_from_elsewhere_have_none() -> None:
    model = fitted(AdaBoostClassifier, table(), estimator=DecisionTreeClassifier(max_depth=1))
    assert model.ensemble_ is None
    X, y = table(30)
    gram = np.nan_to_num(X) @ np.nan_to_num(X).T
    model = fitted(AdaBoostClassifier, (gram, y), estimator=WeightedSVM("precomputed"))
    assert model.ensemble_ is None
    assert len(model.decision_function(gram)) == 30


def test_the_map_of_a_kernel_is_stored_once_without_idle_vectors() -> None:
    X, y = table(60)
    model = fitted(AdaBoostClassifier, (X, y), estimator=WeightedSVM("rbf"))
    stored = model.ensemble_
    coef = np.array([one.machine_.coef for one in model.estimators_])
    used = np.count_nonzero(coef.any(axis=0))
    assert stored.vectors.size == used * 11 <= 60 * 11
    assert stored.coef.size == used * len(model.estimators_)


def test_missing_values_of_a_machine_lie_in_the_centre() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(5, 2, size=(80, 2)), rng.integers(0, 2, 80)
    X[:, 0] += y
    X[::7, 0], X[1::9, 1] = np.nan, np.nan
    mean = np.nanmean(X, axis=0)
    filled = np.where(np.isnan(X), mean, X)
    for kernel in ("linear", "rbf"):
        svm = WeightedSVM(kernel).fit(X, y)
        np.testing.assert_allclose(svm.decision_function(filled), svm.decision_function(X), rtol=1e-9)
    empty = np.column_stack([X, np.full(80, np.nan)])
    assert np.isfinite(WeightedSVM().fit(empty, y).decision_function(empty)).all()
    with pytest.raises(ValueError, match="NaN"):
        WeightedSVM("precomputed").fit(np.full((80, 80), np.nan), y)


# Trees


def naive_leaf(trees: Branches, tree: int, row: NDArray[Any]) -> int:
    """Walk down with a queue: nodes are numbered level by level, so children are numbered as they come."""
    first = int(trees.nodes[:tree].sum())
    children, following = {}, first + 1
    for node in range(first, first + int(trees.nodes[tree])):
        if trees.feature[node] >= 0:
            children[node] = following
            following += 2
    node = first
    while node in children:
        value = row[trees.feature[node]]
        above = bool(trees.missing_above[node]) if math.isnan(value) else lies_above(trees, node, value)
        node = children[node] + above
    return node


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_rows_end_in_the_leaf_of_the_slow_twin(seed: int, depth: int) -> None:
    X, y = table(60, d=3, seed=seed)
    model = fitted(AdaBoostClassifier, (X, y), estimator=HistogramTree(max_depth=depth))
    trees = model.ensemble_
    if not isinstance(trees, Trees):
        return
    expected = [[naive_leaf(trees, t, row) for row in X] for t in range(trees.n_trees)]
    assert [leaf.tolist() for leaf in trees.leaves(X)] == expected
    assert [list(trees.leaves_of_row(row.tolist())) for row in X] == np.transpose(expected).tolist()


def test_many_rows_are_scored_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, (X, _) = table(300), table(1300, seed=2)
    for classes in (rows[1], rows[1] + (rows[0][:, 2] > 0)):
        trees = fitted(AdaBoostClassifier, (rows[0], classes), estimator=HistogramTree(max_depth=3)).ensemble_
        with monkeypatch.context() as without_compiler:
            without_compiler.setattr("costboost.kernels.pay_for", lambda _: False)
            apart = np.vstack([trees.score(X[start : start + 100]) for start in range(0, 1300, 100)])
        assert trees.score(X).tobytes() == apart.tobytes()
        assert trees.score(np.asfortranarray(X)).tobytes() == apart.tobytes()


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def one_tree() -> Trees:
    return Trees(
        nodes=ints(3),
        feature=ints(0, -1, -1),
        cut=np.zeros(3),
        missing_above=ints(0, 0, 0),
        n_features=1,
        value=np.array([0.0, -1.0, 1.0]),
        output=ints(0, 0, 0),
        constant=np.zeros(1),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": ints(7, 7)}, "shape"),
        ({"nodes": ints()}, "shape"),
        ({"nodes": ints(-1, 4)}, "out of range"),
        ({"feature": ints(3, -1, -1)}, "out of range"),
        ({"feature": ints(-2, -1, -1)}, "out of range"),
        ({"feature": ints(0, 0, -1)}, "no trees"),
        ({"feature": ints(-1, -1, 0)}, "no trees"),
        ({"feature": ints(-1, 0, -1)}, "no trees"),
        ({"feature": ints(-1, -1, -1)}, "no trees"),
        ({"cut": np.array([np.inf, 0, 0])}, "below infinity"),
        ({"cut": np.array([np.nan, 0, 0])}, "subsets must have the shape"),
        ({"subsets": ints(*range(8))}, "subsets must have the shape"),
        ({"cut": np.array([np.nan, 0, 0]), "subsets": ints(*range(9))}, "subsets must have the shape"),
        ({"cut": np.array([0, np.nan, 0]), "subsets": ints(*range(8))}, "a leaf has no subset"),
        ({"cut": np.zeros(2)}, "shape"),
        ({"missing_above": ints(2, 0, 0)}, "out of range"),
        ({"value": np.array([0, np.nan, 0])}, "finite"),
        ({"value": np.array([0, 1e101, 0])}, "finite"),
        ({"output": ints(0, 1, 0)}, "out of range"),
        ({"constant": np.array([np.inf])}, "finite"),
        ({"constant": np.zeros((1, 1))}, "shape"),
    ],
)
def test_trees_that_are_none_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(one_tree(), **change)


def test_a_tree_that_is_too_deep_is_refused() -> None:
    depth = 40  # a chain: each inner node's second child is the next one
    feature = ints(0, *([-1, 0] * (depth - 1)), -1, -1)
    n = len(feature)
    with pytest.raises(ValueError, match="at most 32 levels"):
        Branches(ints(n), feature, np.zeros(n), np.zeros(n, dtype=np.int32), 1)


def test_an_ensemble_without_trees_is_its_constant() -> None:
    no, none = ints(), np.zeros(0)
    trees = Trees(no, no, none, no, 2, none, no, np.array([0.5]))
    assert trees.score(np.zeros((3, 2))).tolist() == [[0.5]] * 3
    assert trees.score(np.zeros((1, 2))).tolist() == [[0.5]]
    assert trees.scale == 0.0


# Machines


def sides(count: int = 2) -> dict[str, Any]:
    return {
        "below": -np.ones(count),
        "above": np.ones(count),
        "reach": np.zeros(count),
        "output": np.zeros(count, dtype=np.int32),
        "constant": np.zeros(1),
    }


def planes() -> Planes:
    return Planes(unit=np.ones(3), center=np.zeros(3), spread=np.ones(3), coef=np.ones(8), **sides())


def expansions() -> Expansions:
    return Expansions(
        unit=np.ones(3),
        center=np.zeros(3),
        spread=np.ones(3),
        vectors=np.arange(6.0),
        coef=np.ones(4),
        intercept=np.zeros(2),
        kernel="rbf",
        gamma=0.5,
        degree=3,
        coef0=1.0,
        **sides(),
    )


@pytest.mark.parametrize("sound", [planes(), expansions()])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": np.ones(2)}, "shape"),
        ({"center": np.array([0, 0, np.nan])}, "finite"),
        ({"spread": np.array([1.0, 0.0, 1.0])}, "positive"),
        ({"coef": np.ones(7)}, "shape"),
        ({"coef": np.full(8, 1e200)}, "shape|finite"),
        ({"below": np.ones(1)}, "shape"),
        ({"above": np.array([1.0, np.inf])}, "finite"),
        ({"reach": np.array([-1.0, 0.0])}, "negative"),
        ({"output": ints(0, 1)}, "out of range"),
        ({"constant": np.array([1e101])}, "finite"),
    ],
)
def test_machines_that_are_none_are_refused(sound: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(sound, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"vectors": np.full(6, 1e31)},
        {"vectors": np.ones(7)},
        {"intercept": np.zeros(3)},
        {"kernel": "linear"},
        {"gamma": 0.0},
        {"gamma": math.inf},
        {"gamma": math.nan},
        {"degree": 0},
        {"degree": 11},
        {"coef0": math.nan},
    ],
)
def test_kernels_that_are_none_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|kernel"):
        dataclasses.replace(expansions(), **change)


@pytest.mark.parametrize("stored", [planes(), expansions(), dataclasses.replace(expansions(), kernel="poly")])
def test_extreme_rows_have_finite_scores(stored: Any) -> None:
    rows = np.array([[1.7e308, -1.7e308, np.nan], [5e-324, 0.0, -0.0], [np.inf, -np.inf, 1.0]])
    assert np.isfinite(stored.score(rows)).all()
    extreme = dataclasses.replace(
        stored,
        unit=np.full(3, 1e100),
        spread=np.full(3, 5e-324),
        reach=np.array([5e-324, 0.0]),
        coef=np.full(stored.coef.size, 1e100),
    )
    assert np.isfinite(extreme.score(rows)).all()


@pytest.mark.parametrize("stored", [planes(), expansions(), one_tree()])
def test_rows_of_another_width_are_refused(stored: Any) -> None:
    for shape in ((2, 4), (3,)):
        with pytest.raises(ValueError, match="expected rows of"):
            stored.score(np.zeros(shape))
    assert stored.score(np.zeros((0, stored.n_features))).shape == (0, 1)


def test_a_clipped_share_and_two_sides() -> None:
    votes = Sides(
        np.array([-1.0, -4.0]), np.array([2.0, 3.0]), np.array([0.5, 0.0]), ints(0, 1), np.array([1.0, 0.0])
    )
    values = np.array([[0.25, 0.0], [9.0, 1e-9], [-9.0, -1.0]])
    assert votes.add(values).tolist() == [[2.0, -4.0], [3.0, 3.0], [-1.0, -4.0]]
    assert votes.scale == 4.0
