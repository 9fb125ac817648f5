"""The mixture: its kernels against slow twins, its members, their mixture, the model around it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import estimator_checks_generator

from costboost import CostMatrix, CostSensitiveModel, persistence
from costboost.ensembles.mixtures import Mixture
from costboost.kernels import grove
from costboost.kernels.logistic import logistic_slopes
from costboost.mixture.boosted import Boosted
from costboost.mixture.classifier import MixtureClassifier
from costboost.mixture.forest import Forest
from costboost.mixture.linear import Linear
from costboost.mixture.members import MEMBERS
from costboost.mixture.mixing import Weights, mixing_weights
from costboost.mixture.table import Grown, Table
from tests.costboost import naive_grove

Floats = NDArray[np.float64]


def table_of(seed: int = 0, rows: int = 300) -> tuple[Floats, NDArray[np.int64]]:
    """Numbers with gaps, a column of codes, and labels that need an interaction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[:, 3] = rng.integers(0, 6, rows)
    y = ((X[:, 0] * X[:, 1] > 0.3) | (X[:, 3] == 2)).astype(np.int64)
    X[rng.random(rows) < 0.1, 0] = np.nan
    return X, y


@st.composite
def datasets(draw: st.DrawFn) -> naive_grove.Data:
    rows, columns = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    n_bins = draw(st.lists(st.integers(1, 5), min_size=columns, max_size=columns))
    bins = [draw(st.lists(st.integers(0, last), min_size=rows, max_size=rows)) for last in n_bins]
    g = draw(st.lists(st.integers(-3, 3), min_size=rows, max_size=rows))
    return naive_grove.Data(
        np.array(bins, dtype=np.uint8), n_bins, np.array(g, dtype=np.float64), np.ones(rows)
    )


def shape_of(nodes: list[naive_grove.Node]) -> list[list[int]]:
    return [sorted(node.rows) for node in nodes if node.cut is None]


def leaves_of(grown: Grown, data: naive_grove.Data, rows: list[int]) -> list[list[int]]:
    """Rows by the leaf in which they end, through the kernel that answers."""
    number = Grown(
        grown.feature, grown.cut, grown.missing_above, grown.child, np.arange(float(grown.feature.size))
    )
    out = np.zeros(data.g.size)
    grove.add_answers(
        data.bins, np.array(data.n_bins), number.feature, number.cut, number.missing_above, number.child,
        number.value, np.array(sorted(set(rows)), dtype=np.int32), out,
    )  # fmt: skip
    return [[r for r in sorted(rows) if out[r] == leaf] for leaf in sorted({out[r] for r in rows})]


def total_worth(leaves: list[list[int]], data: naive_grove.Data, ridge: float) -> float:
    return sum(data.worth(rows, ridge) for rows in leaves)


@settings(max_examples=60, deadline=None)
@given(data=datasets(), leaves=st.integers(1, 5), depth=st.integers(1, 3), min_rows=st.integers(1, 3))
def test_growing_by_gain_is_what_a_slow_search_does(
    data: naive_grove.Data, leaves: int, depth: int, min_rows: int
) -> None:
    rows, d = list(range(data.g.size)), len(data.n_bins)
    room, (begin, end) = Grown.room(2 * leaves), np.zeros((2, 2 * leaves), dtype=np.int64)
    order = np.array(rows, dtype=np.int32)
    count = grove.grow_by_gain(
        data.bins, np.array(data.n_bins), np.arange(d), order, data.g, data.h, leaves, depth,
        float(min_rows), 0.0, 0.5, 1e-9, room.feature, room.cut, room.missing_above, room.child, room.value,
        begin, end,
    )  # fmt: skip
    slow = naive_grove.grow_by_gain(
        data, range(d), rows, leaves=leaves, depth=depth, min_rows=min_rows, ridge=0.5
    )
    fast = leaves_of(room.by_level(count, 1.0), data, rows)
    # Equal gains may be taken in another order by sums that were subtracted; what is gained is the same
    # after the first cut, which depends on no order.
    assert total_worth(fast, data, 0.5) >= total_worth([rows], data, 0.5) - 1e-9
    assert (count > 1) == (len(slow) > 1)
    if leaves == 2:
        assert total_worth(fast, data, 0.5) == pytest.approx(total_worth(shape_of(slow), data, 0.5))
    for node in np.flatnonzero(room.feature[:count] < 0):
        own = order[begin[node] : end[node]]
        assert room.value[node] == pytest.approx(data.g[own].sum() / (own.size + 0.5))
        assert count == 1 or own.size >= min_rows


@settings(max_examples=60, deadline=None)
@given(
    data=datasets(), tried=st.integers(1, 3), min_rows=st.integers(1, 3),
    seed=st.integers(0, 2**63 - 1),
)  # fmt: skip
def test_growing_by_chance_draws_what_the_slow_twin_draws(
    data: naive_grove.Data, *, tried: int, min_rows: int, seed: int
) -> None:
    rows = list(range(data.g.size))
    room = Grown.room(2 * len(rows) + 1)
    count = grove.grow_by_chance(
        data.bins, np.array(data.n_bins), tried, np.array(rows, dtype=np.int32), data.g, data.h,
        np.uint64(seed), 4, float(min_rows), 0.0, 0.0, room.feature, room.cut, room.missing_above,
        room.child, room.value,
    )  # fmt: skip
    slow = naive_grove.grow_by_chance(data, tried, rows, seed, depth=4, min_rows=min_rows)
    assert count == len(slow)
    fast = leaves_of(room.first(count, 1.0), data, rows)
    assert sorted(map(tuple, fast)) == sorted(map(tuple, shape_of(slow)))


def test_the_slopes_of_logistic_regression_are_those_of_its_loss() -> None:
    rng = np.random.default_rng(0)
    numbers, labels, weights = rng.normal(size=(20, 2)), (rng.random(20) > 0.5) * 1.0, rng.random(20)
    levels = rng.integers(-1, 2, (20, 1)).astype(np.int32)
    levels[levels >= 0] += 3
    theta, slopes = rng.normal(size=5), np.empty(5)

    def loss(point: Floats) -> float:
        return logistic_slopes(numbers, levels, labels, weights, point, np.empty(5))

    value = logistic_slopes(numbers, levels, labels, weights, theta, slopes)
    score = theta[0] + numbers @ theta[1:3] + np.where(levels[:, 0] >= 0, theta[levels[:, 0]], 0.0)
    expected = log_loss(labels, 1 / (1 + np.exp(-score)), sample_weight=weights, normalize=False)
    assert value == pytest.approx(expected)
    for j in range(5):
        step = np.eye(5)[j] * 1e-6
        assert slopes[j] == pytest.approx((loss(theta + step) - loss(theta - step)) / 2e-6, abs=1e-6)


TREES = [Boosted(), Boosted(leaves=2), Forest()]


@pytest.mark.parametrize("learner", TREES)
def test_a_tree_member_answers_for_values_as_for_bins(learner: Boosted | Forest) -> None:
    X, y = table_of()
    table = Table.of(X, y.astype(float), np.ones(len(y)), [3])
    trees = learner.fit(table, y.astype(float), np.ones(len(y)), 10, np.random.default_rng(0))
    said = trees.score(X)[:, 0]
    alone = [trees.score(X[i : i + 1])[0, 0] for i in range(60)]
    assert said[:60].tolist() == alone
    assert np.corrcoef(said, y)[0, 1] > 0.3
    if isinstance(learner, Forest):
        assert said.min() >= 0
        assert said.max() <= 1 + 1e-12


def test_the_linear_member_is_logistic_regression() -> None:
    X, y = table_of()
    lines = Linear().fit(X, y.astype(float), np.ones(len(y)), [3])
    said = lines.score(X)[:, 0]
    assert log_loss(y, 1 / (1 + np.exp(-said))) < log_loss(y, np.full(len(y), y.mean()))
    assert said[:9].tolist() == [lines.score(X[i : i + 1])[0, 0] for i in range(9)]
    unseen = np.array([[0.0, 0.0, 0.0, 77.0]])
    assert math.isfinite(lines.score(unseen)[0, 0])


def test_weights_find_the_member_that_tells() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=2000)
    labels = (rng.random(2000) < 1 / (1 + np.exp(-truth))).astype(float)
    said = np.stack([truth, rng.normal(size=2000), -truth], axis=1)[:, None, :]
    found = mixing_weights(said, labels[:, None], np.ones(2000))
    assert found.members[0] == pytest.approx(1.0, abs=0.15)
    assert found.members[2] < 0.05
    assert abs(found.members[1]) < 0.1


def test_weights_are_alike_where_a_class_has_few_rows() -> None:
    said = np.random.default_rng(0).normal(size=(500, 1, 4))
    labels = (said[:, :, 0] > 0) * 1.0
    alike = mixing_weights(said, labels, np.ones(500), alike=1e9).members
    assert alike == pytest.approx(np.full(4, alike.mean()), rel=1e-3)
    rare = np.append(np.flatnonzero(labels[:, 0] > 0)[:6], np.flatnonzero(labels[:, 0] == 0))
    few, many = (
        mixing_weights(said[rows], labels[rows], np.ones(len(rows))) for rows in (rare, np.arange(500))
    )
    shares = [found.members[0] / found.members.sum() for found in (few, many)]
    assert shares[0] < shares[1]


def test_members_that_tell_no_more_than_chance_are_left_out() -> None:
    """Of noise one in twenty is taken for knowledge; a weak member that does know something is kept."""
    constant = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        said, labels = rng.normal(size=(300, 1, 4)), (rng.random((300, 1)) < 0.2) * 1.0
        found = mixing_weights(said, labels, np.ones(300))
        if not found.members.any():
            constant += 1
            rate = labels.mean()
            assert found.constant == pytest.approx(math.log(rate / (1 - rate)))
    assert 50 <= constant < 60
    truth = rng.normal(size=600)
    labels = (rng.random(600) < 1 / (1 + np.exp(1.5 - 0.7 * truth))) * 1.0
    said = np.stack([truth, rng.normal(size=600)], axis=1)[:, None, :]
    assert mixing_weights(said, labels[:, None], np.ones(600)).members[0] > 0.4


def test_where_nothing_is_learned_every_row_gets_the_base_rate() -> None:
    X, y = np.random.default_rng(5).normal(size=(120, 3)), np.arange(120) % 4 == 0
    with pytest.warns(UserWarning, match="no member tells the classes apart"):
        model = CostSensitiveModel(costs={"fn": 2, "fp": 1}).fit(X, y)
    assert model.predict_proba(X)[:, 1] == pytest.approx(np.full(120, 0.25))
    assert not model.predict(X).any()
    assert (
        persistence.load(persistence.dump(model)).predict_proba(X).tolist() == model.predict_proba(X).tolist()
    )


def test_a_mixture_adds_what_its_members_say() -> None:
    X, y = table_of()
    model = MixtureClassifier(categorical_features=[3], random_state=0, n_estimators=30).fit(X, y)
    mixture = model.ensemble_
    said = np.column_stack([m.score(X)[:, 0] for m in mixture.members])
    odds = [np.log(s / (1 - s)) if p else s for s, p in zip(said.T, mixture.probability, strict=True)]
    expected = mixture.constant[0] + sum(
        w * np.clip(o, -5, 5) for w, o in zip(mixture.weight, odds, strict=True)
    )
    assert mixture.score(X)[:, 0] == pytest.approx(expected)
    assert Weights(model.weights_, mixture.constant).members.sum() > 0


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_alone_is_scored_as_in_a_batch(classes: int, *, additive: bool) -> None:
    X, y = table_of()
    y = y + (X[:, 2] > 1) * (classes - 2)
    model = MixtureClassifier(
        additive=additive, categorical_features=[3], random_state=0, n_estimators=30
    ).fit(X, y)
    batch = model.decision_function(X)[:20]
    assert batch.tolist() == [model.decision_function(X[i : i + 1])[0].tolist() for i in range(20)]
    assert np.mean(model.predict(X) == y) > 0.75


def test_costs_move_the_vote_and_nothing_else() -> None:
    X, y = table_of()
    plain = MixtureClassifier(random_state=0, n_estimators=30).fit(X, y)
    dear = MixtureClassifier(
        cost_matrix=CostMatrix(cost_fn=20, cost_fp=1), random_state=0, n_estimators=30
    ).fit(X, y)
    assert plain.decision_function(X).tolist() == dear.decision_function(X).tolist()
    assert dear.vote_threshold_ == pytest.approx(-math.log(20))
    assert dear.predict(X).sum() > plain.predict(X).sum()


def test_a_class_of_one_row_weighs_members_evenly() -> None:
    X, y = table_of(rows=40)
    y = np.zeros(40, dtype=int)
    y[7] = 1
    model = MixtureClassifier(random_state=0, n_estimators=30).fit(X, y)
    assert model.weights_ == pytest.approx(np.full(len(model.weights_), 1 / len(model.weights_)))


@pytest.fixture(scope="module")
def fitted() -> tuple[CostSensitiveModel, dict[str, NDArray[np.generic]], NDArray[np.str_]]:
    X, y = table_of(rows=400)
    columns = {
        "a": X[:, 0], "b": X[:, 1], "c": X[:, 2],
        "kind": np.array(["uvwxyz"[int(code)] for code in X[:, 3]]),
    }  # fmt: skip
    labels = np.where(y == 1, "fraud", "legit")
    model = CostSensitiveModel("mixture", costs={"fn": 20, "fp": 1}).fit(columns, labels)
    return model, columns, labels


def test_the_model_weighs_members_on_its_own_folds(
    fitted: tuple[CostSensitiveModel, dict[str, NDArray[np.generic]], NDArray[np.str_]],
) -> None:
    model, columns, labels = fitted
    assert isinstance(model.scorer().ensemble, Mixture)
    assert model.oof_score_.shape == (400,)
    positive = labels == "fraud"
    out_of_fold = log_loss(positive, model.oof_probabilities_[:, list(model.classes_).index("fraud")])
    assert out_of_fold < log_loss(positive, np.full(400, positive.mean()))
    assert (model.predict(columns) == labels).mean() > 0.6


def test_an_artifact_of_the_mixture_predicts_the_same(
    fitted: tuple[CostSensitiveModel, dict[str, NDArray[np.generic]], NDArray[np.str_]],
) -> None:
    model, columns, _ = fitted
    data = persistence.dump(model)
    again = persistence.load(data)
    assert persistence.dump(again) == data
    assert again.predict_proba(columns).tolist() == model.predict_proba(columns).tolist()
    flipped = bytearray(data)
    flipped[-9] ^= 1
    with pytest.raises(persistence.ArtifactError):
        persistence.load(bytes(flipped))


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_rows(
    fitted: tuple[CostSensitiveModel, dict[str, NDArray[np.generic]], NDArray[np.str_]],
) -> None:
    model, columns, labels = fitted
    order = np.random.default_rng(1).permutation(400)
    shuffled = {name: values[order] for name, values in columns.items()}
    other = CostSensitiveModel("mixture", costs={"fn": 20, "fp": 1}, n_jobs=2).fit(shuffled, labels[order])
    assert persistence.dump(other) == persistence.dump(model)


# Trees see drawn rows and columns: a weight of 2 is the row twice on average only.
DRAWN = {"check_sample_weight_equivalence_on_dense_data"}
CASES = [
    pytest.param(instance, check, id=f"{check.func.__name__}-{number}")
    for number, (instance, check) in enumerate(estimator_checks_generator(MixtureClassifier(n_estimators=20)))
    if check.func.__name__ not in {"check_array_api_input", *DRAWN}
]


@pytest.mark.parametrize(("estimator", "check"), CASES)
def test_scikit_learn_check(estimator: MixtureClassifier, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_members_have_names_and_uses() -> None:
    for additive in (False, True):
        assert len([m for m in MEMBERS.values() if additive in m.used]) >= 2
