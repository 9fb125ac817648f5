import numpy as np
import pytest
from joblib import parallel_config
from sklearn.naive_bayes import GaussianNB

from costboost.cross_fitting import BoosterScore, TrainingSet, fit_rows, out_of_fold_scores
from costboost.registry import make
from costboost.terms import Terms
from tests.costboost.kept_fits import DeathError, KeptFits


def rows(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    columns = {
        "x": rng.normal(size=n) + y,
        "c": np.array([["a", "b"][i] for i in rng.integers(0, 2, n)], dtype=object),
    }
    return TrainingSet(columns, {"x": "number", "c": "category"}, y, np.ones(n), None)


PARTS = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]


def test_each_part_is_scored_by_a_fit_on_its_other_rows():
    training, booster = rows(), make("cgada", {"n_estimators": 5})
    scores = out_of_fold_scores(booster, training, PARTS)
    assert np.isnan(scores[20:40]).all()
    for train, valid in PARTS:
        alone = fit_rows(booster, training.take(train)).score(training.take(valid).columns)
        assert alone.tobytes() == scores[valid].tobytes()


def test_what_was_scored_before_an_interruption_is_not_fitted_again():
    training, booster = rows(), make("cgada", {"n_estimators": 5})
    whole = out_of_fold_scores(booster, training, PARTS)
    kept, told = KeptFits(dies_after=1), []
    with pytest.raises(DeathError):
        out_of_fold_scores(booster, training, PARTS, checkpoints=kept)
    assert list(kept.scores) == ["fold 0"]
    kept.dies_after = None
    at_once = KeptFits()
    at_once.scores = dict(kept.scores)
    resumed = out_of_fold_scores(
        booster, training, PARTS, progress=lambda *step: told.append(step[:3]), checkpoints=kept
    )
    with parallel_config(backend="threading", n_jobs=2):
        assert out_of_fold_scores(booster, training, PARTS, checkpoints=at_once).tobytes() == whole.tobytes()
    assert resumed.tobytes() == whole.tobytes()
    assert kept.found == at_once.found == ["fold 0"]
    assert told[:2] == [("out_of_fold", 1, 2), ("out_of_fold", 1, 5)]  # the fold, then rounds of the other


def test_the_encoder_is_fitted_on_the_training_part_alone():
    training = rows()
    training.columns["c"][:20] = "only here"
    assert (
        "only here" not in fit_rows(make("cgada"), training.take(PARTS[0][0])).encoder._categories["c"].kept
    )


def test_ensembles_of_stumps_are_terms_and_others_are_asked():
    training = rows()
    assert isinstance(fit_rows(make("cgada"), training).ensemble, Terms)
    foreign = fit_rows(make("cgada", {"estimator": GaussianNB()}), training)
    assert isinstance(foreign.ensemble, BoosterScore)
    assert foreign.ensemble.n_outputs == foreign.score(training.columns).shape[1] == 1


def test_rounds_of_folds_in_threads_rise_as_one_and_carry_figures():
    seen = []
    with parallel_config(backend="threading", n_jobs=2):
        out_of_fold_scores(
            make("cgada", {"n_estimators": 30}), rows(), PARTS, progress=lambda *step: seen.append(step)
        )
    fractions = [step[3] for step in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(len(PARTS) / (len(PARTS) + 1))
    assert any(0 < step[4].get("error", 0) < 0.5 for step in seen)
    assert [step[1] for step in seen if not step[4]] == [*range(1, len(PARTS) + 1)]
