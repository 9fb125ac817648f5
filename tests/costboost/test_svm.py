"""The weighted SVM: worked example, twins, laws, extremes."""

import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from costboost.learners.svm import WeightedSVM
from costboost.learners.svm_prepared import PreparedSVM
from costboost.learners.svm_solve import Task, descend_gram, descend_rows
from costboost.learners.weak import Labels, Sample
from tests.costboost.naive_svm import exact, kernel, kernel_objective, objective, stochastic

# Worked example: rows with a constant column, D = [.4, .2, .2, .2], n_- = n_+ so that mu = 1, v = n D mu.
POINTS = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0]])
ROWS = np.hstack([POINTS, np.ones((4, 1))])
SIGN = np.array([1.0, 1.0, -1.0, -1.0])
IMPORTANCE = 4 * np.array([0.4, 0.2, 0.2, 0.2])
TASK = Task(SIGN, IMPORTANCE, 0.1, 1.0)
INDICES = np.array([[0, 2, 1, 3], [1, 0, 3, 2]])

KERNELS = ("linear", "rbf", "poly")


def table(n=120, d=4, seed=0, positives=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < positives
    y[:2] = [True, False]
    X = rng.normal(size=(n, d)) * [1.0, 5.0, 0.2, 30.0][:d] + 0.8 * y[:, None] + [0.0, 100.0, 0.0, -3.0][:d]
    return X, y.astype(int)


def round_weights(n, seed=1):
    weights = np.exp(np.random.default_rng(seed).normal(size=n))
    return weights * n / weights.sum()


def labels_of(y, positive=1):
    return Labels(np.asarray(y, dtype=np.intp), np.array([0, 1]), positive)


# ---- the worked example


@pytest.mark.parametrize(
    ("epochs", "average", "expected"),
    [
        (1, False, [0.33901863, 0.12713198, 0.08475466]),
        (2, False, [0.49511030, 0.18566636, 0.12377757]),
        (2, True, [0.31658001, 0.11871750, 0.07914500]),
    ],
)
def test_svrg_of_the_worked_example(epochs, average, expected):
    w = descend_rows(ROWS, TASK, 0.1, INDICES[:epochs], average=average, reduced=True)
    assert w == pytest.approx(expected, abs=5e-9)


def test_objective_step_and_exact_minimum_of_the_worked_example():
    w = descend_rows(ROWS, TASK, 0.1, INDICES, average=False, reduced=True)
    assert TASK.objective(ROWS @ w, w @ w) == pytest.approx(2.05067144, abs=5e-9)
    assert TASK.step((ROWS**2).sum(axis=1)) == pytest.approx(0.42283298, abs=5e-9)
    svm = WeightedSVM(lambda1=0.1, lambda2=1.0, p=0.5, standardize=False)
    svm.fit(POINTS, SIGN, sample_weight=IMPORTANCE)
    assert [*svm.coef_, svm.intercept_] == pytest.approx([1.2, 0.4, 0.0], abs=1e-12)
    assert svm.objective_ == pytest.approx(0.368, abs=1e-12)


def test_steps_over_a_kernel_matrix_are_the_steps_over_rows():
    for average in (False, True):
        w = descend_rows(ROWS, TASK, 0.1, INDICES, average=average, reduced=True)
        for gram, shift in ((ROWS @ ROWS.T, 0.0), (POINTS @ POINTS.T, 1.0)):
            a = descend_gram(gram, shift, TASK, 0.1, INDICES, average=average, reduced=True)
            assert ROWS.T @ a == pytest.approx(w, abs=1e-14)


# ---- twins


@pytest.mark.parametrize("reduced", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_stochastic_solvers_equal_their_twin(reduced, average):
    rng = np.random.default_rng(3)
    rows, sign, v = rng.normal(size=(12, 11)), np.where(rng.random(12) < 0.4, 1.0, -1.0), rng.random(12)
    indices = rng.integers(0, 12, size=(3, 24))
    options = {"average": average, "reduced": reduced}
    twin = stochastic(rows.tolist(), sign.tolist(), v.tolist(), 0.2, 0.7, 0.3, indices.tolist(), **options)
    assert descend_rows(rows, Task(sign, v, 0.2, 0.7), 0.3, indices, **options) == pytest.approx(twin)
    a = descend_gram(rows @ rows.T, 0.0, Task(sign, v, 0.2, 0.7), 0.3, indices, **options)
    assert rows.T @ a == pytest.approx(twin)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (8, 20)])
def test_exact_solver_equals_its_twin(n, d):
    rng = np.random.default_rng(4)
    X, y, v = rng.normal(size=(n, d)), np.arange(n) % 3 == 0, rng.random(n)
    svm = WeightedSVM(lambda1=0.1, lambda2=0.8, standardize=False).fit(X, y, sample_weight=v)
    rows, sign = np.hstack([X, np.ones((n, 1))]), np.where(y, 1.0, -1.0)
    w = exact(rows.tolist(), sign.tolist(), v.tolist(), 0.1, 0.8, 3000)
    assert [*svm.coef_, svm.intercept_] == pytest.approx(w, abs=1e-7)
    assert svm.objective_ == pytest.approx(
        objective([*svm.coef_, svm.intercept_], rows.tolist(), sign.tolist(), v.tolist(), 0.1, 0.8)
    )


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_kernel_machine_is_the_sum_it_says(name):
    X, y = np.random.default_rng(5).normal(size=(25, 3)), np.arange(25) % 3 // 2
    svm = WeightedSVM(name, gamma=0.3, lambda1=0.1, standardize=False, fit_intercept=False).fit(X, y)
    gram = [[kernel(a, b, name, 0.3) for b in X.tolist()] for a in X.tolist()]
    scores = [sum(c * k for c, k in zip(svm.coef_, row, strict=True)) for row in gram]
    assert svm.decision_function(X) == pytest.approx(scores, rel=1e-9, abs=1e-9)
    sign, v = np.where(y == 1, 1.0, -1.0).tolist(), [1.0] * 25
    assert svm.objective_ == pytest.approx(kernel_objective(svm.coef_.tolist(), gram, sign, v, 0.1, 1.0))


# ---- solvers agree


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("solver", "allowed"), [("svrg", 0.05), ("sgd", 0.2)])
def test_stochastic_objective_comes_near_the_exact_one(name, solver, allowed):
    X, y = table()
    weights = round_weights(120)
    options = {"lambda1": 0.01, "lambda2": 0.1, "p": 0.3, "random_state": 0}
    least = WeightedSVM(name, **options).fit(X, y, sample_weight=weights)
    assert least.gap_ <= 1e-10
    svm = WeightedSVM(name, solver=solver, n_epochs=60, **options).fit(X, y, sample_weight=weights)
    excess = svm.objective_ - least.objective_
    assert -1e-9 <= excess <= allowed * abs(least.objective_)


@pytest.mark.parametrize("lambda2", [0.01, 0.1, 1.0, 30.0])
def test_objective_is_that_of_liblinear(lambda2):
    X, y = table(80, 3)
    svm = WeightedSVM(lambda2=lambda2).fit(X, y)
    rows = np.hstack([svm.machine_.scaler.transform(X), np.ones((80, 1))])
    peer = LinearSVC(loss="hinge", C=lambda2, fit_intercept=False, tol=1e-9, max_iter=10**6, random_state=0)
    w = peer.fit(rows, y).coef_[0]
    sign = np.where(y == 1, 1.0, -1.0)
    value = 0.5 * w @ w + lambda2 * np.maximum(0, 1 - sign * (rows @ w)).sum()
    assert svm.objective_ == pytest.approx(value, rel=1e-7)
    assert svm.objective_ <= value * (1 + 1e-11)


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_objective_is_that_of_libsvm_where_the_kernel_holds_the_constant(name):
    X, y = table(80, 3)
    svm = WeightedSVM(name, lambda2=0.7).fit(X, y)
    gram = svm.machine_.kernel.gram(svm.machine_.vectors) + 1.0
    # libsvm has a free offset, whose dual has one constraint more, so ours can only be lower or equal there.
    peer = SVC(kernel="precomputed", C=0.7, tol=1e-8).fit(gram, y)
    b = np.zeros(80)
    b[peer.support_] = peer.dual_coef_[0]
    assert np.abs(b).sum() - 0.5 * b @ gram @ b <= svm.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_kernel_of_products_is_the_linear_machine(seed):
    X, y = table(60, 3, seed)
    weights = round_weights(60, seed)
    linear = WeightedSVM(lambda1=0.05, lambda2=0.4).fit(X, y, sample_weight=weights)
    scaler = linear.machine_.scaler
    products = WeightedSVM("poly", degree=1, gamma=1.0, coef0=0.0, lambda1=0.05, lambda2=0.4)
    products.fit(X, y, sample_weight=weights)
    given = WeightedSVM("precomputed", lambda1=0.05, lambda2=0.4)
    given.fit(scaler.transform(X) @ scaler.transform(X).T, y, sample_weight=weights)
    assert products.decision_function(X) == pytest.approx(linear.decision_function(X), abs=1e-7)
    assert given.objective_ == pytest.approx(linear.objective_, rel=1e-9)


def test_precomputed_kernel_is_the_kernel():
    X, y = table(60)
    rbf = WeightedSVM("rbf").fit(X, y)
    rows = rbf.machine_.scaler.transform(X)
    gram = rbf.machine_.kernel.gram(rows)
    given = WeightedSVM("precomputed").fit(gram, y)
    assert np.array_equal(given.decision_function(gram), rbf.decision_function(X))


def test_landmarks_at_all_rows_are_the_kernel():
    X, y = table(150)
    whole = WeightedSVM("rbf").fit(X, y)
    landmarks = WeightedSVM("rbf", exact_rows=100, nystroem_components=150, random_state=0).fit(X, y)
    assert landmarks.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    assert landmarks.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-6)


def test_fewer_landmarks_come_near_the_kernel_and_repeated_rows_are_no_landmarks():
    X, y = table(200)
    X, y = np.vstack([X, X]), np.hstack([y, y])
    whole = WeightedSVM("rbf", gamma=0.05).fit(X, y)
    few = WeightedSVM("rbf", gamma=0.05, exact_rows=10, nystroem_components=300, random_state=0).fit(X, y)
    assert len(few.coef_) < 200
    assert few.objective_ == pytest.approx(whole.objective_, rel=1e-3)


@pytest.mark.parametrize("lambda2", [1.0, 10.0])
def test_more_rows_than_pairs_fit_reach_the_same_minimum(lambda2):
    X, y = table(2500)
    svm = WeightedSVM(lambda2=lambda2).fit(X, y, sample_weight=round_weights(2500))
    assert svm.gap_ <= 1e-10
    near = WeightedSVM(lambda2=lambda2, tol=1e-3).fit(X, y, sample_weight=round_weights(2500))
    assert svm.objective_ <= near.objective_ * (1 + 1e-10)
    assert near.objective_ <= svm.objective_ * (1 + 1.1e-3)


def test_large_lambda1_turns_to_the_weighted_mean_difference():
    X, y = table()
    weights = round_weights(120)
    svm = WeightedSVM(lambda1=1e6, lambda2=1.0, fit_intercept=False).fit(X, y, sample_weight=weights)
    rows = svm.machine_.scaler.transform(X)
    difference = rows.T @ (weights * np.where(y == 1, 1.0, -1.0))
    cosine = svm.coef_ @ difference / np.linalg.norm(svm.coef_) / np.linalg.norm(difference)
    assert cosine == pytest.approx(1.0, abs=1e-9)


# ---- laws


@pytest.mark.parametrize("name", KERNELS)
def test_weight_two_is_the_row_twice(name):
    X, y = table(40)
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    weights[7] = 0.0
    rows = np.repeat(np.arange(40), weights.astype(int))
    weighted = WeightedSVM(name, lambda1=0.1, lambda2=0.5).fit(X, y, sample_weight=weights)
    repeated = WeightedSVM(name, lambda1=0.1, lambda2=0.5).fit(X[rows], y[rows])
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X), rel=1e-6, abs=1e-7)


def test_class_balance_follows_p():
    X, y = table(100, positives=0.2)
    n_positive = int(y.sum())
    ratio = ((100 - n_positive) / n_positive) ** 0.5
    balanced = WeightedSVM(p=0.5, standardize=False, lambda2=0.01).fit(X, y)
    by_hand = WeightedSVM(standardize=False, lambda2=0.01)
    by_hand.fit(X, y, sample_weight=np.where(y == 1, ratio, 1 / ratio))
    assert balanced.decision_function(X) == pytest.approx(by_hand.decision_function(X), abs=1e-9)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("exact_rows", [4000, 10])
def test_a_row_alone_equals_the_row_in_a_batch(name, exact_rows):
    X, y = table(90)
    svm = WeightedSVM(name, exact_rows=exact_rows, nystroem_components=40, random_state=0).fit(X, y)
    batch = svm.decision_function(X)
    alone = np.concatenate([svm.decision_function(row[None]) for row in X])
    assert np.array_equal(alone, batch)
    assert np.array_equal(svm.decision_function(X[::-1][::2]), batch[::-1][::2])
    assert np.array_equal(svm.decision_function(np.asfortranarray(X)), batch)


def test_scale_and_place_of_columns_do_not_matter():
    X, y = table()
    svm = WeightedSVM().fit(X, y)
    moved = X * [1024.0, 0.125, 2.0**-80, 2.0**90]
    assert np.array_equal(clone(svm).fit(moved, y).decision_function(moved), svm.decision_function(X))


def test_dual_draws_nothing_and_the_others_follow_their_seed():
    X, y = table()
    first = WeightedSVM(random_state=0).fit(X, y).decision_function(X)
    assert np.array_equal(WeightedSVM(random_state=1).fit(X, y).decision_function(X), first)
    svrg = [WeightedSVM(solver="svrg", random_state=s).fit(X, y).decision_function(X) for s in (0, 0, 1)]
    assert np.array_equal(svrg[0], svrg[1])
    assert not np.array_equal(svrg[0], svrg[2])


def test_zero_score_is_negative():
    svm = WeightedSVM(lambda2=0.0).fit(POINTS, ["yes", "yes", "no", "no"])
    assert np.array_equal(svm.decision_function(POINTS), np.zeros(4))
    assert svm.predict(POINTS).tolist() == ["no"] * 4


# ---- rounds


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("exact_rows", [4000, 50])
def test_prepared_rounds_equal_cold_ones_and_their_own_estimators(name, exact_rows):
    X, y = table()
    options = {"lambda2": 0.5, "exact_rows": exact_rows, "nystroem_components": 60, "random_state": 0}
    estimator = WeightedSVM(name, **options)
    prepared = PreparedSVM(estimator, X, np.ones(120))
    for seed in range(4):
        weights = round_weights(120, seed)
        warm = prepared.fit(Sample(weights), labels_of(y), np.random.default_rng(0))
        cold = PreparedSVM(estimator, X, np.ones(120)).fit(
            Sample(weights), labels_of(y), np.random.default_rng(0)
        )
        assert warm.estimator.objective_ == pytest.approx(cold.estimator.objective_, rel=1e-9)
        scores = warm.estimator.decision_function(X)
        assert scores == pytest.approx(cold.estimator.decision_function(X), abs=1e-5)
        assert np.array_equal(warm.response, np.where(scores > 0, 1.0, -1.0))
        assert warm.estimator.gap_ <= 1e-9


def test_prepared_response_turns_with_the_positive_class():
    X, y = table()
    hypotheses = [
        PreparedSVM(WeightedSVM(), X, np.ones(120), decision=decision).fit(
            Sample(np.ones(120)), labels_of(y, positive), np.random.default_rng(0)
        )
        for positive in (0, 1)
        for decision in (False, True)
    ]
    sign0, real0, sign1, real1 = (h.response for h in hypotheses)
    assert np.array_equal(sign0, -sign1)
    assert np.array_equal(real0, -real1)
    assert np.array_equal(np.sign(real1), sign1)
    assert np.abs(real1).max() == 1.0
    scores = hypotheses[3].estimator.decision_function(X)
    assert np.array_equal(real1, scores / hypotheses[3].scale)


def test_prepared_rows_drawn_twice_weigh_twice():
    X, y = table()
    drawn = np.random.default_rng(0).integers(0, 120, size=120)
    counted = np.bincount(drawn, minlength=120).astype(float)
    shown, summed = (
        PreparedSVM(WeightedSVM(), X, np.ones(120)).fit(sample, labels_of(y), np.random.default_rng(0))
        for sample in (Sample(np.ones(120), drawn), Sample(counted))
    )
    assert shown.estimator.decision_function(X) == pytest.approx(summed.estimator.decision_function(X))


def test_machines_of_one_kernel_share_their_rows():
    X, y = table()
    prepared = PreparedSVM(WeightedSVM("rbf"), X, np.ones(120))
    one, two = (
        prepared.fit(Sample(round_weights(120, s)), labels_of(y), np.random.default_rng(0)) for s in (0, 1)
    )
    assert one.estimator.machine_.vectors is two.estimator.machine_.vectors


# ---- extremes


def extreme_tables():
    X, y = table(60)
    one = np.zeros(60, dtype=int)
    one[17] = 1
    yield "one positive", X, one, None
    yield "weights near zero", X, y, np.full(60, 1e-300)
    mixed = np.logspace(-12, 3, 60)
    yield "weights far apart", X, y, mixed
    yield "constant columns", np.hstack([X, np.full((60, 2), 7e15)]), y, None
    yield "only constant columns", np.full((60, 2), 3.0), y, None
    yield "equal columns", np.hstack([X, X, X]), y, None
    yield "huge values", X * 1e300, y, None
    yield "tiny values", X * 1e-310, y, None
    yield "separable", np.where(y == 1, 1.0, -1.0)[:, None] * np.ones((60, 3)), y, None
    yield "one class without weight", X, y, np.where(y == 1, 0.0, 1.0)
    yield "more columns than rows", np.random.default_rng(0).normal(size=(60, 400)), y, None


@pytest.mark.parametrize("case", list(extreme_tables()), ids=lambda case: case[0])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("solver", ["dual", "svrg"])
def test_extremes_stay_finite(case, name, solver):
    _, X, y, weights = case
    svm = WeightedSVM(name, solver=solver, p=0.5, lambda2=1.0, random_state=0, n_epochs=5)
    svm.fit(X, y, sample_weight=weights)
    for rows in (X, np.full((1, X.shape[1]), 1.7e308), np.full((1, X.shape[1]), -1.7e308)):
        assert np.isfinite(svm.decision_function(rows)).all()
    assert np.isfinite(svm.objective_)
    assert solver != "dual" or svm.gap_ <= 1e-6


@pytest.mark.parametrize("ratio", [1e-9, 1e9])
def test_cost_ratios_stay_exact(ratio):
    X, y = table()
    weights = np.where(y == 1, ratio, 1.0)
    svm = WeightedSVM().fit(X, y, sample_weight=weights * 120 / weights.sum())
    assert svm.gap_ <= 1e-6
    assert set(svm.predict(X)) == {int(ratio > 1)}


def test_all_negative_corner_is_certain():
    # So few positives at so small a lambda2 that w = (0, ..., 0, -1): every negative has margin exactly 1.
    X, y = table(2200, positives=0.02)
    svm = WeightedSVM(lambda2=0.002).fit(X, y)
    assert svm.intercept_ == pytest.approx(-1.0, abs=1e-6)
    assert svm.gap_ <= 1e-9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lambda2": -1.0}, "lambda2"),
        ({"p": 2.0}, "p "),
        ({"kernel": "sigmoid"}, "kernel"),
        ({"eta": 0.0}, "eta"),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        WeightedSVM(**wrong).fit(POINTS, SIGN)


@pytest.mark.parametrize("y", [[1, 1, 1, 1], [0, 1, 2, 0], [0.5, 0.1, 0.2, 0.3]])
def test_targets_must_be_two_classes(y):
    with pytest.raises(ValueError, match=r"class|label type"):
        WeightedSVM().fit(POINTS, y)


def test_giving_up_early_warns():
    X, y = table(2500)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        WeightedSVM(lambda2=100.0, max_iter=8).fit(X, y)


def checks():
    """scikit-learn's own, but arrays of other libraries, for which numpy must be loaded in another way."""
    for svm in (
        WeightedSVM(),
        WeightedSVM(lambda1=0.1, lambda2=1.0, p=0.5, fit_intercept=False, standardize=False),
        WeightedSVM("rbf"),
        WeightedSVM("poly", degree=2),
        WeightedSVM("precomputed"),
    ):
        for estimator, check in estimator_checks_generator(svm):
            name = getattr(check, "func", check).__name__
            if name != "check_array_api_input":
                yield pytest.param(estimator, check, id=f"{svm.kernel}-{svm.p}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ---- speed


def cpu(action):
    start = time.process_time()
    answer = action()
    return time.process_time() - start, answer


@pytest.mark.slow
def test_cpu_against_liblinear_at_the_same_gap(capsys):
    rng = np.random.default_rng(0)
    y = (rng.random(45_000) < 0.1).astype(int)
    X = rng.normal(size=(45_000, 50)) + 0.25 * y[:, None] * rng.normal(size=50)
    least = WeightedSVM(tol=1e-9).fit(X, y)
    rows = np.hstack([least.machine_.scaler.transform(X), np.ones((45_000, 1))])
    sign = np.where(y == 1, 1.0, -1.0)

    def peer_gap(passes):
        svc = LinearSVC(loss="hinge", C=0.1, fit_intercept=False, tol=1e-12, max_iter=passes, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            spent, _ = cpu(lambda: svc.fit(rows, y))
        w = svc.coef_[0]
        return spent, (0.5 * w @ w + 0.1 * np.maximum(0, 1 - sign * (rows @ w)).sum()) / least.objective_ - 1

    peers = (peer_gap(passes) for passes in (10, 20, 40, 80, 160, 320, 640))
    theirs, their_gap = next(((s, g) for s, g in peers if g <= 1e-3), (np.inf, np.inf))
    prepared = PreparedSVM(WeightedSVM(tol=1e-3), X, np.ones(45_000))
    rounds = [
        cpu(lambda w=w: prepared.fit(Sample(w), labels_of(y), rng))
        for w in (np.ones(45_000), np.ones(45_000) + 0.1 * rng.random(45_000))
    ]
    with capsys.disabled():
        print(
            f"\nliblinear {theirs:.3f} s (gap {their_gap:.1e}); ours "
            + ", then ".join(f"{spent:.3f} s (gap {h.estimator.gap_:.1e})" for spent, h in rounds)
        )
    assert all(h.estimator.gap_ <= 1e-3 for _, h in rounds)
