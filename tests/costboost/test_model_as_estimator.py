"""What scikit-learn asks of an estimator, asked of the model."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from costboost.model import CostSensitiveModel
from costboost.registry import make
from costboost.splits import Split
from tests.costboost.model_tables import table

#: What boosters say of themselves is their tests' affair; a model must work with each of them.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.*costs compound over the rounds:UserWarning"
)

#: A class of one row cannot be scored out of fold and is refused, and copies of a row fall into several folds
#: where a weighted row falls into one.
NOT_MEANINGFUL = {
    "check_dont_overwrite_parameters",
    "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_dict_unchanged",
    "check_fit2d_predict1d",
    "check_sample_weight_equivalence_on_dense_data",
    "check_array_api_input",
}
#: Without calibration and costs `predict` follows score and probability alike, as scikit-learn expects.
PLAIN = CostSensitiveModel(make("cgada", {"n_estimators": 10}), calibration="none")
CHECKS = [
    pytest.param(*pair, id=pair[1].func.__name__ + str(i))
    for i, pair in enumerate(estimator_checks_generator(PLAIN))
    if pair[1].func.__name__ not in NOT_MEANINGFUL
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_grid_search_and_pipeline():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X[:, 0] += y
    model = CostSensitiveModel(make("cgada", {"n_estimators": 5}), split=Split(folds=2))
    search = GridSearchCV(model, {"estimator__n_estimators": [2, 5], "calibration": ["sigmoid"]}, cv=2)
    search.fit(X, y, sample_cost=1.0 + 4 * y)
    assert search.best_estimator_.costs_.evaluate()[1, 0] == 5.0
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y, costsensitivemodel__sample_cost=1.0 + 4 * y)
    assert pipeline.predict_proba(X).shape == (120, 2)


def test_sample_cost_is_routed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X[:, 0] += y
    with config_context(enable_metadata_routing=True):
        model = CostSensitiveModel(split=Split(folds=2)).set_fit_request(sample_cost=True)
        pipeline = make_pipeline(StandardScaler(), model)
        search = GridSearchCV(pipeline, {"costsensitivemodel__calibration": ["sigmoid", "isotonic"]}, cv=2)
        search.fit(X, y, sample_cost=1.0 + 4 * y)
    assert search.best_estimator_[-1].costs_.evaluate()[1, 0] == 5.0


def test_progress_rises_over_folds_and_rounds():
    X, y = table(150)
    seen = []
    model = CostSensitiveModel(make("cgada", {"n_estimators": 4}), split=Split(folds=3))
    model.fit(X, y, progress=lambda *step: seen.append(step))
    fractions = [fraction for *_, fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert {phase for phase, *_ in seen} == {"out_of_fold", "boosting", "calibration"}
    assert [step[1] for step in seen if step[0] == "boosting"] == [1, 2, 3, 4]
    assert all(0 < step[4]["error"] < 0.5 for step in seen if step[0] == "boosting")

    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    with pytest.raises(StopError):
        model.fit(X, y, progress=stop)


@pytest.mark.parametrize("weak", [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()])
def test_other_weak_learners_are_taken_as_they_are(weak):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    X[:, 0] += y
    model = CostSensitiveModel(make("cgada", {"estimator": weak, "n_estimators": 5})).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.6
