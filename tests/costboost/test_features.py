import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.features import Cell, FeatureEncoder

TYPES = {"amount": "number", "zip": "category", "note": "text", "new": "boolean", "at": "timestamp"}


def table(n, seed, n_categories=5):
    rng = np.random.default_rng(seed)

    def texts(gaps):
        values = np.array([f"c{i}" for i in rng.integers(0, n_categories, n)], dtype=object)
        values[rng.random(n) < gaps] = None
        return values

    return {
        "amount": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        "zip": texts(0.1),
        "note": texts(0.0),
        "new": rng.integers(0, 2, n).astype(float),
        "at": rng.random(n) * 1e9,
    }


KINDS = st.sampled_from(["cells", "codes"])


@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 9), KINDS)
def test_a_row_alone_is_encoded_as_in_a_batch(seed, n_categories, most, kind):
    encoder = FeatureEncoder(most, categories=kind).fit(table(30, seed, n_categories), TYPES)
    fresh = table(20, seed + 1, n_categories + 1)
    matrix = encoder.transform(fresh)
    assert matrix.shape == (20, encoder.n_features)
    for i in range(20):
        row = {name: values[i : i + 1] for name, values in fresh.items()}
        assert encoder.transform(row).tobytes() == matrix[i].tobytes()


def test_the_order_of_columns_and_rows_does_not_matter():
    columns = table(200, 3, 50)
    order = np.random.default_rng(0).permutation(200)
    shuffled = {name: columns[name][order] for name in reversed(columns)}
    one = FeatureEncoder(8).fit(columns, TYPES)
    other = FeatureEncoder(8).fit(shuffled, dict(reversed(TYPES.items())))
    assert one.to_state() == other.to_state()
    assert one.transform(columns)[order].tobytes() == other.transform(shuffled).tobytes()


def test_categories_by_count_then_text_then_others_then_missing():
    values = np.array(["b", "b", "a", "c", "d", "a", None], dtype=object)
    encoder = FeatureEncoder(3).fit({"z": values}, {"z": "category"})
    assert encoder.cells == (
        Cell("z", "category", "a"),
        Cell("z", "category", "b"),
        Cell("z", "category", "c"),
        Cell("z", "other"),
        Cell("z", "missing"),
    )
    assert encoder.transform({"z": values}).argmax(axis=1).tolist() == [1, 1, 0, 2, 3, 0, 4]


def test_what_training_never_saw_marks_no_cell_and_is_reported():
    encoder = FeatureEncoder().fit({"z": np.array(["a", "b"], dtype=object)}, {"z": "category"})
    fresh = {"z": np.array(["a", "new", None], dtype=object)}
    assert encoder.transform(fresh).tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert encoder.unknown(fresh)["z"].tolist() == [False, True, False]
    assert encoder.unknown({"z": np.array(["b"], dtype=object)}) == {}


def test_codes_by_count_then_text_the_last_for_all_others():
    values = np.array(["b", "b", "a", "c", "d", "a", None], dtype=object)
    encoder = FeatureEncoder(3, categories="codes").fit({"z": values}, {"z": "category"})
    assert encoder.cells == (Cell("z", "code"),)
    assert encoder.sources.tolist() == [0]
    expected = [1.0, 1.0, 0.0, 2.0, 3.0, 0.0, np.nan]
    assert np.array_equal(encoder.transform({"z": values})[:, 0], expected, equal_nan=True)
    fresh = {"z": np.array(["new", "a"], dtype=object)}
    assert encoder.transform(fresh).tolist() == [[3.0], [0.0]]
    assert encoder.unknown(fresh)["z"].tolist() == [True, False]


def test_codes_fit_into_a_byte():
    values = np.array([f"merchant {i}" for i in range(1000)], dtype=object)
    encoder = FeatureEncoder(categories="codes").fit({"m": values}, {"m": "text"})
    codes = encoder.transform({"m": values})[:, 0]
    assert sorted(set(codes)) == list(range(255))
    assert (codes == 254).sum() == 1000 - 254
    with pytest.raises(ValueError, match="max_categories must be from 1 to 254"):
        FeatureEncoder(255, categories="codes")
    with pytest.raises(ValueError, match="categories must be"):
        FeatureEncoder(categories="numbers")


def test_a_column_of_missing_categories_has_no_code():
    columns = {"none": np.full(4, None, dtype=object)}
    encoder = FeatureEncoder(categories="codes").fit(columns, {"none": "category"})
    assert np.isnan(encoder.transform(columns)).all()
    assert encoder.transform({"none": np.array(["new"], dtype=object)}).tolist() == [[0.0]]


def test_thousands_of_categories_stay_bounded():
    values = np.array([f"merchant {i}" for i in range(20_000)], dtype=object)
    encoder = FeatureEncoder(16).fit({"m": values}, {"m": "category"})
    assert encoder.n_features == 17
    assert len(json.dumps(encoder.to_state())) < 2000
    matrix = encoder.transform({"m": values})
    assert matrix.sum(axis=1).tolist() == [1.0] * 20_000


def test_sources_name_the_column_of_each_cell():
    columns = table(50, 1, 3)
    encoder = FeatureEncoder().fit(columns, TYPES)
    names = list(encoder.types)
    assert names == sorted(TYPES)
    assert [names[j] for j in encoder.sources] == [cell.source for cell in encoder.cells]


def test_all_missing_and_constant_columns_are_fine():
    columns = {"gone": np.full(4, np.nan), "none": np.full(4, None, dtype=object), "same": np.ones(4)}
    types = {"gone": "number", "none": "category", "same": "number"}
    encoder = FeatureEncoder().fit(columns, types)
    expected = [[np.nan, 1.0, 1.0]] * 4
    assert np.array_equal(encoder.transform(columns), expected, equal_nan=True)


def test_other_columns_are_ignored_and_absent_ones_named():
    columns = table(10, 0)
    encoder = FeatureEncoder().fit(columns, {"amount": "number", "zip": "category"})
    assert encoder.n_features == encoder.transform(columns).shape[1]
    with pytest.raises(ValueError, match="'zip' is missing"):
        encoder.transform({"amount": columns["amount"]})
    with pytest.raises(ValueError, match="at least one feature"):
        FeatureEncoder().fit(columns, {})
    with pytest.raises(ValueError, match="max_categories"):
        FeatureEncoder(0)


@given(st.integers(0, 1000), KINDS)
def test_state_survives_json(seed, kind):
    columns = table(30, seed)
    encoder = FeatureEncoder(3, categories=kind).fit(columns, TYPES)
    state = json.loads(json.dumps(encoder.to_state()))
    again = FeatureEncoder.from_state(state)
    assert again.to_state() == encoder.to_state()
    assert again.transform(columns).tobytes() == encoder.transform(columns).tobytes()


@pytest.mark.parametrize(
    "flaw",
    [
        {"coded": 1},
        {"coded": True, "max_categories": 255},
        {"max_categories": 0},
        {"max_categories": True},
        {"max_categories": 1},
        {"types": {}},
        {"types": []},
        {"types": {"z": "colour"}},
        {"types": {"z": ["category"]}},
        {"types": {"z": "category", "a": "number"}},
        {"types": {"z": "number"}},
        {"categories": {}},
        {"categories": {"z": {"kept": ["a", "a"], "other": False, "missing": False}}},
        {"categories": {"z": {"kept": [1], "other": False, "missing": False}}},
        {"categories": {"z": {"kept": [[]], "other": False, "missing": False}}},
        {"categories": {"z": {"kept": "ab", "other": False, "missing": False}}},
        {"categories": {"z": {"kept": ["a"], "other": 1, "missing": False}}},
    ],
)
def test_unsound_states_are_refused(flaw):
    sound = {
        "max_categories": 2,
        "types": {"z": "category"},
        "categories": {"z": {"kept": ["a", "b"], "other": False, "missing": True}},
    }
    FeatureEncoder.from_state(sound)
    with pytest.raises((ValueError, TypeError, KeyError)):
        FeatureEncoder.from_state(sound | flaw)
