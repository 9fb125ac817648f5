from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.terms import Terms

#: Values that a careless comparison gets wrong.
HOSTILE = np.array(
    [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 0.1, 1 / 3, 2.0]
)


def random_stumps(
    rng: Any, n_stumps: int, n_features: int, n_outputs: int, cuts: Any = None
) -> dict[str, Any]:
    cut = rng.normal(size=n_stumps) if cuts is None else rng.choice(cuts, n_stumps)
    return {
        "feature": rng.integers(0, n_features, n_stumps).astype(np.int32),
        "cut": np.where(rng.random(n_stumps) < 0.1, -np.inf, cut),
        "below": rng.normal(size=n_stumps),
        "above": rng.normal(size=n_stumps),
        "missing": rng.normal(size=n_stumps),
        "output": rng.integers(0, n_outputs, n_stumps).astype(np.int32),
        "constant": rng.normal(size=n_outputs),
        "n_features": n_features,
    }


def random_terms(rng: Any, n_stumps: int, n_features: int, n_outputs: int) -> Terms:
    return Terms.of_stumps(**random_stumps(rng, n_stumps, n_features, n_outputs))


def added_by_hand(stumps: dict[str, Any], row: Any) -> dict[tuple[int, int], float]:
    """What the stumps on each column add to each score, one after another."""
    added: dict[tuple[int, int], float] = {}
    for t, feature in enumerate(stumps["feature"].tolist()):
        value, place = float(row[feature]), (feature, int(stumps["output"][t]))
        above = value > stumps["cut"][t] or stumps["cut"][t] == -np.inf
        side = "missing" if value != value else "above" if above else "below"
        added[place] = added.get(place, 0.0) + stumps[side][t]
    return added


def score_by_hand(stumps: dict[str, Any], row: Any) -> list[float]:
    """Column after column."""
    totals = stumps["constant"].tolist()
    for (_, output), value in sorted(added_by_hand(stumps, row).items()):
        totals[output] += value
    return totals


def all_ways(monkeypatch: pytest.MonkeyPatch, sums: Any) -> list[Any]:
    """By compiled code, and by numpy or Python."""
    found = []
    for compiled in (True, False):
        monkeypatch.setattr("costboost.kernels.pay_for", lambda _, compiled=compiled: compiled)
        found.append(sums())
    return found


@pytest.fixture(scope="module")
def patches() -> Any:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield monkeypatch


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_every_way_to_score_adds_as_the_slow_twin(
    patches: Any, seed: int, n_stumps: int, n_features: int, n_outputs: int, hostile: bool
) -> None:
    rng = np.random.default_rng(seed)
    cuts = HOSTILE[3:] if hostile else None
    stumps = random_stumps(rng, n_stumps, n_features, n_outputs, cuts)
    terms = Terms.of_stumps(**stumps)
    pool = np.concatenate([HOSTILE, stumps["cut"], np.nextafter(stumps["cut"], 3.0), rng.normal(size=20)])
    X = rng.choice(pool, (80, n_features))
    expected = np.array([score_by_hand(stumps, row) for row in X])
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        for found in all_ways(patches, lambda rows=rows: terms.score(rows)):
            assert found.tobytes() == expected.tobytes()
    alone = np.vstack([terms.score(row[None]) for row in X])
    assert alone.tobytes() == expected.tobytes()
    few = all_ways(patches, lambda: terms.score(X[:5]))
    assert all(found.tobytes() == expected[:5].tobytes() for found in few)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_single_precision_scores_as_the_same_values_in_double(patches: Any, seed: int, n_stumps: int) -> None:
    rng = np.random.default_rng(seed)
    terms = Terms.of_stumps(**random_stumps(rng, n_stumps, 2, 1, HOSTILE[3:] if seed % 2 else None))
    with np.errstate(over="ignore"):
        cuts = terms.cut.astype(np.float32)
        pool = np.concatenate([HOSTILE.astype(np.float32), cuts, np.nextafter(cuts, np.float32(9))])
    X = rng.choice(pool, (70, 2))
    for found in all_ways(patches, lambda: terms.score(X)):
        assert found.tobytes() == terms.score(X.astype(np.float64)).tobytes()
    assert terms.score(X[:1]).tobytes() == terms.score(X.astype(np.float64)[:1]).tobytes()


@pytest.mark.parametrize("n_cuts", [1, 3, 4, 5, 31, 32, 33, 47, 48, 49, 255, 256, 1000])
def test_columns_with_few_and_many_cuts(patches: Any, n_cuts: int) -> None:
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.normal(size=n_cuts))
    terms = Terms.single([0] * n_cuts, cuts, [0] * n_cuts, [1] * n_cuts, [-1] * n_cuts, n_features=1)
    x = np.concatenate([cuts, np.nextafter(cuts, -9), np.nextafter(cuts, 9), [np.nan, np.inf, -np.inf]])
    expected = np.where(np.isnan(x), -n_cuts, (x[:, None] > cuts).sum(axis=1))
    for found in all_ways(patches, lambda: terms.score(x[:, None])):
        assert found[:, 0].tolist() == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 2, 511, 512, 513, 9000])
def test_blocks_do_not_show(patches: Any, n: int) -> None:
    rng = np.random.default_rng(0)
    terms, X = random_terms(rng, 7, 2, 2), rng.normal(size=(n, 2))
    one, other = all_ways(patches, lambda: terms.score(X))
    assert one.shape == (n, 2)
    assert one.tobytes() == other.tobytes()
    if n > 6:
        assert one[n - 6 :].tobytes() == terms.score(X[n - 6 :]).tobytes()


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(1, 3))
def test_sums_in_groups_and_the_weight_on_each_step(
    patches: Any, seed: int, n_stumps: int, n_outputs: int
) -> None:
    rng = np.random.default_rng(seed)
    stumps = random_stumps(rng, n_stumps, 4, n_outputs)
    terms = Terms.of_stumps(**stumps)
    X = rng.choice(np.concatenate([HOSTILE, stumps["cut"]]), (70, 4))
    start, group = rng.normal(size=(2, n_outputs)), np.arange(len(terms.feature), dtype=np.int64) % 2
    expected = np.repeat(start[None], 70, axis=0)
    place = dict(zip(terms.feature.tolist(), group.tolist(), strict=True))
    for i, row in enumerate(X):
        for (feature, output), value in sorted(added_by_hand(stumps, row).items()):
            expected[i, place[feature], output] += value
    for found in all_ways(patches, lambda: terms.tables.sums(X, group, start)):
        assert found.tobytes() == expected.tobytes()
    for i in range(3):
        assert terms.tables.sums(X[i : i + 1], group, start).tobytes() == expected[i].tobytes()
    weight = rng.random(70)
    for masses in all_ways(patches, lambda: terms.tables.mass(X, weight)):
        assert len(masses) == len(terms.feature)
        for function, mass in zip(terms.tables.functions, masses, strict=True):
            slow = [0.0] * len(function.values)
            for own, one in zip(X[:, function.feature].tolist(), weight.tolist(), strict=True):
                slow[-1 if own != own else sum(cut < own for cut in function.cuts.tolist())] += one
            assert mass.tolist() == slow


def test_a_step_function_by_hand() -> None:
    # Cuts 1 and 2, and one below everything; a value equal to a cut lies below it.
    terms = Terms.single(
        [0, 0, 0], [2.0, 1.0, -np.inf], [1, 10, 50], [2, 20, 100], [4, 40, 400], n_features=1
    )
    (function,) = terms.tables.functions
    assert function.cuts.tolist() == terms.cut.tolist() == [1.0, 2.0]
    assert function.values[:, 0].tolist() == terms.value.tolist() == [111.0, 121.0, 122.0, 444.0]
    assert terms.scale == 4 + 40 + 400
    values = [0.5, 1.0, 1.5, 2.0, 2.5, np.nan]
    assert function.places(np.array(values)).tolist() == [0, 0, 1, 1, 2, 3]


def sound() -> dict[str, Any]:
    """Two columns: the first with two cuts, the other with none."""
    return {
        "feature": np.array([1, 2], np.int32),
        "cuts": np.array([2, 0], np.int32),
        "cut": np.array([-1.0, 1.0]),
        "value": np.arange(6.0),
        "constant": np.array([0.0]),
        "votes": np.array([3.0]),
        "n_features": 3,
    }


@pytest.mark.parametrize(
    "flaw",
    [
        {"feature": np.array([1, 3], np.int32)},
        {"feature": np.array([-1, 2], np.int32)},
        {"feature": np.array([2, 1], np.int32)},
        {"feature": np.array([1, 1], np.int32)},
        {"feature": np.array([1], np.int32)},
        {"n_features": 2},
        {"cuts": np.array([1, 0], np.int32)},
        {"cuts": np.array([3, -1], np.int32)},
        {"cuts": np.array([[2, 0]], np.int32)},
        {"cut": np.array([1.0, -1.0])},
        {"cut": np.array([1.0, 1.0])},
        {"cut": np.array([-0.0, 0.0])},
        {"cut": np.array([np.nan, 1.0])},
        {"cut": np.array([-np.inf, 1.0])},
        {"cut": np.array([1.0, np.inf])},
        {"value": np.arange(5.0)},
        {"value": np.array([0, 0, 0, 0, 0, np.nan])},
        {"value": np.array([0, 0, 0, 0, 0, 1e101])},
        {"constant": np.array([np.inf])},
        {"constant": np.zeros(0), "votes": np.zeros(0), "value": np.zeros(0)},
        {"votes": np.array([-1.0])},
        {"votes": np.array([np.nan])},
        {"votes": np.array([1.0, 2.0])},
    ],
)
def test_terms_check_themselves(flaw: dict[str, Any]) -> None:
    assert Terms(**sound()).score(np.array([[0.0, 1.0, np.nan]])).tolist() == [[1.0 + 5.0]]
    with pytest.raises(ValueError):
        Terms(**(sound() | flaw))


def test_cuts_of_different_terms_need_not_rise() -> None:
    swapped = {"cuts": np.array([1, 1], np.int32), "cut": np.array([1.0, -1.0])}
    assert Terms(**(sound() | swapped)).score(np.array([[0.0, 0.0, 0.0]])).tolist() == [[0.0 + 4.0]]
    empty = {"cuts": np.array([0, 2], np.int32)}
    assert Terms(**(sound() | empty)).score(np.array([[0.0, 0.0, 0.0]])).tolist() == [[0.0 + 3.0]]


@pytest.mark.parametrize("cut", [np.nan, np.inf])
def test_stumps_have_cuts_below_infinity(cut: float) -> None:
    with pytest.raises(ValueError, match="below infinity"):
        Terms.single([0], [cut], [-1.0], [1.0], [0.0], n_features=1)


def test_rows_of_the_wrong_width_are_refused() -> None:
    terms = Terms.single([0], [0.5], [-1.0], [1.0], [0.0], n_features=1)
    for X in (np.zeros((3, 2)), np.zeros((1, 2)), np.zeros((3, 1, 1)), np.zeros(1)):
        with pytest.raises(ValueError, match="expected rows of 1"):
            terms.score(X)
