"""What takes part: each learns from the rows of a fold and decides on the others, at all costs of the set."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from costboost.columns import ColumnType
from costboost.mixture.classifier import MixtureClassifier
from costboost.model import CostSensitiveModel
from costboost.registry import ALGORITHMS, make

from .peers import PEERS, Peer, cells
from .rules import calibrated, charged, cheapest, cheapest_constant, class_weights
from .sets import Fold

__all__ = ["AUTO", "AUTO_ADDITIVE", "CONSTANT", "Contestant", "Outcome", "contestants"]

Floats = NDArray[np.float64]
Family = Literal["constant", "peer", "searched", "default", "ours"]

CONSTANT = "cheapest constant"
AUTO, AUTO_ADDITIVE = "auto", "auto (additive)"
#: Settings that a search tries.
TRIALS = 10
_INNER_FOLDS = 5


@dataclass(eq=False)
class Outcome:
    """What came of a fold.

    Attributes
    ----------
    charged : dict of "variant/rule" to ndarray of shape (n,)
        Cost of each row that was decided on. Rules: a: the likeliest class; b: the same with class weights
        from the costs; c: least expected cost of calibrated probabilities; own: what the contestant decides.
    probabilities : ndarray of shape (n, K) or None
        Calibrated; of several fits those of the first variant.
    cpu : dict of str to float
        Seconds of CPU: "fit" of one fit on all rows, "calibrated" with all that rule c needs.
    """

    charged: dict[str, Floats] = field(default_factory=dict)
    probabilities: Floats | None = None
    cpu: dict[str, float] = field(default_factory=dict)

    def decide(self, fold: Fold, probabilities: Floats, variants: Mapping[str, Floats]) -> None:
        """Rule c."""
        for variant, costs in variants.items():
            self.charged[f"{variant}/c"] = charged(costs, fold.y_test, cheapest(probabilities, costs))
        if self.probabilities is None:
            self.probabilities = probabilities


@dataclass(frozen=True)
class Contestant:
    """One column of the tables.

    Parameters
    ----------
    name : str
    family : {"constant", "peer", "searched", "default", "ours"}
    distribution : str
        What its version is read from.
    measure : callable of Fold to Outcome
    stage : int
        When it has its turn: what takes long waits for the others.
    two_classes : bool
        Whether it knows no more.
    """

    name: str
    family: Family
    distribution: str
    measure: Callable[[Fold], Outcome]
    stage: int = 0
    two_classes: bool = False

    @property
    def rule(self) -> str:
        """The rule that it is compared by."""
        return "own" if self.family == "constant" or self.two_classes else "c"


@cache
def contestants() -> dict[str, Contestant]:
    """All, by name."""
    peers = [
        Contestant(name, "peer", p.distribution, partial(_peer, p), stage=p.stage)
        for name, p in PEERS.items()
    ]
    searched = [
        Contestant(f"{name}, searched", "searched", p.distribution, partial(_searched, p), stage=4)
        for name, p in PEERS.items()
        if p.space
    ]
    empulse = [
        Contestant("empulse CSBoost", "peer", "empulse", _csboost, two_classes=True),
        Contestant("empulse CSThreshold", "peer", "empulse", _csthreshold, two_classes=True),
    ]
    default = [
        Contestant(AUTO, "default", "costboost", partial(_auto, False)),
        Contestant(AUTO_ADDITIVE, "default", "costboost", partial(_auto, True)),
    ]
    ours = [Contestant(name, "ours", "costboost", partial(_algorithm, name), stage=2) for name in ALGORITHMS]
    constant = Contestant(CONSTANT, "constant", "numpy", _constant)
    return {one.name: one for one in (constant, *default, *peers, *empulse, *ours, *searched)}


def _constant(fold: Fold) -> Outcome:
    outcome = Outcome(cpu={"fit": 0.0})
    for variant, costs in fold.costs.items():
        decided = np.full(len(fold.y_test), cheapest_constant(costs, fold.y))
        outcome.charged[f"{variant}/own"] = charged(fold.costs_test[variant], fold.y_test, decided)
    return outcome


def _peer(peer: Peer, fold: Fold) -> Outcome:
    return _with_rules(peer, fold, {variant: {} for variant in fold.costs})


def _with_rules(peer: Peer, fold: Fold, settings: Mapping[str, Mapping[str, Any]]) -> Outcome:
    """All rules, with the setting of each variant; equal settings share their fits."""
    outcome = Outcome()
    fitted: list[tuple[Mapping[str, Any], Floats, Floats]] = []
    for variant, parameters in settings.items():
        made = next((one for one in fitted if one[0] == parameters), None)
        if made is None:
            began = time.process_time()
            raw = _said(peer, fold, parameters)
            outcome.cpu.setdefault("fit", time.process_time() - began)
            held_out = _out_of_fold(peer, fold, parameters)
            made = (parameters, raw, calibrated(held_out, fold.y, raw))
            outcome.cpu.setdefault("calibrated", time.process_time() - began)
            fitted.append(made)
        costs = fold.costs_test[variant]
        weighted = _said(peer, fold, parameters, class_weights(fold.costs[variant], fold.y))
        outcome.charged[f"{variant}/a"] = charged(costs, fold.y_test, made[1].argmax(axis=1))
        outcome.charged[f"{variant}/b"] = charged(costs, fold.y_test, weighted.argmax(axis=1))
        outcome.decide(fold, made[2], {variant: costs})
    return outcome


def _searched(peer: Peer, fold: Fold) -> Outcome:
    """Of some settings the one that costs least out of fold; every variant of the costs takes its own."""
    rng = np.random.default_rng([fold.seed, int(fold.test_rows[0])])
    settings = [peer.draw(rng) for _ in range(TRIALS)]
    held_out = [_out_of_fold(peer, fold, parameters) for parameters in settings]
    mapped = [calibrated(said, fold.y, said) for said in held_out]
    best = {}
    for variant, costs in fold.costs.items():
        totals = [charged(costs, fold.y, cheapest(p, costs)).sum() for p in mapped]
        best[variant] = settings[int(np.argmin(totals))]
    return _with_rules(peer, fold, best)


def _said(peer: Peer, fold: Fold, parameters: Mapping[str, Any], weights: Floats | None = None) -> Floats:
    """Probabilities of the rows to decide on."""
    model = _fitted(peer, fold, parameters, np.arange(len(fold.y)), weights)
    said: Floats = model.predict_proba(fold.test)
    return said


def _out_of_fold(peer: Peer, fold: Fold, parameters: Mapping[str, Any]) -> Floats:
    said = np.zeros((len(fold.y), fold.n_classes))
    parts = StratifiedKFold(_INNER_FOLDS, shuffle=True, random_state=fold.seed).split(fold.train, fold.y)
    for train, valid in parts:
        model = _fitted(peer, fold, parameters, train)
        said[valid] = model.predict_proba(fold.train.iloc[valid])
    return said


def _fitted(
    peer: Peer,
    fold: Fold,
    parameters: Mapping[str, Any],
    rows: NDArray[np.intp],
    weights: Floats | None = None,
) -> Any:
    model = peer.make(fold, parameters)
    given: dict[str, Any] = {}
    if weights is not None:
        last = model.steps[-1][0] if hasattr(model, "steps") else ""
        given[f"{last}__sample_weight" if last else "sample_weight"] = weights[rows]
    return model.fit(fold.train.iloc[rows], fold.y[rows], **given)


def _csboost(fold: Fold) -> Outcome:
    """On XGBoost, learning from the costs of the rows; it decides at the costs of the rows."""
    from empulse.models import CSBoostClassifier
    from xgboost import XGBClassifier

    encoder = cells(fold).fit(fold.train)
    outcome = Outcome()
    for variant, costs in fold.costs.items():
        began = time.process_time()
        model = CSBoostClassifier(XGBClassifier(n_jobs=1, random_state=fold.seed))
        model.fit(encoder.transform(fold.train), fold.y, **_named(costs))
        outcome.cpu.setdefault("fit", time.process_time() - began)
        p = model.predict_proba(encoder.transform(fold.test))
        asked = fold.costs_test[variant]
        outcome.charged[f"{variant}/own"] = charged(asked, fold.y_test, p.argmax(axis=1))
    return outcome


def _csthreshold(fold: Fold) -> Outcome:
    """Around LightGBM, with its own calibration; it decides at the costs of the rows."""
    from empulse.models import CSThresholdClassifier
    from lightgbm import LGBMClassifier

    encoder = cells(fold).fit(fold.train)
    learner = LGBMClassifier(n_jobs=1, random_state=fold.seed, verbosity=-1)
    began = time.process_time()
    model = CSThresholdClassifier(learner, calibrator="sigmoid", random_state=fold.seed)
    model.fit(encoder.transform(fold.train), fold.y)
    outcome = Outcome(cpu={"fit": time.process_time() - began})
    for variant, costs in fold.costs_test.items():
        decided = model.predict(encoder.transform(fold.test), **_named(costs))
        outcome.charged[f"{variant}/own"] = charged(costs, fold.y_test, np.asarray(decided, dtype=np.intp))
    return outcome


def _named(costs: Floats) -> dict[str, Any]:
    names = {"tn_cost": (0, 0), "fp_cost": (0, 1), "fn_cost": (1, 0), "tp_cost": (1, 1)}
    return {name: np.ascontiguousarray(costs[:, k, c]) for name, (k, c) in names.items()}


def _auto(additive: bool, fold: Fold) -> Outcome:
    outcome = Outcome()
    began = time.process_time()
    model = CostSensitiveModel(MixtureClassifier(additive=additive), random_state=fold.seed)
    model.fit(_columns(fold.train), fold.y, types=_types(fold))
    outcome.cpu = dict.fromkeys(("fit", "calibrated"), time.process_time() - began)
    outcome.decide(fold, model.predict_proba(_columns(fold.test)), fold.costs_test)
    return outcome


def _algorithm(name: str, fold: Fold) -> Outcome:
    """A booster sees the mean costs of the classes: one fit for each variant."""
    outcome = Outcome()
    for variant, costs in fold.costs.items():
        began = time.process_time()
        model = CostSensitiveModel(make(name), random_state=fold.seed)
        named = _named(costs)
        order = ("fn_cost", "fp_cost", "tp_cost", "tn_cost")
        given = costs[np.arange(len(fold.y)), fold.y]
        if fold.n_classes == 2:
            given = np.column_stack([named[one] for one in order])
        model.fit(_columns(fold.train), fold.y, sample_cost=given, types=_types(fold))
        outcome.cpu.setdefault("calibrated", time.process_time() - began)
        p = model.predict_proba(_columns(fold.test))
        outcome.decide(fold, p, {variant: fold.costs_test[variant]})
    return outcome


def _types(fold: Fold) -> dict[str, ColumnType]:
    return {name: "category" if name in fold.categories else "number" for name in fold.train}


def _columns(features: Any) -> dict[str, NDArray[Any]]:
    return {
        name: np.array([x if isinstance(x, str) else None for x in features[name]], dtype=object)
        if features[name].dtype.name == "category"
        else features[name].to_numpy()
        for name in features
    }
