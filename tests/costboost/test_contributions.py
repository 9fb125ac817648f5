import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.contributions.columns import SourceColumns
from costboost.contributions.reference import ReferenceContributions
from costboost.contributions.steps import StepContributions
from costboost.contributions.tree_paths import TreeContributions
from costboost.ensembles.trees import Trees
from costboost.terms import Terms
from tests.costboost.naive_contributions import shapley, walked
from tests.costboost.test_terms import added_by_hand, random_stumps

#: Five matrix columns made of three columns: the second has three cells.
SOURCES = SourceColumns(np.array([0, 1, 1, 1, 2]), 3)


def random_rows(rng, n, d=5):
    # Few distinct values, so that some equal a cut.
    return np.where(rng.random((n, d)) < 0.15, np.nan, rng.integers(-2, 3, (n, d)) / 2)


def random_trees(rng, n_trees, depth, n_features, n_outputs):
    """Trees level by level; a node splits with chance 0.8 until the depth is reached."""
    nodes, feature, cut = [], [], []
    for _ in range(n_trees):
        start, level = len(feature), 1
        for height in range(depth + 1):
            splits = rng.random(level) < (0.8 if height < depth else 0.0)
            feature += np.where(splits, rng.integers(0, n_features, level), -1).tolist()
            level = 2 * int(splits.sum())
            if not level:
                break
        nodes.append(len(feature) - start)
    inner = np.array(feature) >= 0
    cut = np.where(inner, rng.integers(-2, 3, len(inner)) / 2, 0.0)
    by_subset = inner & (rng.random(len(inner)) < 0.3)
    cut[by_subset] = np.nan
    subsets = rng.integers(-(2**31), 2**31, 8 * int(by_subset.sum()))
    return Trees(
        subsets=subsets.astype(np.int32),
        nodes=np.array(nodes, np.int32),
        feature=np.array(feature, np.int32),
        cut=cut,
        missing_above=np.where(inner, rng.integers(0, 2, len(inner)), 0).astype(np.int32),
        n_features=n_features,
        value=np.where(inner, 0.0, rng.normal(size=len(inner))),
        output=np.where(inner, 0, rng.integers(0, n_outputs, len(inner))).astype(np.int32),
        constant=rng.normal(size=n_outputs),
    )


def additive_stumps(rng, n_stumps, n_outputs):
    stumps = random_stumps(rng, n_stumps, 5, n_outputs)
    X, weight = random_rows(rng, 40), rng.integers(0, 3, 40) + 0.0
    weight[0] = 1.0
    return stumps, X, weight


def additive(stumps, X, weight):
    terms = Terms.of_stumps(**stumps)
    means = StepContributions.background(terms, SOURCES, X, weight).reshape(3, terms.n_outputs)
    return StepContributions(terms, SOURCES, means)


def of_stumps(rng, n_stumps, n_outputs):
    stumps, X, weight = additive_stumps(rng, n_stumps, n_outputs)
    return additive(stumps, X, weight), X, weight


def of_trees(rng, n_trees, depth, n_outputs):
    trees = random_trees(rng, n_trees, depth, 5, n_outputs)
    X, weight = random_rows(rng, 40), rng.integers(0, 3, 40) + 0.0
    weight[0] = 1.0
    return TreeContributions(trees, SOURCES, TreeContributions.background(trees, X, weight)), X, weight


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(1, 3))
def test_steps_say_what_the_terms_add_to_a_score_more_than_on_average(seed, n_terms, n_outputs):
    stumps, X, weight = additive_stumps(np.random.default_rng(seed), n_terms, n_outputs)
    parts = additive(stumps, X, weight)
    added, scores = parts.contributions(X), parts.terms.score(X)
    assert np.allclose(parts.baseline + added.sum(axis=1), scores, rtol=0, atol=1e-12)
    assert np.allclose(parts.baseline, np.average(scores, axis=0, weights=weight), rtol=0, atol=1e-12)
    for source in range(3):
        alone = np.zeros(scores.shape)
        for i, row in enumerate(X):
            for (feature, output), value in added_by_hand(stumps, row).items():
                alone[i, output] += value * (SOURCES.of[feature] == source)
        assert np.allclose(added[:, source], alone - np.average(alone, axis=0, weights=weight), atol=1e-12)
        assert np.array_equal(parts.effect(source, X), added[:, source])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 4), st.integers(1, 3))
@settings(max_examples=40)
def test_trees_share_out_as_all_orders_of_the_columns_do(seed, n_trees, depth, n_outputs):
    parts, X, weight = of_trees(np.random.default_rng(seed), n_trees, depth, n_outputs)
    added, scores = parts.contributions(X), parts.trees.score(X)
    assert np.allclose(parts.baseline + added.sum(axis=1), scores, rtol=0, atol=1e-12)
    assert np.allclose(parts.baseline, np.average(scores, axis=0, weights=weight), rtol=0, atol=1e-12)
    for row, own in zip(X[:3], added[:3], strict=True):
        worth = shapley(lambda s, row=row: walked(parts.trees, parts.share, SOURCES.of, row, s), 3)
        assert np.allclose(own, worth, rtol=0, atol=1e-12)


def test_long_paths_of_many_columns_are_exact():
    rng = np.random.default_rng(7)
    sources = SourceColumns(np.arange(7), 7)
    trees = random_trees(rng, 2, 8, 7, 1)
    X = random_rows(rng, 300, 7)
    parts = TreeContributions(trees, sources, TreeContributions.background(trees, X, np.ones(300)))
    assert parts._paths.player.shape[1] >= 6
    worth = shapley(lambda s: walked(trees, parts.share, sources.of, X[0], s), 7)
    assert np.allclose(parts.contributions(X[:1])[0], worth, rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_trees_of_one_cut_share_out_as_steps_do(seed, n_terms):
    rng = np.random.default_rng(seed)
    stumps, X, weight = additive_stumps(rng, n_terms, 1)
    sides = rng.integers(0, 2, n_terms)
    stumps |= {"missing": np.where(sides, stumps["above"], stumps["below"]), "constant": np.zeros(1)}
    terms = Terms.of_stumps(**stumps)
    trees = Trees(
        nodes=np.full(n_terms, 3, np.int32),
        feature=np.column_stack([stumps["feature"], np.full((n_terms, 2), -1)]).ravel().astype(np.int32),
        cut=np.column_stack([stumps["cut"], np.zeros((n_terms, 2))]).ravel(),
        missing_above=np.column_stack([sides, np.zeros((n_terms, 2))]).ravel().astype(np.int32),
        n_features=5,
        value=np.column_stack([np.zeros(n_terms), stumps["below"], stumps["above"]]).ravel(),
        output=np.zeros(3 * n_terms, np.int32),
        constant=np.zeros(1),
    )
    means = StepContributions.background(terms, SOURCES, X, weight).reshape(3, 1)
    share = TreeContributions.background(trees, X, weight)
    steps, paths = StepContributions(terms, SOURCES, means), TreeContributions(trees, SOURCES, share)
    assert np.allclose(steps.baseline, paths.baseline, rtol=0, atol=1e-12)
    assert np.allclose(steps.contributions(X), paths.contributions(X), rtol=0, atol=1e-12)


def by_reference(rng, sources, n_outputs=2):
    """Any score will do: trees asked from outside."""
    d = len(sources.of)
    trees, X = random_trees(rng, 5, 3, d, n_outputs), random_rows(rng, 40, d)
    marked = np.zeros(sources.count, dtype=np.bool_)
    typical = ReferenceContributions.background(sources, marked, X, np.ones(40), coded=False)
    return ReferenceContributions(trees, sources, typical), X


def test_few_columns_are_exchanged_in_all_orders():
    parts, X = by_reference(np.random.default_rng(0), SourceColumns(np.array([0, 1, 2, 2]), 3))
    assert parts.method == "reference_shapley"

    def worth(coalition):
        mixed = np.where(np.isin(parts.sources.of, list(coalition)), X[0], parts.typical)
        return parts.ensemble.score(mixed[None])[0]

    assert np.allclose(parts.contributions(X)[0], shapley(worth, 3), rtol=0, atol=1e-12)


def test_many_columns_are_exchanged_in_some_orders_and_still_add_up():
    parts, X = by_reference(np.random.default_rng(1), SourceColumns(np.arange(6), 6))
    assert parts.method == "reference_permutations"
    added = parts.contributions(X)
    assert np.allclose(parts.baseline + added.sum(axis=1), parts.ensemble.score(X), rtol=0, atol=1e-12)
    assert np.array_equal(added, parts.contributions(X))


@pytest.mark.parametrize("kind", ["steps", "trees", "reference"])
@pytest.mark.parametrize("seed", range(5))
def test_a_row_alone_is_explained_as_in_a_batch(kind, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    if kind == "steps":
        parts, X, _ = of_stumps(rng, 30, 3)
    elif kind == "trees":
        parts, X, _ = of_trees(rng, 20, 3, 3)
    else:
        parts, X = by_reference(rng, SourceColumns(np.arange(6), 6))
    whole = parts.contributions(X)
    for i in range(len(X)):
        assert parts.contributions(X[i : i + 1]).tobytes() == whole[i].tobytes()
    module = {"steps": "step_tables", "trees": "contributions.tree_paths"}
    monkeypatch.setattr(f"costboost.{module.get(kind, 'contributions.reference')}._BLOCK", 64)
    assert parts.contributions(X).tobytes() == whole.tobytes()


@pytest.mark.parametrize("kind", ["steps", "trees"])
def test_an_integer_weight_counts_as_so_many_rows(kind):
    rng = np.random.default_rng(3)
    parts, X, weight = of_stumps(rng, 30, 2) if kind == "steps" else of_trees(rng, 5, 3, 2)
    ensemble, family = (
        (parts.terms, StepContributions) if kind == "steps" else (parts.trees, TreeContributions)
    )
    arguments = (ensemble, SOURCES) if kind == "steps" else (ensemble,)
    copies = np.repeat(X, weight.astype(int), axis=0)
    one = family.background(*arguments, X, weight)
    assert one.tobytes() == family.background(*arguments, copies, np.ones(len(copies))).tobytes()
    assert one.tobytes() == family.background(*arguments, X, weight * 7).tobytes()


def test_the_typical_row_holds_medians_and_most_frequent_categories():
    X = np.array([[1.0, 1, 0, np.nan], [2.0, 0, 1, np.nan], [9.0, 0, 1, np.nan], [np.nan, 1, 0, np.nan]])
    sources = SourceColumns(np.array([0, 1, 1, 2]), 3)
    marked = np.array([False, True, False])
    typical = ReferenceContributions.background(sources, marked, X, np.ones(4), coded=False)
    assert np.array_equal(typical, [2.0, 1.0, 0.0, np.nan], equal_nan=True)
    typical = ReferenceContributions.background(
        sources, marked, X, np.array([0.0, 1.0, 2.0, 1.0]), coded=False
    )
    assert np.array_equal(typical, [9.0, 0.0, 1.0, np.nan], equal_nan=True)


def test_codes_of_categories_are_typical_by_how_often_they_occur():
    X = np.array([[3.0, 0.5], [3.0, np.nan], [1.0, 2.0], [np.nan, 2.0]])
    arguments = (SourceColumns(np.arange(2), 2), np.array([True, False]), X)
    typical = ReferenceContributions.background(*arguments, np.ones(4), coded=True)
    assert typical.tolist() == [3.0, 2.0]
    typical = ReferenceContributions.background(*arguments, np.array([1.0, 1.0, 1.0, 9.0]), coded=True)
    assert np.array_equal(typical, [np.nan, 2.0], equal_nan=True)
