"""Categories that a tree parts by subsets of their codes: against the slow twin, in laws, and in a model."""

import gzip
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone

from costboost import persistence
from costboost.columns import typed_columns
from costboost.cost_specs import CostSpec
from costboost.ensembles.subsets import pack, place, places, unpack
from costboost.explain import Explainer
from costboost.learners.tree import HistogramTree, PreparedTree
from costboost.learners.weak import Labels, Sample
from costboost.model import CostSensitiveModel
from costboost.persistence import ArtifactError, dump, load, load_scorer
from costboost.registry import make
from costboost.splits import Split
from tests.costboost.naive_tree import (
    NaiveNode,
    goes_above,
    level_by_level,
    masses_of,
    naive_tree,
    purity,
)

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
GERMAN = Path(__file__).parents[2] / "demo" / "data" / "german_credit.csv.gz"
COSTS = CostSpec.binary(5.0, 1.0, classes=("0", "1"))


@st.composite
def coded_rows(draw: st.DrawFn, n_classes: int) -> Rows:
    """Two columns of categories, some of one share, and one of numbers."""
    n = draw(st.integers(n_classes, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.choice(255, draw(st.integers(1, 8)), replace=False)
    X = np.column_stack([rng.choice(codes, (n, 2)), rng.integers(0, 3, n)]).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    weights = rng.integers(0, 9, n) / 8.0
    weights[:n_classes] += 1.0
    return X, y, weights


def coded_tree(**params: Any) -> HistogramTree:
    return HistogramTree(categorical_features=[0, 1], **params)


def assert_same_tree(tree: HistogramTree, rows: Rows, n_classes: int, **limits: Any) -> None:
    X, y, weights = (part[rows[2] > 0] for part in rows)
    added = Fraction(tree.smoothing) * sum(map(Fraction, weights))
    root = naive_tree(
        X,
        y,
        weights,
        tree.max_depth,
        n_classes=n_classes,
        categories=frozenset({0, 1}),
        added=added,
        **limits,
    )
    expected = level_by_level(root)
    assert tree.tree_.feature.tolist() == [node.column for node in expected]
    assert tree.tree_.missing_above.tolist() == [int(node.missing_above) for node in expected]
    cuts = [np.nan if isinstance(node.cut, frozenset) else node.cut for node in expected]
    assert np.array_equal(tree.tree_.cut, cuts, equal_nan=True)
    masses = np.array([[float(m) for m in node.masses] for node in expected])
    shares = (masses + float(added) / n_classes) / (masses.sum(axis=1, keepdims=True) + float(added))
    np.testing.assert_allclose(tree.frequencies_, shares, rtol=1e-12)
    members = iter(tree.tree_.members)
    assert_same_subsets(
        root, X, y, weights, {id(n): next(members) for n in expected if isinstance(n.cut, frozenset)}
    )


def assert_same_subsets(
    node: NaiveNode, X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any], members: dict[int, NDArray[Any]]
) -> None:
    """Codes of a node as in its set; all other places on its heavier side."""
    if node.children is None:
        return
    if isinstance(node.cut, frozenset):
        column = X[:, node.column]
        known = {int(code) for code in column[~np.isnan(column)]}
        heavier = sum(
            Fraction(w) * (1 if v in node.cut else -1) for v, w in zip(column, weights, strict=True) if v == v
        )
        expected = [p in node.cut if p in known else heavier > 0 for p in range(256)]
        assert members[id(node)].tolist() == expected
    above = goes_above(X[:, node.column], node.cut, node.missing_above)
    for child, side in zip(node.children, (~above, above), strict=True):
        assert_same_subsets(child, X[side], y[side], weights[side], members)


# The tree


@settings(max_examples=80)
@given(coded_rows(2), st.integers(1, 3), st.sampled_from([0.0, 0.001, 0.25]))
def test_two_classes_are_parted_as_the_slow_twin_does(rows: Rows, depth: int, smoothing: float) -> None:
    assert_same_tree(coded_tree(max_depth=depth, smoothing=smoothing).fit(*rows), rows, 2)


@settings(max_examples=40)
@given(coded_rows(3), st.integers(1, 3), st.sampled_from([0.0, 0.25]))
def test_three_classes_are_parted_as_the_slow_twin_does(rows: Rows, depth: int, smoothing: float) -> None:
    assert_same_tree(coded_tree(max_depth=depth, smoothing=smoothing).fit(*rows), rows, 3)


@settings(max_examples=40)
@given(coded_rows(2), st.integers(1, 5), st.sampled_from([0.0, 0.25]))
def test_sides_keep_enough_rows_and_weight(rows: Rows, min_rows: int, share: float) -> None:
    tree = coded_tree(min_samples_leaf=min_rows, min_weight_leaf=share, smoothing=0.0).fit(*rows)
    min_mass = Fraction(share) * sum(map(Fraction, rows[2]))
    assert_same_tree(tree, rows, 2, min_rows=min_rows, min_mass=min_mass)


@settings(max_examples=40)
@given(coded_rows(2))
def test_no_subset_of_two_classes_is_purer(rows: Rows) -> None:
    """Every subset is tried, missing values on either side."""
    X, y, weights = (part[rows[2] > 0] for part in rows)
    X = X[:, :1]
    tree = HistogramTree(max_depth=1, smoothing=0.0, categorical_features=[0]).fit(X, y, weights)
    codes = sorted(set(X[~np.isnan(X)].tolist()))
    best = purity(masses_of(y, weights, 2))
    for chosen in product((False, True), repeat=len(codes)):
        subset = frozenset(code for code, inside in zip(codes, chosen, strict=True) if inside)
        for missing_above in (False, True):
            above = goes_above(X[:, 0], subset, missing_above)
            best = max(best, sum(purity(masses_of(y[s], weights[s], 2)) for s in (above, ~above)))
    (leaves,) = tree.tree_.leaves(X)
    found = sum(purity(masses_of(y[leaves == k], weights[leaves == k], 2)) for k in set(leaves.tolist()))
    assert float(best - found) <= 1e-11 * float(weights.sum())


@given(coded_rows(2), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.001]))
def test_codes_are_names_and_rows_have_no_order(rows: Rows, seed: int, smoothing: float) -> None:
    X, y, weights = rows
    rng = np.random.default_rng(seed)
    names, order = rng.permutation(255).astype(float), rng.permutation(len(y))
    renamed = X.copy()
    for j in (0, 1):
        known = ~np.isnan(X[:, j])
        renamed[known, j] = names[X[known, j].astype(int)]
    one = coded_tree(smoothing=smoothing).fit(X, y, weights)
    other = coded_tree(smoothing=smoothing).fit(renamed[order], y[order], weights[order])
    assert one.predict_proba(X).tobytes() == other.predict_proba(renamed).tobytes()
    assert one.tree_.feature.tobytes() == other.tree_.feature.tobytes()


@given(coded_rows(3))
def test_an_integer_weight_is_that_many_copies(rows: Rows) -> None:
    X, y, weights = rows
    counts = np.rint(8 * weights).astype(int)
    one = coded_tree().fit(X, y, counts)
    other = coded_tree().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert one.tree_.subsets.tolist() == other.tree_.subsets.tolist()
    seven = coded_tree().fit(X, y, 7 * counts)
    assert one.tree_.subsets.tolist() == seven.tree_.subsets.tolist()
    np.testing.assert_allclose(one.frequencies_, other.frequencies_, rtol=1e-12)


@given(coded_rows(2), st.sampled_from(["sign", "proba"]))
def test_training_rows_are_answered_as_the_fitted_tree_does(rows: Rows, response: Any) -> None:
    X, y, weights = rows
    learner = PreparedTree.of(coded_tree(), X, np.ones(len(y)), response)
    found = learner.fit(Sample(weights), Labels(y, np.array(["a", "b"])), np.random.default_rng(0))
    shares = 2.0 * found.estimator.predict_proba(X)[:, 1] - 1.0
    named = np.where(found.estimator.predict(X) == "b", 1.0, -1.0)
    assert found.response.tobytes() == (shares if response == "proba" else named).tobytes()


def test_a_subset_by_hand_and_what_it_does_not_know() -> None:
    X = np.array([[7.0], [7.0], [2.0], [2.0], [9.0], [0.0], [0.0]])
    tree = HistogramTree(max_depth=1, categorical_features=[0]).fit(X, [1, 1, 0, 0, 1, 0, 0])
    assert np.isnan(tree.tree_.cut[0])
    assert tree.predict([[7.0], [9.0], [2.0], [0.0]]).tolist() == [1, 1, 0, 0]
    # Four rows lie below and three above, so what the node never saw lies below.
    assert tree.predict([[1.0], [254.0], [255.0], [1e300], [-1.0], [np.nan]]).tolist() == [0] * 6
    heavy = clone(tree).fit(X, [1, 1, 0, 0, 1, 0, 0], [2, 2, 1, 1, 2, 1, 1])
    assert heavy.predict([[1.0], [1e300], [-1.0], [np.nan]]).tolist() == [1] * 4


def test_categories_that_are_all_missing_or_one_are_leaves() -> None:
    for column in (np.full((4, 1), np.nan), np.full((4, 1), 3.0)):
        tree = HistogramTree(categorical_features=[0]).fit(column, [0, 1, 0, 1])
        assert tree.tree_.feature.tolist() == [-1]
    some = HistogramTree(categorical_features=[0]).fit([[np.nan], [np.nan], [3.0], [5.0]], [0, 0, 1, 1])
    assert some.predict([[np.nan], [3.0], [5.0]]).tolist() == [0, 1, 1]


@pytest.mark.parametrize("value", [-1.0, 255.0, 0.5, 1e9])
def test_what_is_no_code_is_refused(value: float) -> None:
    tree = HistogramTree(categorical_features=[1])
    X = np.array([[0.0, 0.0], [0.0, value]])
    with pytest.raises(ValueError, match="column 1 holds categories: only whole numbers from 0 to 254"):
        tree.fit(X, [0, 1])
    with pytest.raises(ValueError, match="column 1 holds categories"):
        PreparedTree.of(tree, X, np.ones(2), "sign")
    with pytest.raises(ValueError, match="there are 2 columns, but categories in"):
        HistogramTree(categorical_features=[2]).fit(X, [0, 1])


# The stored form


def test_bits_of_a_subset() -> None:
    rng = np.random.default_rng(0)
    subsets = rng.random((5, 256)) < 0.5
    words = pack(subsets)
    assert words.dtype == np.int32
    assert (unpack(words) == subsets).all()
    only = np.zeros((1, 256), dtype=np.bool_)
    only[0, [0, 33]] = True
    assert pack(only).tolist() == [1, 2, 0, 0, 0, 0, 0, 0]
    values = [0.0, -0.0, 254.0, 254.9, 255.0, -1e-9, 1e300, -1e300, np.inf]
    assert [place(v) for v in values] == places(np.array(values)).tolist() == [0, 0, 254, 254, *[255] * 5]
    assert places(np.array([np.nan])).tolist() == [255]


def test_one_row_few_rows_and_many_rows_are_scored_alike() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 30, (900, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.isin(X[:, 0], [1, 5, 9, 20]) ^ (X[:, 2] > 14)).astype(int)
    y ^= rng.random(900) < 0.1
    learner = HistogramTree(categorical_features=[0, 1])
    trees = make("adaboost", {"n_estimators": 10, "estimator": learner}).fit(X, y).ensemble_
    assert trees.members.shape[0] > 5
    fresh = np.vstack([X, rng.uniform(-300, 300, (200, 3)), np.full((1, 3), 1e300)])
    whole = trees.score(fresh)
    assert whole.tobytes() == np.vstack([trees.score(row[None]) for row in fresh]).tobytes()
    few = np.vstack([trees.score(fresh[start : start + 100]) for start in range(0, len(fresh), 100)])
    assert whole.tobytes() == few.tobytes()
    assert trees.score(X).tobytes() == trees.score(np.asfortranarray(X)).tobytes()


# The model


def table(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    shop = np.array([f"s{i}" for i in rng.integers(0, 12, n)], dtype=object)
    amount = np.round(rng.lognormal(3, 1, n), 2)
    y = (rng.random(n) < np.where(np.isin(shop, ["s1", "s4", "s7"]), 0.8, 0.15)).astype(int)
    shop[rng.random(n) < 0.1] = None
    return pd.DataFrame({"shop": shop, "amount": amount, "void": np.full(n, None, dtype=object)}), y


def tree_model(**params: Any) -> CostSensitiveModel:
    booster = make("cgada", {"n_estimators": 6, "estimator": {"name": "tree", "max_depth": 2} | params})
    return CostSensitiveModel(booster, costs=COSTS, split=Split(folds=3))


def assert_explained(model: CostSensitiveModel, X: pd.DataFrame) -> None:
    """One exact entry per column of the table; number and score are those of the model."""
    found = Explainer(model.scorer()).explain(typed_columns(X, model.column_types_)[0])
    assert found.method == "tree_shapley"
    assert found.contributions.shape == X.shape
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.number, atol=1e-9)
    slope, intercept = Explainer(model.scorer()).line or (0.0, 0.0)
    np.testing.assert_allclose(found.number, slope * model.decide(X).scores.score + intercept, atol=1e-9)


TYPES: dict[str, Any] = {"shop": "category", "amount": "number", "void": "category"}


def test_a_model_over_trees_learns_codes_and_one_over_stumps_cells() -> None:
    X, y = table()
    model = tree_model().fit(X, y, types=TYPES)
    assert [cell.kind for cell in model.encoder_.cells] == ["value", "code", "code"]
    assert model.booster_.estimator.categorical_features == [1, 2]
    assert model.estimator.estimator == {"name": "tree", "max_depth": 2}
    assert model.scorer().ensemble.members.shape[0] > 0
    stumps = CostSensitiveModel("cgada", costs=COSTS).fit(X, y, types=TYPES)
    assert {cell.kind for cell in stumps.encoder_.cells} == {"value", "category", "missing"}


def test_a_model_is_told_categories_by_types_alone() -> None:
    X, y = table()
    booster = make("cgada", {"estimator": HistogramTree(categorical_features=[1])})
    with pytest.raises(ValueError, match="categorical_features follow from the types"):
        CostSensitiveModel(booster, costs=COSTS).fit(X, y, types=TYPES)


def test_the_names_of_categories_and_the_order_of_columns_and_rows_change_nothing() -> None:
    X, y = table()
    model = tree_model().fit(X, y, types=TYPES)
    rng = np.random.default_rng(3)
    names = dict(zip([f"s{i}" for i in range(12)], rng.permutation(12).astype(str), strict=True))
    renamed = X.assign(shop=[names.get(shop) for shop in X["shop"]])[["void", "shop", "amount"]]
    # Folds follow from the contents of rows, names among them: the ensemble is what must stay.
    other = tree_model().fit(renamed, y, types=TYPES)
    assert np.array_equal(model.decision_function(X), other.decision_function(renamed))
    order = rng.permutation(len(y))
    shuffled = tree_model().fit(renamed.iloc[order], y[order], types=TYPES)
    assert dump(shuffled) == dump(other)


def test_unseen_and_missing_categories_are_answered() -> None:
    X, y = table()
    model = tree_model().fit(X, y, types=TYPES)
    fresh = pd.DataFrame(
        {
            "shop": np.array(["new", "other", None], dtype=object),
            "amount": [3.0] * 3,
            "void": ["x", None, "y"],
        }
    )
    scores = model.decision_function(fresh)
    assert np.isfinite(scores).all()
    assert scores[0] == scores[1]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_model_survives_as_bytes_and_explains_itself(seed: int) -> None:
    X, y = table(seed=seed)
    model = tree_model().fit(X, y, types=TYPES)
    data = dump(model)
    loaded = load(data)
    assert dump(loaded) == data
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert dump(loaded.fit(X, y, types=TYPES)) == data
    assert_explained(model, X.iloc[:20])


def test_forged_subsets_are_refused() -> None:
    X, y = table()
    header, arrays = persistence._verified(dump(tree_model().fit(X, y, types=TYPES)))
    plain = dump(tree_model().fit(X[["amount"]], y))
    without, numbers = persistence._verified(plain)
    assert "subsets" not in numbers
    one = next(i for i, cut in enumerate(arrays["cut"]) if np.isnan(cut))
    cut = arrays["cut"].copy()
    cut[one] = 0.5
    forged = [
        (header, arrays | {"subsets": arrays["subsets"][:-8]}),
        (header, arrays | {"subsets": np.resize(arrays["subsets"], len(arrays["subsets"]) + 1)}),
        (header, arrays | {"cut": cut}),
        (header, {name: array for name, array in arrays.items() if name != "subsets"}),
        (header, arrays | {"subsets": arrays["subsets"].astype(np.float64)}),
        (without, numbers | {"subsets": np.empty(0, dtype=np.int32)}),
        (without, numbers | {"subsets": np.zeros(8, dtype=np.int32)}),
    ]
    for said, written in forged:
        for read in (load, load_scorer):
            with pytest.raises(ArtifactError):
                read(persistence._signed(said, written))


def test_german_credit_end_to_end() -> None:
    with gzip.open(GERMAN, "rt") as file:
        frame = pd.read_csv(file)
    X = frame.drop(columns=["cost_fn", "cost_fp", "cost_tp", "cost_tn", "label"])
    y = frame["label"].to_numpy()
    booster = make("cgada", {"n_estimators": 20, "estimator": {"name": "tree", "max_depth": 2}})
    model = CostSensitiveModel(booster, costs=COSTS, split=Split(folds=3)).fit(X, y)
    assert model.encoder_.n_features == X.shape[1]
    assert model.scorer().ensemble.members.shape[0] > 0
    decided = model.decide(X).decisions.label
    cost = 5 * ((y == 1) & (decided == 0)).sum() + ((y == 0) & (decided == 1)).sum()
    assert cost < 0.75 * min((y == 0).sum(), 5 * (y == 1).sum())
    assert_explained(model, X.iloc[:5])
    assert load(dump(model)).predict(X).tolist() == model.predict(X).tolist()
