import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.terms import Terms


def random_terms(rng, n_terms, n_features, n_outputs):
    return Terms(
        feature=rng.integers(0, n_features, n_terms).astype(np.int32),
        cut=np.where(rng.random(n_terms) < 0.1, -np.inf, rng.normal(size=n_terms)),
        below=rng.normal(size=n_terms),
        above=rng.normal(size=n_terms),
        missing=rng.normal(size=n_terms),
        output=rng.integers(0, n_outputs, n_terms).astype(np.int32),
        constant=rng.normal(size=n_outputs),
        n_features=n_features,
    )


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(1, 5), st.integers(1, 3))
def test_a_row_scores_alone_as_in_a_batch_and_as_written(seed, n_terms, n_features, n_outputs):
    rng = np.random.default_rng(seed)
    terms = random_terms(rng, n_terms, n_features, n_outputs)
    X = np.where(rng.random((30, n_features)) < 0.2, np.nan, rng.normal(size=(30, n_features)))
    batch = terms.score(X)
    for i, row in enumerate(X):
        assert terms.score(row[None]).tobytes() == batch[i].tobytes()
        expected = terms.constant.copy()
        for t in range(n_terms):
            value = row[terms.feature[t]]
            side = terms.above[t] if value > terms.cut[t] else terms.below[t]
            expected[terms.output[t]] += terms.missing[t] if np.isnan(value) else side
        assert expected.tobytes() == batch[i].tobytes()


def test_blocks_do_not_show():
    rng = np.random.default_rng(0)
    terms = random_terms(rng, 7, 2, 2)
    X = rng.normal(size=(9000, 2))
    assert terms.score(X)[5000:5002].tobytes() == terms.score(X[5000:5002]).tobytes()


@pytest.mark.parametrize(
    "flaw",
    [
        {"feature": np.array([2], np.int32)},
        {"feature": np.array([-1], np.int32)},
        {"output": np.array([1], np.int32)},
        {"cut": np.array([np.nan])},
        {"cut": np.array([np.inf])},
        {"above": np.array([np.inf])},
        {"missing": np.array([np.nan])},
        {"below": np.array([1.0, 2.0])},
        {"constant": np.array([np.nan])},
    ],
)
def test_terms_check_themselves(flaw):
    sound = {
        "feature": np.array([1], np.int32),
        "cut": np.array([-np.inf]),
        "below": np.array([1.0]),
        "above": np.array([1.0]),
        "missing": np.array([1.0]),
        "output": np.array([0], np.int32),
        "constant": np.array([0.0]),
        "n_features": 2,
    }
    Terms(**sound)
    with pytest.raises(ValueError):
        Terms(**(sound | flaw))


def test_rows_of_the_wrong_width_are_refused():
    terms = Terms.single([0], [0.5], [-1.0], [1.0], [0.0], n_features=1)
    with pytest.raises(ValueError, match="expected rows of 1"):
        terms.score(np.zeros((3, 2)))
