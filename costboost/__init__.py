"""Cost-sensitive boosting: learn from a table which decision costs the least.

Names are loaded when they are first asked for (PEP 562), so that a process that only scores rows loads numpy
and nothing else.

Examples
--------
>>> import costboost
>>> costboost.CostMatrix(cost_fn=9, cost_fp=1).threshold()
0.1
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costboost.actions import Action, Review
    from costboost.boosting._base import CostSensitiveBooster
    from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier, CGAdaClassifier
    from costboost.boosting.ada_boost_nu import AdaBoostNuClassifier
    from costboost.boosting.ada_c import AdaCClassifier
    from costboost.boosting.ada_cost import AdaCostClassifier
    from costboost.boosting.ada_u_boost import AdaUBoostClassifier
    from costboost.boosting.asym_boost import AsymBoostClassifier
    from costboost.boosting.cs_ada_boost import CSAdaBoostClassifier
    from costboost.boosting.csb import CSBClassifier
    from costboost.boosting.gentle import (
        GCADAClassifier,
        GentleAdaBoostClassifier,
        MarginPruningBoostClassifier,
        MCADAClassifier,
    )
    from costboost.boosting.lp_boost import LPBoostClassifier
    from costboost.boosting.modest import ModestAdaBoostClassifier
    from costboost.boosting.pcada import PCADAClassifier
    from costboost.boosting.penalized import PenalizedAdaBoostClassifier
    from costboost.boosting.soft_band_boost import SoftBandBoostClassifier
    from costboost.boosting.soft_boost import SoftBoostClassifier
    from costboost.calibration.calibrator import Calibrator, fit_calibrator
    from costboost.cost_cells import CostCell
    from costboost.cost_ranges import CostRangeReport, cost_range_report
    from costboost.cost_specs import CostSpec
    from costboost.costs import CostMatrix, UnreasonableCostsError, regrets, unreasonable_rows
    from costboost.curves import (
        brier_curve,
        evaluate_curves,
        margin_distribution,
        net_benefit_curve,
        pr_curve,
        roc_curve,
    )
    from costboost.decisions import Decisions, decide, decide_by_label, decide_by_threshold
    from costboost.drift import Drift, category_drift, number_drift, stability_index
    from costboost.explain import CostsWithout, Explainer, Explanation, costs_without
    from costboost.features import FeatureEncoder
    from costboost.intervals import mean_interval, resampled_mean_interval, share_interval, total_interval
    from costboost.learners.stump import DecisionStump
    from costboost.learners.svm import WeightedSVM
    from costboost.learners.tree import HistogramTree
    from costboost.metrics.evaluation import evaluate
    from costboost.metrics.threshold_table import threshold_table
    from costboost.mixture.classifier import MixtureClassifier
    from costboost.model import CostSensitiveModel
    from costboost.persistence import ArtifactError, dump, load, load_scorer
    from costboost.priors import correct_priors
    from costboost.realised import RealisedCost, realised_cost
    from costboost.registry import ALGORITHMS, DEFAULT_ALGORITHM, Algorithm
    from costboost.reliability import calibration_line, reliability_table
    from costboost.review import ReviewPlan, lower_envelope, plan_reviews
    from costboost.row_order import canonical_order
    from costboost.scorer import Scorer
    from costboost.scorers import CostScorer
    from costboost.search import SearchResult, Trial, search_params
    from costboost.search_space import Choices, Interval, draw_params
    from costboost.shape_functions import importance, shapes
    from costboost.splits import Split, folds, holdout
    from costboost.stages import staged_table
    from costboost.terms import Terms
    from costboost.thresholds import FoundThreshold, empirical_threshold, find_threshold

__all__ = [
    "ALGORITHMS",
    "DEFAULT_ALGORITHM",
    "Action",
    "AdaBoostClassifier",
    "AdaBoostNuClassifier",
    "AdaCClassifier",
    "AdaCostClassifier",
    "AdaMECClassifier",
    "AdaUBoostClassifier",
    "Algorithm",
    "ArtifactError",
    "AsymBoostClassifier",
    "CGAdaClassifier",
    "CSAdaBoostClassifier",
    "CSBClassifier",
    "Calibrator",
    "Choices",
    "CostCell",
    "CostMatrix",
    "CostRangeReport",
    "CostScorer",
    "CostSensitiveBooster",
    "CostSensitiveModel",
    "CostSpec",
    "CostsWithout",
    "DecisionStump",
    "Decisions",
    "Drift",
    "Explainer",
    "Explanation",
    "FeatureEncoder",
    "FoundThreshold",
    "GCADAClassifier",
    "GentleAdaBoostClassifier",
    "HistogramTree",
    "Interval",
    "LPBoostClassifier",
    "MCADAClassifier",
    "MarginPruningBoostClassifier",
    "MixtureClassifier",
    "ModestAdaBoostClassifier",
    "PCADAClassifier",
    "PenalizedAdaBoostClassifier",
    "RealisedCost",
    "Review",
    "ReviewPlan",
    "Scorer",
    "SearchResult",
    "SoftBandBoostClassifier",
    "SoftBoostClassifier",
    "Split",
    "Terms",
    "Trial",
    "UnreasonableCostsError",
    "WeightedSVM",
    "brier_curve",
    "calibration_line",
    "canonical_order",
    "category_drift",
    "correct_priors",
    "cost_range_report",
    "costs_without",
    "decide",
    "decide_by_label",
    "decide_by_threshold",
    "draw_params",
    "dump",
    "empirical_threshold",
    "evaluate",
    "evaluate_curves",
    "find_threshold",
    "fit_calibrator",
    "folds",
    "holdout",
    "importance",
    "load",
    "load_scorer",
    "lower_envelope",
    "margin_distribution",
    "mean_interval",
    "net_benefit_curve",
    "number_drift",
    "plan_reviews",
    "pr_curve",
    "realised_cost",
    "regrets",
    "reliability_table",
    "resampled_mean_interval",
    "roc_curve",
    "search_params",
    "shapes",
    "share_interval",
    "stability_index",
    "staged_table",
    "threshold_table",
    "total_interval",
    "unreasonable_rows",
]

_HOMES = {
    "actions": ("Action", "Review"),
    "boosting._base": ("CostSensitiveBooster",),
    "boosting.ada_boost": ("AdaBoostClassifier", "AdaMECClassifier", "CGAdaClassifier"),
    "boosting.ada_boost_nu": ("AdaBoostNuClassifier",),
    "boosting.ada_c": ("AdaCClassifier",),
    "boosting.ada_cost": ("AdaCostClassifier",),
    "boosting.ada_u_boost": ("AdaUBoostClassifier",),
    "boosting.asym_boost": ("AsymBoostClassifier",),
    "boosting.cs_ada_boost": ("CSAdaBoostClassifier",),
    "boosting.csb": ("CSBClassifier",),
    "boosting.gentle": (
        "GCADAClassifier",
        "GentleAdaBoostClassifier",
        "MCADAClassifier",
        "MarginPruningBoostClassifier",
    ),
    "boosting.lp_boost": ("LPBoostClassifier",),
    "boosting.modest": ("ModestAdaBoostClassifier",),
    "boosting.pcada": ("PCADAClassifier",),
    "boosting.penalized": ("PenalizedAdaBoostClassifier",),
    "boosting.soft_band_boost": ("SoftBandBoostClassifier",),
    "boosting.soft_boost": ("SoftBoostClassifier",),
    "calibration.calibrator": ("Calibrator", "fit_calibrator"),
    "cost_cells": ("CostCell",),
    "cost_specs": ("CostSpec",),
    "cost_ranges": ("CostRangeReport", "cost_range_report"),
    "costs": ("CostMatrix", "UnreasonableCostsError", "regrets", "unreasonable_rows"),
    "curves": (
        "brier_curve",
        "evaluate_curves",
        "margin_distribution",
        "net_benefit_curve",
        "pr_curve",
        "roc_curve",
    ),
    "decisions": ("Decisions", "decide", "decide_by_label", "decide_by_threshold"),
    "drift": ("Drift", "category_drift", "number_drift", "stability_index"),
    "explain": ("CostsWithout", "Explainer", "Explanation", "costs_without"),
    "features": ("FeatureEncoder",),
    "intervals": ("mean_interval", "resampled_mean_interval", "share_interval", "total_interval"),
    "learners.stump": ("DecisionStump",),
    "learners.svm": ("WeightedSVM",),
    "learners.tree": ("HistogramTree",),
    "metrics.evaluation": ("evaluate",),
    "metrics.threshold_table": ("threshold_table",),
    "mixture.classifier": ("MixtureClassifier",),
    "model": ("CostSensitiveModel",),
    "persistence": ("ArtifactError", "dump", "load", "load_scorer"),
    "priors": ("correct_priors",),
    "realised": ("RealisedCost", "realised_cost"),
    "registry": ("ALGORITHMS", "DEFAULT_ALGORITHM", "Algorithm"),
    "reliability": ("calibration_line", "reliability_table"),
    "review": ("ReviewPlan", "lower_envelope", "plan_reviews"),
    "row_order": ("canonical_order",),
    "scorer": ("Scorer",),
    "scorers": ("CostScorer",),
    "search": ("SearchResult", "Trial", "search_params"),
    "search_space": ("Choices", "Interval", "draw_params"),
    "shape_functions": ("importance", "shapes"),
    "splits": ("Split", "folds", "holdout"),
    "stages": ("staged_table",),
    "terms": ("Terms",),
    "thresholds": ("FoundThreshold", "empirical_threshold", "find_threshold"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
