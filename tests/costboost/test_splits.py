"""Splits: each row once, groups whole, time forwards, and nothing depends on the order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.row_order import canonical_order
from costboost.splits import Split, folds, holdout
from tests.costboost import naive
from tests.costboost.strategies import labelled_rows

KINDS = ("stratified", "group", "time", "predefined")
NAN = float("nan")


def options(rows, order=None):
    """What a split of any kind may ask for; the predefined parts follow from the contents."""
    names = np.array(["train", "test", "0", "1", "2"], dtype=object)
    parts = names[(rows["id"] % 5).astype(int)]
    return {"groups": rows["groups"], "times": rows["times"], "parts": parts, "order": order}


def order_of(rows):
    return canonical_order(rows["X"], rows["y"], rows["groups"], rows["times"], rows["id"])


def attempt(function, *arguments, **keywords):
    """The result, or the message of the refusal."""
    try:
        return function(*arguments, **keywords)
    except ValueError as refusal:
        return str(refusal)


# Order of contents


@given(labelled_rows(), st.randoms(use_true_random=False))
def test_the_order_depends_on_contents_alone(rows, random):
    mixed = np.array(random.sample(range(len(rows["y"])), len(rows["y"])))
    order = order_of(rows)
    again = order_of({name: values[mixed] for name, values in rows.items()})
    assert sorted(order.tolist()) == list(range(len(order)))
    np.testing.assert_array_equal(mixed[again], order)


@given(labelled_rows(), st.sampled_from([0.5, 3.0, 1000.0]))
def test_extra_columns_only_break_ties(rows, factor):
    order = canonical_order(rows["X"], rows["y"], rows["id"])
    np.testing.assert_array_equal(canonical_order(rows["X"], rows["y"], rows["id"] * factor), order)
    distinct = np.unique(rows["X"], axis=0, return_inverse=True)[1].ravel()
    np.testing.assert_array_equal(distinct[order], distinct[canonical_order(rows["X"], rows["y"])])


def test_numbers_that_are_equal_have_one_place():
    X = np.array([[0.0, NAN], [1.0, 2.0], [3.0, 4.0]])
    same = np.array([[-0.0, -NAN], [1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(
        canonical_order(X, np.zeros(3, int)), canonical_order(same, np.zeros(3, int))
    )


def test_columns_are_told_apart():
    # Swapped values, one changed bit, another column: all different keys, so their order is no tie.
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, np.nextafter(2.0, 3.0)], [2.0, 2.0]])
    order = canonical_order(X, np.zeros(4, int))
    mixed = canonical_order(X[::-1], np.zeros(4, int))
    np.testing.assert_array_equal(3 - mixed, order)


def test_columns_of_a_table_are_taken_by_name():
    columns = {
        "city": np.array(["Ulm", None, "Köln", "None", "\ud800"], dtype=object),
        "amount": np.array([1.0, 2.0, 3.0, 2.0, NAN]),
        "old": np.array([True, False, True, False, True]),
    }
    y = np.zeros(5, int)
    order = canonical_order(columns, y)
    np.testing.assert_array_equal(canonical_order(dict(reversed(columns.items())), y), order)
    back = canonical_order({name: values[::-1] for name, values in columns.items()}, y)
    np.testing.assert_array_equal(4 - back, order)  # also: None is not the text "None"


def test_text_may_break_ties():
    X, y = np.zeros((3, 1)), np.zeros(3, int)
    for dtype in (object, str):
        names = np.array(["c", "a", "b"], dtype=dtype)
        order, back = canonical_order(X, y, names), canonical_order(X, y, names[::-1])
        np.testing.assert_array_equal(names[order], names[::-1][back])


def test_the_order_is_that_of_the_naive_keys():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(50, 3)) * rng.choice([1.0, 0.1, 1e300], size=(50, 3))
    X[rng.random((50, 3)) < 0.2] = NAN
    text = np.array(rng.choice(["x", "Ä", "", "None", None], 50), dtype=object)
    keys = [naive.row_key(row) for row in X.tolist()]
    order = canonical_order(X, np.zeros(50, int))
    assert order.tolist() == sorted(range(50), key=lambda i: (keys[i], i))
    keys = [naive.row_key([word, *row]) for word, row in zip(text, X[:, :1].tolist(), strict=True)]
    order = canonical_order({"b": X[:, 0], "a": text}, np.zeros(50, int))
    assert order.tolist() == sorted(range(50), key=lambda i: (keys[i], i))


# All kinds


@given(labelled_rows(), st.sampled_from(KINDS), st.integers(0, 2**40), st.randoms(use_true_random=False))
def test_permuting_the_rows_permutes_the_split(rows, kind, seed, random):
    split = Split(kind=kind, folds=3)
    mixed = np.array(random.sample(range(len(rows["y"])), len(rows["y"])))
    moved = {name: values[mixed] for name, values in rows.items()}
    for divide in (
        lambda r: [holdout(split, r["y"], seed=seed, **options(r, order_of(r)))],
        lambda r: folds(split, r["y"], seed=seed, **options(r, order_of(r))),
    ):
        before, after = attempt(divide, rows), attempt(divide, moved)
        if isinstance(before, str):
            assert before == after
            continue
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(rows["id"][a], moved["id"][b])


@given(labelled_rows(n_classes=3), st.sampled_from(KINDS), st.floats(0.05, 0.95), st.integers(0, 99))
def test_a_holdout_parts_all_rows_and_trains_on_every_class(rows, kind, fraction, seed):
    parts = attempt(holdout, Split(kind=kind, test_fraction=fraction), rows["y"], seed=seed, **options(rows))
    if isinstance(parts, str):
        assert kind != "stratified"
        return
    train, test = parts
    assert sorted([*train, *test]) == list(range(len(rows["y"])))
    assert len(train) > 0
    assert len(test) > 0
    if kind in ("stratified", "group"):
        assert set(rows["y"][train]) == {0, 1, 2}


@given(labelled_rows(n_classes=3), st.sampled_from(KINDS), st.integers(2, 6), st.integers(0, 99))
def test_folds_validate_each_row_once_and_never_train_on_it(rows, kind, n_folds, seed):
    given_parts = options(rows)
    divided = attempt(folds, Split(kind=kind, folds=n_folds), rows["y"], seed=seed, **given_parts)
    if isinstance(divided, str):
        assert kind != "stratified"
        return
    assert 1 <= len(divided) <= n_folds if kind != "predefined" else 3
    validated = [row for _, valid in divided for row in valid]
    assert len(validated) == len(set(validated))
    for train, valid in divided:
        assert not set(train) & set(valid)
        assert set(rows["y"][train]) == {0, 1, 2}
    if kind in ("stratified", "group"):
        assert sorted(validated) == list(range(len(rows["y"])))
        assert all(len(train) + len(valid) == len(rows["y"]) for train, valid in divided)
    if kind == "predefined":
        assert {given_parts["parts"][row] for row in validated} == {"0", "1", "2"}
        assert all("test" not in given_parts["parts"][train] for train, _ in divided)


def test_a_seed_gives_another_split_and_the_same_one_again():
    y = np.arange(100) % 2
    first, again, other = (holdout(Split(), y, seed=seed)[1].tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert folds(Split(), y, seed=1)[0][1].tolist() != folds(Split(), y, seed=2)[0][1].tolist()


@pytest.mark.parametrize("kind", ["group", "time", "predefined"])
@pytest.mark.parametrize("divide", [holdout, folds])
def test_a_split_says_which_column_it_needs(kind, divide):
    with pytest.raises(ValueError, match="needs the"):
        divide(Split(kind=kind), np.array([0, 0, 1, 1]))


@pytest.mark.parametrize("divide", [holdout, folds])
@pytest.mark.parametrize(
    ("y", "message"), [([0, 0, 0], "two classes"), ([0, 0, 1], "two rows of each class")]
)
def test_too_few_rows_of_a_class_are_refused(divide, y, message):
    with pytest.raises(ValueError, match=message):
        divide(Split(), np.array(y))


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "random"},
        {"test_fraction": 0.0},
        {"test_fraction": 1.0},
        {"test_fraction": NAN},
        {"folds": 1},
    ],
)
def test_a_split_that_cannot_be_is_refused(fields):
    with pytest.raises(ValueError, match=next(iter(fields)) if "kind" not in fields else "a split is one of"):
        Split(**fields)


# Stratified


@given(labelled_rows(n_classes=3), st.integers(2, 6), st.floats(0.1, 0.9))
def test_every_part_has_its_share_of_every_class(rows, n_folds, fraction):
    y = rows["y"]
    counts = np.bincount(y)
    divided = folds(Split(folds=n_folds), y)
    assert len(divided) == min(n_folds, counts.min())
    per_fold = np.array([np.bincount(y[valid], minlength=3) for _, valid in divided])
    assert (np.ptp(per_fold, axis=0) <= 1).all()
    assert np.ptp(per_fold.sum(axis=1)) <= 1
    _, test = holdout(Split(test_fraction=fraction), y)
    expected = np.clip(np.rint(counts * fraction), 1, counts - 1)
    np.testing.assert_array_equal(np.bincount(y[test], minlength=3), expected)


# Groups


@given(labelled_rows(), st.integers(2, 5), st.booleans())
def test_groups_stay_whole(rows, n_folds, named):
    groups = rows["groups"]
    given_groups = np.array([f"g{g}" for g in groups], dtype=object) if named else groups
    parts = attempt(holdout, Split(kind="group"), rows["y"], groups=given_groups)
    divided = attempt(folds, Split(kind="group", folds=n_folds), rows["y"], groups=given_groups)
    pairs = ([] if isinstance(parts, str) else [parts]) + ([] if isinstance(divided, str) else divided)
    for one, other in pairs:
        assert not set(groups[one]) & set(groups[other])


def test_many_groups_are_parted_evenly():
    rng = np.random.default_rng(0)
    y, groups = (rng.random(20_000) < 0.05).astype(int), rng.integers(0, 4000, 20_000)
    _, test = holdout(Split(kind="group", test_fraction=0.3), y, groups=groups)
    assert len(test) == pytest.approx(6000, rel=0.01)
    assert y[test].sum() == pytest.approx(0.3 * y.sum(), rel=0.02)
    sizes = np.array(
        [[len(valid), y[valid].sum()] for _, valid in folds(Split(kind="group"), y, groups=groups)]
    )
    np.testing.assert_allclose(sizes, np.tile([4000, y.sum() / 5], (5, 1)), rtol=0.02)


def test_few_groups_give_fewer_folds_and_every_training_part_both_classes():
    y = np.array([0, 0, 0, 1, 0, 0, 1, 0, 0, 0])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    divided = folds(Split(kind="group", folds=5), y, groups=groups)
    assert len(divided) == 2
    assert all(y[train].sum() == 1 and y[valid].sum() == 1 for train, valid in divided)
    train, test = holdout(Split(kind="group"), y, groups=groups)
    assert y[train].sum() == y[test].sum() == 1


def test_a_class_in_one_group_cannot_be_split():
    with pytest.raises(ValueError, match="at least two groups"):
        holdout(Split(kind="group"), np.array([0, 0, 1, 1]), groups=np.array([0, 1, 1, 1]))


# Time


@given(labelled_rows(), st.integers(2, 5), st.floats(0.1, 0.9))
def test_time_never_runs_backwards(rows, n_folds, fraction):
    times = rows["times"]
    parts = attempt(holdout, Split(kind="time", test_fraction=fraction), rows["y"], times=times)
    divided = attempt(folds, Split(kind="time", folds=n_folds), rows["y"], times=times)
    pairs = ([] if isinstance(parts, str) else [parts]) + ([] if isinstance(divided, str) else divided)
    for train, later in pairs:
        assert times[train].max() < times[later].min()
    if not isinstance(divided, str):
        first = divided[0][0]
        validated = np.concatenate([valid for _, valid in divided])
        np.testing.assert_array_equal(np.sort([*first, *validated]), np.arange(len(times)))


def test_the_latest_rows_are_the_test_part():
    y, times = np.tile([0, 1], 10), np.arange(20.0)[::-1]
    train, test = holdout(Split(kind="time"), y, times=times)
    assert times[test].tolist() == [16, 17, 18, 19]
    assert times[train].tolist() == list(range(16))
    blocks = folds(Split(kind="time", folds=4), y, times=times)
    assert [times[valid].tolist() for _, valid in blocks] == [
        [4, 5, 6, 7],
        [8, 9, 10, 11],
        [12, 13, 14, 15],
        [16, 17, 18, 19],
    ]


@pytest.mark.parametrize(
    ("times", "message"),
    [([1.0, 1, 1, 1], "at least two times|before the last time"), ([1.0, 2, NAN, 3], "a time in every row")],
)
@pytest.mark.parametrize("divide", [holdout, folds])
def test_times_that_part_nothing_are_refused(times, message, divide):
    with pytest.raises(ValueError, match=message):
        divide(Split(kind="time"), np.array([0, 1, 0, 1]), times=np.array(times))


def test_a_class_that_comes_last_cannot_be_foretold():
    with pytest.raises(ValueError, match="before the last time"):
        folds(Split(kind="time"), np.array([0, 0, 0, 1, 1]), times=np.array([0.0, 1, 2, 3, 3]))


# Predefined


def test_a_column_may_say_train_and_test():
    y, parts = np.array([0, 1, 0, 1, 0, 1]), np.array(["train", "Train ", "train", "train", "test", "TEST"])
    train, test = holdout(Split(kind="predefined"), y, parts=parts)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5])
    divided = folds(Split(kind="predefined"), y, parts=parts)
    assert sorted(row for _, valid in divided for row in valid) == [0, 1, 2, 3]
    assert len(divided) == 2


@pytest.mark.parametrize("dtype", [float, int, str, object])
def test_a_column_may_number_the_folds_and_the_last_is_the_test_part(dtype):
    y, parts = np.tile([0, 1], 4), np.array([1, 1, 2, 2, 3, 3, 4, 4]).astype(dtype)
    train, test = holdout(Split(kind="predefined"), y, parts=parts)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3, 4, 5], [6, 7])
    divided = folds(Split(kind="predefined"), y[train], parts=parts[train])
    assert [valid.tolist() for _, valid in divided] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["train", "test", "train", "dev"], "fold numbers only"),
        (["train", "test", None, "test"], "fold numbers only"),
        (["train"] * 4, "all rows in one part"),
        (["test"] * 4, "all rows in one part"),
        (["1"] * 4, "all rows in one part"),
    ],
)
def test_other_parts_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        holdout(Split(kind="predefined"), np.array([0, 0, 1, 1]), parts=np.array(parts, dtype=object))


@pytest.mark.parametrize(
    ("parts", "message"), [(["1", "1", "2", "2"], "no rows to train on"), (["1"] * 4, "at least two")]
)
def test_numbered_folds_must_leave_something_to_train_on(parts, message):
    with pytest.raises(ValueError, match=message):
        folds(Split(kind="predefined"), np.array([0, 0, 1, 1]), parts=np.array(parts))
