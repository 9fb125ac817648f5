"""The one decision function: twenty rows worked by hand, its laws, and a row alone against a batch."""

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from costboost.actions import Action, Review
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.decisions import decide, decide_by_label, decide_by_threshold, decide_row
from tests.costboost import naive
from tests.costboost.strategies import cost_matrices, probabilities, row_costs

NONE = float("nan")


class Worked(NamedTuple):
    """One row: probabilities, costs[k][a], the class of each action; then what must come out."""

    p: list[float]
    costs: list[list[float]]
    serves: tuple[int | None, ...]
    decision: int
    label: int
    threshold: float
    expected_cost: list[float]
    positive: int = 1


def card(amount: float, handling: float = 10.0) -> list[list[float]]:
    """Costs of approve, decline for a card payment: a fraud let through costs its amount."""
    return [[0.0, handling], [amount, 0.0]]


# Three reviewers' cases share p = 0.10 on a payment of 500 with handling 10: approve costs 0.1 * 500 = 50,
# decline 0.9 * 10 = 9. A reviewer who is never wrong costs his fee plus the cheaper action, which is 0.
REVIEW = (0, 1, None)

ROWS = {
    # 0.25 * (9 - 0) = 2.25 > 0.75 * (1 - 0) = 0.75, so act; threshold 1 / (1 + 9) = 0.1;
    # leaving costs 0.25 * 9, acting 0.75 * 1.
    "acts above the threshold": Worked([0.75, 0.25], [[0, 1], [9, 0]], (0, 1), 1, 1, 0.1, [2.25, 0.75]),
    # 0.0625 * 9 = 0.5625 > 0.9375 * 1 fails; leaving costs 0.5625, acting 0.9375.
    "leaves below it": Worked([0.9375, 0.0625], [[0, 1], [9, 0]], (0, 1), 0, 0, 0.1, [0.5625, 0.9375]),
    # 0.25 * 3 = 0.75 = 0.75 * 1: nobody gains, so the negative action; threshold 1 / (1 + 3).
    "an exact tie is negative": Worked([0.75, 0.25], [[0, 1], [3, 0]], (0, 1), 0, 0, 0.25, [0.75, 0.75]),
    # The same tie with the positive class named first: the action of class 1 is the negative one now.
    # p(positive) = p_0 = 0.25; fn = 3, fp = 1; 0.75 > 0.75 fails.
    "a tie is negative in either order": Worked(
        [0.25, 0.75], [[0, 3], [1, 0]], (0, 1), 1, 1, 0.25, [0.75, 0.75], positive=0
    ),
    # Nothing is lost if this fraud goes through: 0.5 * (0 - 0) > 0.5 * 10 fails at every p, so no threshold.
    "amount 0": Worked([0.5, 0.5], card(0.0), (0, 1), 0, 0, NONE, [0.0, 5.0]),
    # Stopping this fraud costs more (fee 15) than letting it go (3): 0.9 * (3 - 15) = -10.8 > 0.1 * 5 fails.
    # Leaving costs 0.9 * 3 = 2.7, acting 0.1 * 5 + 0.9 * 15 = 14.
    "fn < tp never pays": Worked([0.1, 0.9], [[0, 5], [3, 15]], (0, 1), 0, 0, NONE, [2.7, 14.0]),
    # The false alarm is the cheaper one for negatives too (fp = 1 < tn = 2): 0.25 * 4 = 1 > 0.75 * -1, act;
    # leaving is never worthwhile, so there is no threshold. Leaving 0.75*2 + 0.25*4 = 2.5, acting 0.75.
    "fp < tn always acts": Worked([0.75, 0.25], [[2, 1], [4, 0]], (0, 1), 1, 1, NONE, [2.5, 0.75]),
    # Negative costs are benefits: a caught one earns 100, a customer served 20. fn - tp = 0 + 100,
    # fp - tn = 5 + 20. 0.25 * 100 = 25 > 0.75 * 25 = 18.75, so act; threshold 25 / 125 = 0.2.
    # Leaving earns 0.75 * 20 = 15, acting 0.25 * 100 - 0.75 * 5 = 21.25.
    "benefits": Worked([0.75, 0.25], [[-20, 5], [0, -100]], (0, 1), 1, 1, 0.2, [-15.0, -21.25]),
    # 2^-30 of 1e12 is 931.3 > 999: fails. Threshold 999 / (1e12 + 999).
    "huge amount, tiny p": Worked(
        [1 - 2**-30, 2**-30],
        card(1e12, 999.0),
        (0, 1),
        0,
        0,
        999 / (999 + 1e12),
        [2**-30 * 1e12, (1 - 2**-30) * 999.0],
    ),
    # The same payment at p = 0.5: 5e11 > 499.5.
    "huge amount, even odds": Worked(
        [0.5, 0.5], card(1e12, 999.0), (0, 1), 1, 1, 999 / (999 + 1e12), [5e11, 499.5]
    ),
    # A false alarm costs nothing, so acting never loses: 0.5 * 4 > 0, and there is nothing to compare p with.
    "a false alarm for nothing": Worked([0.5, 0.5], [[0, 0], [4, 0]], (0, 1), 1, 1, NONE, [2.0, 0.0]),
    # Cents: 0.5 * 0.5 > 0.5 * 0.25; threshold 0.25 / 0.75.
    "small amounts": Worked([0.5, 0.5], [[0, 0.25], [0.5, 0]], (0, 1), 1, 1, 1 / 3, [0.25, 0.125]),
    # p = 0: 0 * 500 > 1 * 10 fails; leaving costs nothing.
    "p = 0": Worked([1.0, 0.0], card(500.0), (0, 1), 0, 0, 10 / 510, [0.0, 10.0]),
    # p = 1: 500 > 0 * 10.
    "p = 1": Worked([0.0, 1.0], card(500.0), (0, 1), 1, 1, 10 / 510, [500.0, 0.0]),
    # Actions listed the other way round: action 0 serves class 1. 0.25 * 9 > 0.75 * 1, so action 0.
    "actions in another order": Worked([0.75, 0.25], [[1, 0], [0, 9]], (1, 0), 0, 1, 0.1, [0.75, 2.25]),
    # Review at fee 3.5 by one who never errs: 3.5 < 9 < 50.
    "review is cheapest": Worked(
        [0.875, 0.125], [[0, 10, 3.5], [500, 0, 3.5]], REVIEW, 2, -1, NONE, [62.5, 8.75, 3.5]
    ),
    # At fee 9 it is not: declining costs 0.875 * 10 = 8.75.
    "review is too dear": Worked(
        [0.875, 0.125], [[0, 10, 9], [500, 0, 9]], REVIEW, 1, 1, NONE, [62.5, 8.75, 9.0]
    ),
    # At fee 8.75 it gains nothing, so nobody is called, though it is listed first.
    "review must gain something": Worked(
        [0.875, 0.125], [[8.75, 0, 10], [8.75, 500, 0]], (None, 0, 1), 2, 1, NONE, [8.75, 62.5, 8.75]
    ),
    # K = 5, unit costs: every wrong decision costs 1, so 1 - p_a; the largest p wins, which is class 3.
    "K = 5 with equal costs": Worked(
        [0.125, 0.125, 0.25, 0.375, 0.125],
        (1 - np.eye(5)).tolist(),
        (0, 1, 2, 3, 4),
        3,
        3,
        NONE,
        [0.875, 0.875, 0.75, 0.625, 0.875],
    ),
    # K = 5, missing class 4 costs 40 and any false word 1: naming class 4 costs 1 - 1/8 = 0.875; any other
    # costs 40/8 = 5 plus 1 for the other three or four: class 0 (p = 1/2) 5 + 3/8 = 5.375.
    "K = 5 with one dear miss": Worked(
        [0.5, 0.125, 0.125, 0.125, 0.125],
        [[0, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 0, 1, 1], [1, 1, 1, 0, 1], [40, 40, 40, 40, 0]],
        (0, 1, 2, 3, 4),
        4,
        4,
        NONE,
        [5.375, 5.75, 5.75, 5.75, 0.875],
    ),
    # K = 5, classes 1 and 3 equally likely and equally dear: the first of the two in action order.
    "K = 5 tie goes to the first": Worked(
        [0.0, 0.5, 0.0, 0.5, 0.0],
        (1 - np.eye(5)).tolist(),
        (4, 3, 2, 1, 0),
        1,
        3,
        NONE,
        # Columns are classes 0..4 here while the actions serve 4..0: column a costs 1 - p_a.
        [1.0, 0.5, 1.0, 0.5, 1.0],
    ),
    # Two actions serve the class fraud: decline (10 if legit, 0 if fraud) and ask for a code (1 / 20).
    # Approve 0.25 * 100 = 25, decline 0.75 * 10 = 7.5, code 0.75 * 1 + 0.25 * 20 = 5.75.
    "two actions serve one class": Worked(
        [0.75, 0.25], [[0, 10, 1], [100, 0, 20]], (0, 1, 1), 2, 1, NONE, [25.0, 7.5, 5.75]
    ),
    # Three classes, two actions: treat serves class 1, also for class 2. Wait 0.25 * 8 + 0.25 * 4 = 3,
    # treat 0.5 * 2 = 1.
    "fewer actions than classes": Worked(
        [0.5, 0.25, 0.25], [[0, 2], [8, 0], [4, 0]], (0, 1), 1, 1, NONE, [3.0, 1.0]
    ),
}


def of(row: Worked, positive: int | None = None):
    chosen = row.positive if positive is None else positive
    return decide(np.array([row.p]), np.array([row.costs], dtype=float), serves=row.serves, positive=chosen)


def same(one, other, rows=slice(None)):
    """Whether two answers are equal to the bit, NaN included."""
    return all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name)[rows], equal_nan=True)
        for f in dataclasses.fields(one)
    )


@pytest.mark.parametrize("name", ROWS)
def test_worked_row(name):
    row = ROWS[name]
    answer = of(row)
    assert answer.decision.tolist() == [row.decision]
    assert answer.label.tolist() == [row.label]
    np.testing.assert_array_equal(answer.threshold, [row.threshold])
    np.testing.assert_allclose(answer.expected_cost, [row.expected_cost], rtol=1e-15)


@pytest.mark.parametrize("name", ROWS)
def test_worked_row_equals_the_naive_twin(name):
    row = ROWS[name]
    assert naive.decide_row(row.p, row.costs, row.serves, row.positive) == row.decision


@pytest.mark.parametrize("name", ROWS)
def test_worked_row_without_arrays(name):
    row, answer = ROWS[name], of(ROWS[name])
    alone = decide_row(row.p, row.costs, serves=row.serves, positive=row.positive)
    assert (alone.decision, alone.label) == (row.decision, row.label)
    assert alone.expected_cost == answer.expected_cost[0].tolist()
    np.testing.assert_array_equal(alone.threshold, answer.threshold[0])
    np.testing.assert_array_equal(alone.thresholds, answer.thresholds[0])
    if row.positive == 1:
        unsaid = decide_row(row.p, row.costs, serves=row.serves)
        assert repr(unsaid) == repr(alone)


@pytest.mark.parametrize("name", ROWS)
def test_constant_costs_decide_as_the_same_costs_per_row(name):
    row = ROWS[name]
    p, costs = np.array([row.p, row.p]), np.array(row.costs, dtype=float)
    constant = decide(p, costs, serves=row.serves, positive=row.positive)
    assert same(constant, decide(p, np.stack([costs, costs]), serves=row.serves, positive=row.positive))


def test_per_class_thresholds_worked_by_hand():
    # Regrets 1, 2 and 4 for whatever is wrong: 1/r = 1, 1/2, 1/4, sum 7/4, so t = 4/7, 2/7, 1/7.
    costs = np.array([[0.0, 1, 1], [2, 0, 2], [4, 4, 0]])
    answer = decide(np.array([[0.5, 0.25, 0.25]]), costs, serves=(0, 1, 2))
    np.testing.assert_allclose(answer.thresholds, [[4 / 7, 2 / 7, 1 / 7]], rtol=1e-15)
    assert answer.thresholds_exact.tolist() == [True]


def test_two_classes_have_the_thresholds_of_the_rule():
    answer = decide(np.array([[0.5, 0.5]]), np.array([[0.0, 10], [500, 0]]), serves=(0, 1))
    assert answer.threshold.tolist() == [10 / 510]
    assert answer.thresholds.tolist() == [[500 / 510, 10 / 510]]
    assert answer.thresholds_exact.tolist() == [True]


@pytest.mark.parametrize(
    ("costs", "serves"),
    [
        ([[0, 1, 2], [2, 0, 2], [4, 4, 0]], (0, 1, 2)),  # class 0: wrong costs 1 or 2
        ([[0, 1, 1], [2, 2, 2], [4, 4, 0]], (0, 1, 2)),  # class 1: wrong costs no more than right
        ([[0, 1, 1], [2, 0, 2], [4, 4, 0]], (0, 1, 1)),  # no action serves class 2
    ],
)
def test_no_per_class_thresholds_where_one_number_per_class_cannot_say_it(costs, serves):
    answer = decide(np.array([[0.5, 0.25, 0.25]]), np.array(costs, dtype=float), serves=serves)
    assert np.isnan(answer.thresholds).all()
    assert not answer.thresholds_exact.any()


def test_thresholds_are_told_row_by_row():
    costs = np.array([[[0.0, 1, 1], [2, 0, 2], [4, 4, 0]], [[0, 1, 2], [2, 0, 2], [4, 4, 0]]])
    answer = decide(np.full((2, 3), 1 / 3), costs, serves=(0, 1, 2))
    assert answer.thresholds_exact.tolist() == [True, False]
    assert np.isnan(answer.thresholds[1]).all()


@given(st.data(), st.integers(2, 5))
def test_a_row_alone_equals_the_same_row_in_a_batch(data, n_classes):
    p = data.draw(probabilities(n_classes))
    n_actions = data.draw(st.integers(1, 6))
    serves = data.draw(
        st.lists(st.none() | st.integers(0, n_classes - 1), min_size=n_actions, max_size=n_actions)
    )
    assume(any(k is not None for k in serves))
    costs = data.draw(row_costs(len(p), n_classes, n_actions))
    batch = decide(p, costs, serves=serves)
    for i in range(len(p)):
        alone = decide(p[i : i + 1], costs[i : i + 1], serves=serves)
        assert same(alone, batch, slice(i, i + 1))
        assert batch.decision[i] == naive.decide_row(p[i].tolist(), costs[i].tolist(), serves)
        expected = [naive.expected_cost(p[i].tolist(), costs[i].tolist(), a) for a in range(n_actions)]
        assert batch.expected_cost[i].tolist() == expected


@given(st.data(), st.integers(2, 4))
def test_the_decision_of_a_row_is_that_of_the_batch(data, n_classes):
    p = data.draw(probabilities(n_classes, max_rows=4))
    n_actions = data.draw(st.integers(1, 4))
    serves = data.draw(
        st.lists(st.none() | st.integers(0, n_classes - 1), min_size=n_actions, max_size=n_actions)
    )
    assume(any(k is not None for k in serves))
    positive = data.draw(st.integers(0, 1)) if n_classes == 2 else None
    costs = data.draw(row_costs(len(p), n_classes, n_actions))
    batch = decide(p, costs, serves=serves, positive=positive)
    for i in range(len(p)):
        alone = decide_row(p[i].tolist(), costs[i].tolist(), serves=serves, positive=positive)
        assert (batch.decision[i], batch.label[i]) == (alone.decision, alone.label)
        assert batch.expected_cost[i].tolist() == alone.expected_cost
        assert np.array_equal(batch.threshold[i], alone.threshold, equal_nan=True)
        assert np.array_equal(batch.thresholds[i], alone.thresholds, equal_nan=True)


def test_large_batches_hold_the_numbers_of_single_rows():
    rng = np.random.default_rng(3)
    for n_classes in (2, 3):
        p = rng.dirichlet(np.ones(n_classes), 100_000)
        costs = rng.exponential(size=(100_000, n_classes, n_classes))
        batch = decide(p, costs, serves=range(n_classes))
        for i in range(0, 100_000, 9973):
            alone = decide(p[i : i + 1], costs[i : i + 1], serves=range(n_classes))
            assert same(alone, batch, slice(i, i + 1))


@given(st.data(), st.integers(2, 4))
def test_a_constant_added_to_a_class_or_a_factor_changes_no_decision(data, n_classes):
    p = data.draw(probabilities(n_classes))
    costs = data.draw(cost_matrices(n_classes)).matrix
    before = decide(p, costs, serves=range(n_classes))
    gap = np.sort(before.expected_cost, axis=1)
    clear = gap[:, 1] - gap[:, 0] > 1e-6 * (1.0 + np.abs(costs).max())
    shift = data.draw(hnp.arrays(np.float64, n_classes, elements=st.floats(-1e3, 1e3)))
    shifted = decide(p, costs + shift[:, None], serves=range(n_classes))
    factor = data.draw(st.floats(1e-3, 1e3))
    scaled = decide(p, costs * factor, serves=range(n_classes))
    np.testing.assert_array_equal(shifted.decision[clear], before.decision[clear])
    np.testing.assert_array_equal(scaled.decision[clear], before.decision[clear])


@given(st.data(), st.integers(2, 4), st.integers(-60, 60))
def test_a_power_of_two_changes_not_even_a_tie(data, n_classes, exponent):
    p = data.draw(probabilities(n_classes))
    costs = data.draw(cost_matrices(n_classes)).matrix
    before, after = (decide(p, c, serves=range(n_classes)) for c in (costs, costs * 2.0**exponent))
    np.testing.assert_array_equal(before.decision, after.decision)
    np.testing.assert_array_equal(before.threshold, after.threshold)
    np.testing.assert_array_equal(before.thresholds, after.thresholds)


@given(probabilities(2), cost_matrices(2))
def test_swapping_the_classes_with_their_costs_swaps_the_decisions(p, matrix):
    costs = matrix.matrix
    before = decide(p, costs, serves=(0, 1), positive=1)
    after = decide(p[:, ::-1], costs[::-1, ::-1], serves=(0, 1), positive=0)
    np.testing.assert_array_equal(1 - before.decision, after.decision)
    np.testing.assert_array_equal(before.threshold, after.threshold)


@given(probabilities(2), cost_matrices(2))
def test_the_threshold_lies_in_the_unit_interval_and_tells_the_decision(p, matrix):
    answer = decide(p, matrix.matrix, serves=(0, 1))
    assert ((answer.threshold >= 0) & (answer.threshold <= 1)).all()
    assert answer.threshold[0] == matrix.threshold()
    clear = np.abs(p[:, 1] - answer.threshold) > 1e-9
    np.testing.assert_array_equal((p[:, 1] > answer.threshold)[clear], (answer.label == 1)[clear])


@given(st.data(), st.integers(2, 5))
def test_equal_costs_choose_the_most_probable_class(data, n_classes):
    p = data.draw(probabilities(n_classes))
    top = np.sort(p, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    answer = decide(p, 7.0 * (1 - np.eye(n_classes)), serves=range(n_classes))
    np.testing.assert_array_equal(answer.label[clear], p.argmax(axis=1)[clear])


@given(st.data(), st.integers(2, 5))
def test_per_class_thresholds_exist_exactly_when_each_class_has_one_regret(data, n_classes):
    p = data.draw(probabilities(n_classes))
    regret = data.draw(st.lists(st.floats(0.01, 1e3), min_size=n_classes, max_size=n_classes))
    costs = np.array(regret)[:, None] * (1 - np.eye(n_classes))
    answer = decide(p, costs, serves=range(n_classes))
    assert answer.thresholds_exact.all()
    np.testing.assert_allclose(answer.thresholds.sum(axis=1), 1.0)
    np.testing.assert_allclose(answer.thresholds[0] * regret, answer.thresholds[0, 0] * regret[0])
    ratio = p / answer.thresholds
    top = np.sort(ratio, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9 * top[:, -1]
    np.testing.assert_array_equal(answer.label[clear], ratio.argmax(axis=1)[clear])
    if n_classes > 2:
        costs[0, 1] *= 1.5
        assert not decide(p, costs, serves=range(n_classes)).thresholds_exact.any()


@given(probabilities(2), cost_matrices(2))
def test_two_classes_agree_with_the_argmin_away_from_ties(p, matrix):
    answer = decide(p, matrix.matrix, serves=(0, 1))
    gap = np.abs(answer.expected_cost[:, 0] - answer.expected_cost[:, 1])
    clear = gap > 1e-9 * (1 + np.abs(matrix.matrix).max())
    np.testing.assert_array_equal(answer.decision[clear], answer.expected_cost.argmin(axis=1)[clear])


def test_a_dearer_miss_never_turns_a_positive_into_a_negative():
    p = np.linspace(0, 1, 101)
    labels = [
        decide(np.column_stack([1 - p, p]), np.array([[0.0, 1], [fn, 0]]), serves=(0, 1)).label
        for fn in (0.5, 1, 9, 1e6)
    ]
    for fewer, more in itertools.pairwise(labels):
        assert (more >= fewer).all()
        assert more.sum() > fewer.sum()


def test_costs_of_a_spec_with_review_decide_by_its_price():
    review = Review(fee=3.5, accuracy=(0.99, 0.95))
    spec = CostSpec.from_actions(
        ("legit", "fraud"),
        ("approve", "decline", Action("review", None)),
        {("fraud", "approve"): CostCell(per={"amount": 1.0}), ("legit", "decline"): 10.0},
        review=review,
    )
    costs = spec.evaluate({"amount": np.array([20.0, 500.0])}, 2)
    # Legit: 3.5 + 0.99 * 0 + 0.01 * 10 = 3.6. Fraud of 20: 3.5 + 0.05 * 20 = 4.5; of 500: 3.5 + 25 = 28.5.
    np.testing.assert_allclose(costs[:, :, 2], [[3.6, 4.5], [3.6, 28.5]])
    # p = 0.1, amount 20: approve 2, review 3.69; 500: approve 50, decline 9, review 3.24 + 2.85 = 6.09.
    answer = decide(np.array([[0.9, 0.1], [0.9, 0.1]]), costs, serves=spec.serves, positive=1)
    assert answer.label.tolist() == [0, -1]
    np.testing.assert_allclose(answer.expected_cost[1], [50.0, 9.0, 6.09])


# Rules from outside


def test_a_threshold_from_outside_is_exclusive_and_kept():
    p = np.array([0.1, 0.2, 0.3])
    answer = decide_by_threshold(
        p, 0.2, np.column_stack([1 - p, p]), CostMatrix(cost_fn=9, cost_fp=1).matrix, serves=(0, 1)
    )
    assert answer.label.tolist() == [0, 0, 1]
    assert answer.threshold.tolist() == [0.2] * 3
    np.testing.assert_allclose(answer.expected_cost[0], [0.9, 0.9])


def test_a_threshold_on_scores_may_be_infinite():
    scores, p = np.array([-3.0, 5.0]), np.array([[0.9, 0.1], [0.1, 0.9]])
    costs = 1 - np.eye(2)
    all_positive = decide_by_threshold(scores, -np.inf, p, costs, serves=(0, 1), positive=0)
    none_positive = decide_by_threshold(scores, np.inf, p, costs, serves=(0, 1), positive=0)
    assert all_positive.label.tolist() == [0, 0]
    assert none_positive.label.tolist() == [1, 1]


def test_a_label_is_served_by_its_cheapest_action():
    row = ROWS["two actions serve one class"]
    answer = decide_by_label(np.array([1]), np.array([row.p]), np.array(row.costs, float), serves=row.serves)
    assert answer.decision.tolist() == [2]
    assert np.isnan(answer.threshold).all()
    assert np.isnan(answer.thresholds).all()
    with pytest.raises(ValueError, match=r"^no action serves"):
        decide_by_label(np.array([0]), np.array([row.p]), np.array(row.costs, float), serves=(1, 1, 1))


def test_a_threshold_needs_two_classes_and_a_number():
    with pytest.raises(ValueError, match="two classes"):
        decide_by_threshold(np.zeros(1), 0.5, np.full((1, 3), 1 / 3), 1 - np.eye(3), serves=(0, 1, 2))
    with pytest.raises(ValueError, match=r"^the threshold must be a number"):
        decide_by_threshold(np.zeros(1), NONE, np.full((1, 2), 0.5), 1 - np.eye(2), serves=(0, 1))


@pytest.mark.parametrize(
    ("p", "costs", "serves", "message"),
    [
        ([0.5, 0.5], np.eye(2), (0, 1), r"shape \(n, K\)"),
        ([[0.5, 0.5]], np.eye(3), (0, 1), "costs must have shape"),
        ([[0.5, 0.5]], np.zeros((2, 2, 2)), (0, 1), "costs must have shape"),
        ([[0.5, 0.6]], np.eye(2), (0, 1), "sum to 1"),
        ([[1.5, -0.5]], np.eye(2), (0, 1), "sum to 1"),
        ([[NONE, 0.5]], np.eye(2), (0, 1), "sum to 1"),
        ([[0.5, 0.5]], np.array([[0, NONE], [1, 0]]), (0, 1), "costs must be finite"),
        ([[0.5, 0.5]], np.array([[0, np.inf], [1, 0]]), (0, 1), "costs must be finite"),
        ([[0.5, 0.5]], np.array([[0, 1e200], [1, 0]]), (0, 1), "costs must be finite"),
        ([[0.5, 0.5]], np.eye(2), (None, None), "must serve a class"),
    ],
)
def test_what_cannot_be_decided_is_refused(p, costs, serves, message):
    with pytest.raises(ValueError, match=message):
        decide(np.array(p), costs, serves=serves)


def test_no_rows_give_no_decisions():
    answer = decide(np.empty((0, 2)), np.empty((0, 2, 2)), serves=(0, 1))
    assert answer.decision.shape == (0,)
    assert answer.expected_cost.shape == (0, 2)
