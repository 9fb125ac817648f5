import copy
import functools
import json
import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from costboost import persistence
from costboost.actions import Action, Review
from costboost.columns import typed_columns
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.learners.stump import DecisionStump
from costboost.model import CostSensitiveModel
from costboost.persistence import ArtifactError, dump, load, load_scorer, read_header
from costboost.registry import ALGORITHMS, make
from costboost.splits import Split

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.*costs compound over the rounds:UserWarning"
)

COSTS = CostSpec.binary(
    fn=CostCell(per={"amount": 1.0}, min=10),
    fp=CostCell(fixed=5, per={"amount": 0.01}),
    classes=("legit", "fraud"),
)
REVIEWED = CostSpec.from_actions(
    ("a", "b", "c"),
    ("a", "b", "c", Action("ask", None)),
    {("a", "b"): 1.0, ("b", "a"): 4.0, ("c", "a"): 9.0, ("a", "c"): 2.0, ("b", "c"): 1.0, ("c", "b"): 3.0},
    review=Review(0.5, (0.9, 0.8, 0.95), capacity=10, shadow_price=0.1, per="day"),
)


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = {
        "amount": rng.lognormal(3, 1, n),
        "speed": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "zip": np.array(
            [["01", "02", None, "zürich \ud800"][i] for i in rng.integers(0, 4, n)], dtype=object
        ),
        "new": rng.random(n) < 0.4,
    }
    return X, rng.random(n) < 1 / (1 + np.exp(1 - 2 * np.nan_to_num(X["speed"])))


@functools.lru_cache
def fitted(name="cgada", rule="expected_cost", kind="sigmoid", n_classes=2):
    X, positive = table()
    booster = make(name, {"n_estimators": 6})
    if n_classes == 3:
        y = np.where(positive, "c", np.where(X["amount"] > 20, "b", "a"))
        return CostSensitiveModel(booster, costs=REVIEWED, calibration=kind, split=Split(folds=3)).fit(X, y)
    y = np.where(positive, "fraud", "legit")
    return CostSensitiveModel(booster, costs=COSTS, decision_rule=rule, calibration=kind).fit(X, y)


MODELS = [
    *((name,) for name in sorted(ALGORITHMS)),
    ("cgada", "empirical"),
    ("adamec", "sign"),
    ("cgada", "expected_cost", "isotonic"),
    ("cgada", "expected_cost", "none"),
    ("cgada", "expected_cost", "isotonic", 3),
    ("adacost", "expected_cost", "sigmoid", 3),
]


# Round trips


@pytest.mark.parametrize("which", MODELS)
def test_what_is_loaded_answers_as_what_was_dumped(which):
    model, (X, _) = fitted(*which), table(50, seed=1)
    data = dump(model)
    loaded = load(data)
    scorer = load_scorer(data)
    assert dump(loaded) == data
    before, columns = model.decide(X), typed_columns(X)[0]
    for after in (loaded.decide(X), scorer.decide(columns)):
        assert after.scores.score.tobytes() == before.scores.score.tobytes()
        assert after.scores.probabilities.tobytes() == before.scores.probabilities.tobytes()
        assert after.decisions.decision.tobytes() == before.decisions.decision.tobytes()
        assert after.decisions.threshold.tobytes() == before.decisions.threshold.tobytes()
        assert after.source == before.source
        assert after.costs == before.costs
    assert (loaded.predict(X) == model.predict(X)).all()
    assert loaded.threshold_ == model.threshold_


@pytest.mark.parametrize("which", MODELS)
def test_a_loaded_model_can_be_fitted_anew(which):
    model, (X, positive) = fitted(*which), table()
    y = model.predict(X)
    y[:10] = np.resize(model.classes_, 10)
    again = load(dump(model)).fit(X, y)
    assert dump(again) == dump(copy.deepcopy(model).fit(X, y))
    assert len(positive) == len(y)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_same_fit_gives_the_same_bytes_in_another_process(threads):
    """Also where products of matrices are parted among other numbers of threads."""
    code = (
        "import hashlib, numpy as np\n"
        "from costboost import CostSensitiveModel, dump\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(200, 3)); y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)\n"
        "digest = hashlib.sha256(dump(CostSensitiveModel().fit(X, y))).hexdigest()\n"
    )
    here: dict[str, str] = {}
    exec(code, here)
    command = [sys.executable, "-c", code + "print(digest)"]
    limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    environment = os.environ | limits
    there = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=120, env=environment
    ).stdout
    assert there == here["digest"] + "\n"


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.0, 2.0), ("no", "yes"), (10**12, -5)])
def test_labels_of_each_kind(labels):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 80)
    model = CostSensitiveModel().fit(rng.normal(size=(80, 2)) + codes[:, None], np.array(labels)[codes])
    loaded = load(dump(model))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind


def test_an_empty_ensemble_and_a_default_model():
    with pytest.warns(UserWarning, match="no member tells the classes apart"):
        model = CostSensitiveModel().fit(np.ones((20, 1)), [0, 1] * 10)
    loaded = load(dump(model))
    assert loaded.estimator is None
    assert loaded.predict_proba(np.ones((1, 1))).tolist() == model.predict_proba(np.ones((1, 1))).tolist()


def test_parameters_survive_and_costs_are_those_of_the_model():
    booster = make(
        "adacost", {"n_estimators": np.int64(4), "cost_scale": 0.5, "estimator": DecisionStump(max_bins=16)}
    )
    X, positive = table()
    model = CostSensitiveModel(booster, split=Split("group", 0.3, 4), random_state=3, train_costs="row")
    loaded = load(dump(model.fit(X, positive, groups=np.arange(200) // 4)))
    assert loaded.estimator.n_estimators == 4
    assert loaded.estimator.cost_scale == 0.5
    assert loaded.estimator.estimator.max_bins == 16
    assert loaded.split == Split("group", 0.3, 4)
    assert (loaded.random_state, loaded.train_costs, loaded.calibration) == (3, "row", "auto")
    assert loaded.costs == model.costs_


def test_the_header_says_what_is_inside():
    header = read_header(dump(fitted()))
    assert header["model"]["booster"]["algorithm"] == "cgada"
    assert header["model"]["library_versions"].keys() == {"costboost", "numpy", "scikit-learn", "numba"}
    assert header["scorer"]["classes"] == ["legit", "fraud"]


def test_versions_are_those_of_the_training():
    model = load(dump(fitted()))
    model.library_versions_ = model.library_versions_ | {"numpy": "0.1"}
    assert load(dump(model)).library_versions_["numpy"] == "0.1"


def test_what_cannot_be_stored_is_refused():
    y = np.array([0, 1] * 30)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 2 * y[:, None]
    with pytest.raises(ValueError, match="only ensembles of our weak learners"):
        dump(CostSensitiveModel(make("cgada", {"estimator": GaussianNB(), "n_estimators": 2})).fit(X, y))
    steady = make(
        "adacost", {"n_estimators": 2, "beta": lambda correct, cost: np.where(correct, 0.5, 0.5 + cost / 2)}
    )
    with pytest.raises(ValueError, match="beta"):
        dump(CostSensitiveModel(steady).fit(X, y))
    with pytest.raises(ValueError, match="tau is inf"):
        dump(CostSensitiveModel(make("mcada", {"n_estimators": 2, "tau": np.inf})).fit(X, y))
    with pytest.raises(NotFittedError):
        dump(CostSensitiveModel())


# Hostile bytes


def check_refused(data):
    for read in (load_scorer, load, read_header):
        with pytest.raises(ArtifactError):
            read(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        b"\0" * 8,
        b"\xff" * 8,
        b"\xff" * 100,
        (2).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (10**6).to_bytes(8, "little") + b"[" * 10**6,
        (10**6).to_bytes(8, "little") + b'{"a":' * 200_000,
        safetensors.numpy.save({"a": np.zeros(1)}),
        safetensors.numpy.save({"a": np.zeros(1)}, {"costboost": "{}"}),
        safetensors.numpy.save({"a": np.zeros(1)}, {"costboost": "[" * 10**5}),
        safetensors.numpy.save({"a": np.zeros(1)}, {"costboost": "9" * 10**5}),
    ],
    ids=range(13),
)
def test_bytes_that_are_no_artifact(data):
    check_refused(data)


def test_a_length_that_lies_allocates_nothing():
    data = dump(fitted())
    tracemalloc.start()
    for size in (2**62, 2**40, 2**31, len(data), len(data) - 7):
        check_refused(size.to_bytes(8, "little") + data[8:])
    forged = data.replace(b'"shape":[6]', b'"shape":[9]', 1)
    assert forged != data
    check_refused(forged)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**22


def test_too_long_is_refused_unread(monkeypatch):
    data = dump(fitted())
    monkeypatch.setattr(persistence, "MAX_ARTIFACT_BYTES", len(data) - 1)
    check_refused(data)


def test_every_truncation_and_a_flip_in_every_byte():
    data = dump(fitted())
    start = time.monotonic()
    for at in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[at] ^= 1 << (at % 8)
        with pytest.raises(ArtifactError):
            load_scorer(bytes(flipped))
        with pytest.raises(ArtifactError):
            load_scorer(data[:at])
    assert time.monotonic() - start < 60


@settings(max_examples=300)
@given(st.data())
def test_random_edits_are_found(data):
    original = dump(fitted())
    at = data.draw(st.integers(0, len(original) - 1))
    removed = data.draw(st.integers(0, 20))
    edited = original[:at] + data.draw(st.binary(max_size=20)) + original[at + removed :]
    if edited != original:
        with pytest.raises(ArtifactError):
            load_scorer(edited)


# Whoever can write an artifact can also write its digest: what is read must hold by itself.


def paths(value, here=()):
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*here, key))


def replaced(value, path, new):
    if not path:
        return new
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if new is DELETED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return changed


DELETED = object()
JUNK = st.one_of(
    st.sampled_from(
        [
            DELETED,
            None,
            True,
            False,
            0,
            1,
            -1,
            2**31,
            2**63,
            10**400,
            0.0,
            1.5,
            -1e308,
            1e308,
            "",
            "a",
            "\0",
            "isotonic",
            "empirical",
            "number",
            "category",
            "csadaboost",
            "O",
            "U",
            [],
            {},
            [[]],
            [0.5, 0.5],
            ["a", "b"],
            {"a": 1},
        ]
    ),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)


def check_behaviour(data):
    """Either refused, or a scorer whose every answer is sound."""
    try:
        scorer = load_scorer(data)
    except ArtifactError:
        with pytest.raises(ArtifactError):
            load(data)
        return
    n = 5
    rng = np.random.default_rng(0)
    columns = {name: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)) for name in scorer.columns}
    texts = {
        name: np.array(["01", None, "x", "02", "y"], dtype=object)
        for name, kind in scorer.encoder.types.items()
        if kind in ("category", "text")
    }
    scores = scorer.score(columns | texts)
    assert ((scores.probabilities > 0) & (scores.probabilities < 1)).all()
    assert np.allclose(scores.probabilities.sum(axis=1), 1)
    assert np.isfinite(scores.log_odds).all()
    try:
        loaded = load(data)
    except ArtifactError:
        return
    assert dump(loaded) == data


@settings(max_examples=300)
@given(st.data())
def test_a_forged_header_with_a_right_digest_is_refused_or_sound(data):
    which = data.draw(st.sampled_from([MODELS[0], MODELS[-1], MODELS[-2]]))
    header, arrays = persistence._verified(dump(fitted(*which)))
    forged = header
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([path for path in paths(forged) if path] or [()]))
        forged = replaced(forged, path, data.draw(JUNK))
    try:
        signed = persistence._signed(forged, arrays)
    except (ValueError, TypeError, OverflowError):  # json cannot write it either
        return
    check_behaviour(signed)


@settings(max_examples=300)
@given(st.data())
def test_forged_arrays_with_a_right_digest_are_refused_or_sound(data):
    header, arrays = persistence._verified(dump(fitted(*data.draw(st.sampled_from([MODELS[0], MODELS[-1]])))))
    name = data.draw(st.sampled_from(sorted(arrays)))
    values = arrays[name].copy()
    if data.draw(st.booleans()):
        values = np.resize(values, data.draw(st.integers(0, 2 * len(values))))
    if len(values):
        odd = (
            [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0]
            if values.dtype.kind == "f"
            else [-1, 2**31 - 1, 3, -(2**31)]
        )
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.sampled_from(odd))
    check_behaviour(persistence._signed(header, arrays | {name: values}))


@pytest.mark.parametrize(
    "arrays",
    [
        {"cut": np.zeros(6, np.float32)},
        {"cut": np.zeros((6, 1))},
        {"feature": np.zeros(6, np.int64)},
        {"more": np.zeros(1)},
        {"score_threshold": np.zeros(2)},
    ],
)
def test_arrays_of_another_kind_are_refused(arrays):
    header, sound = persistence._verified(dump(fitted()))
    refuses_all = persistence._signed(header, sound | arrays)
    for read in (load_scorer, load):
        with pytest.raises(ArtifactError):
            read(refuses_all)


def test_another_format_is_named():
    header, arrays = persistence._verified(dump(fitted()))
    with pytest.raises(ArtifactError, match="another format"):
        load(persistence._signed(header | {"format": 1}, arrays))


def test_no_value_of_the_artifact_shows_in_an_error():
    header, arrays = persistence._verified(dump(fitted()))
    forged = replaced(header, ("scorer", "decision_rule"), "secret")
    with pytest.raises(ArtifactError) as raised:
        load(persistence._signed(forged, arrays))
    assert "secret" not in str(raised.value)
    assert json.dumps(header)
