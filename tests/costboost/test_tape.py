"""A fit that is told what an earlier one had found: the same bytes, and no search for what is known."""

from typing import Any

import numpy as np
import pytest

from costboost import AdaBoostClassifier, CGAdaClassifier, HistogramTree
from costboost.checkpoints import tape_of
from costboost.cross_fitting import TrainingSet, fit_rows, out_of_fold_scores
from costboost.learners import stump, tree
from costboost.learners.ledger import Ledger
from costboost.learners.tape import Tape
from costboost.registry import make
from tests.costboost.every_algorithm import FORMS, quiet
from tests.costboost.kept_fits import DeathError, KeptFits

TREE = HistogramTree(max_depth=3, min_samples_leaf=3, categorical_features=[1])
LEARNERS: dict[str, Any] = {"stump": {"name": "stump"}, "tree": TREE}


def rows_of(classes: int, n: int = 150) -> dict[str, Any]:
    """Numbers, categories, a column with missing values that is mostly one; costs and weights by row."""
    rng = np.random.default_rng(classes)
    kinds, rare = rng.integers(0, 6, n), np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n))
    X = np.column_stack([rng.normal(size=n), kinds, np.where(rng.random(n) < 0.2, np.nan, rare)])
    y = np.digitize(X[:, 0] + (kinds == 1) + rng.normal(size=n), np.linspace(0, 1.5, classes - 1))
    weights = rng.integers(0, 3, n).astype(float)
    return {"X": X, "y": y, "cost": rng.integers(1, 6, n).astype(float), "weights": weights}


def left_by(booster: Any, rows: dict[str, Any]) -> list[bytes]:
    """All that a fit leaves, as bytes."""
    arrays = [booster.estimator_weights_, booster.estimator_errors_, booster.decision_function(rows["X"])]
    arrays += [value for value in vars(booster.ensemble_).values() if isinstance(value, np.ndarray)]
    left = [np.ascontiguousarray(one).tobytes() for one in arrays]
    history = [round_["D_next"].tobytes() for round_ in getattr(booster, "history_", ())]
    return [*left, *history, booster.stop_reason_.encode(), str(booster.vote_threshold_).encode()]


def fitted(booster: Any, rows: dict[str, Any], known: list[Any]) -> tuple[list[bytes], list[Any]]:
    """What a fit leaves that knows so much, and notes of what it searched for."""
    found: list[Any] = []
    taped = _Taped(booster, Tape(known, found.append))
    quiet(taped, rows["X"], rows["y"], rows["cost"], rows["weights"])
    return left_by(booster, rows), found


class _Taped:
    def __init__(self, booster: Any, tape: Tape) -> None:
        self.booster, self.tape = booster, tape

    def fit(self, X: Any, y: Any, **given: Any) -> Any:
        return self.booster.fit(X, y, tape=self.tape, **given)


def same(make_booster: Any, rows: dict[str, Any], numbers: tuple[int, ...]) -> None:
    whole, notes = fitted(make_booster(), rows, [])
    for known in {*numbers, len(notes)}:
        again, searched = fitted(make_booster(), rows, notes[:known])
        assert again == whole
        assert [one.tobytes() for one in searched] == [one.tobytes() for one in notes[known:]]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", FORMS)
def test_every_algorithm_goes_on_to_the_same_bytes(form: str, learner: str) -> None:
    def booster() -> Any:
        return FORMS[form](estimator=LEARNERS[learner], n_estimators=7, random_state=0)

    same(booster, rows_of(2), (3,))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("algorithm", ["cgada", "adacost", "gentle"])
def test_more_classes_early_stopping_and_what_is_recorded(algorithm: str, learner: str) -> None:
    params = {"estimator": LEARNERS[learner], "n_estimators": 6, "random_state": 0, "record": True}
    same(lambda: make(algorithm).set_params(**params), rows_of(3), (1, 5, 9))
    same(lambda: make(algorithm).set_params(**params, early_stopping=2), rows_of(2), (2, 4))


@pytest.mark.parametrize("learner", LEARNERS)
def test_long_fits_whose_weights_are_set_anew(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(2, n=400) | {"cost": None}
    X = rows["X"]
    rows["y"] = (X[:, 0] + (X[:, 1] == 1) + np.nan_to_num(X[:, 2]) > 0.7).astype(int)
    anew = Ledger._set_anew
    times: list[bool] = []

    def counted(ledger: Ledger, like: Any) -> None:
        times.append(ledger.is_searched)
        anew(ledger, like)

    monkeypatch.setattr(Ledger, "_set_anew", counted)

    def booster() -> Any:
        return AdaBoostClassifier(LEARNERS[learner], n_estimators=60, cost_fn=3.0)

    same(booster, rows, (1, 30, 59))
    assert times.count(False) > 2  # also while sums per bin lag behind, because nobody searches


def test_what_is_known_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> None:
        raise AssertionError("searched")

    for module, name in ((stump, "find_signed_cut"), (tree, "grow")):
        rows = rows_of(2)
        learner = LEARNERS["stump" if module is stump else "tree"]
        whole, notes = fitted(CGAdaClassifier(learner, n_estimators=5), rows, [])
        monkeypatch.setattr(module, name, searched)
        assert fitted(CGAdaClassifier(learner, n_estimators=5), rows, notes) == (whole, [])


# As checkpoints


def training(n: int = 90) -> TrainingSet:
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=n), "c": np.array(list("abc"), dtype=object)[rng.integers(0, 3, n)]}
    y = (columns["x"] + (columns["c"] == "a") + rng.normal(size=n) > 0).astype(int)
    return TrainingSet(columns, {"x": "number", "c": "category"}, y, np.ones(n), None)


@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_rounds_are_kept_and_gone_on_with_however_often_a_fit_dies(learner: str) -> None:
    rows, booster = training(), make("adacost", {"n_estimators": 9, "estimator": {"name": learner}})
    whole, kept = fit_rows(booster, rows), KeptFits(dies_after=3, is_due=True)
    for deaths in (3, 5, None):
        kept.dies_after = deaths
        if deaths is not None:
            with pytest.raises(DeathError):
                fit_rows(booster, rows, None, tape_of("all rows", kept))
    again = fit_rows(booster, rows, None, tape_of("all rows", kept))
    assert again.score(rows.columns).tobytes() == whole.score(rows.columns).tobytes()
    assert list(kept.scores) == [f"all rows, rounds from {number}" for number in range(9)]
    kept.found.clear()
    tape = tape_of("all rows", kept)
    assert tape is not None
    assert len(kept.found) == 9
    assert not tape.is_over


def test_rounds_of_folds_are_kept_too() -> None:
    rows, booster = training(), make("cgada", {"n_estimators": 4})
    parts = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    whole, kept = out_of_fold_scores(booster, rows, parts), KeptFits(dies_after=7, is_due=True)
    with pytest.raises(DeathError):
        out_of_fold_scores(booster, rows, parts, checkpoints=kept)
    kept.dies_after = None
    again = out_of_fold_scores(booster, rows, parts, checkpoints=kept)
    assert again.tobytes() == whole.tobytes()
    assert kept.found == ["fold 0", "fold 1, rounds from 0", "fold 1, rounds from 1"]
