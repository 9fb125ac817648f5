"""Fitting a booster to rows that lie in several places."""

from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._going_on import Start
from costboost.boosting._rounds import Callback
from costboost.kernels.fixed_point import total
from costboost.learners.columns import BinnedColumns
from costboost.learners.stump import DecisionStump
from costboost.learners.tree import HistogramTree, check_tree
from costboost.learners.weak import PreparedLearner
from costboost.learners.weights import read_weights
from costboost.parameters import check_parameters
from costboost.partitioned.crew import Crew
from costboost.partitioned.cutting import find_cuts
from costboost.partitioned.learners import PartitionedStump, PartitionedTree
from costboost.partitioned.partition import Told
from costboost.partitioned.roster import Roster

__all__ = ["fit_partitioned"]

Booster = TypeVar("Booster", bound=CostSensitiveBooster)

#: Bins that an octet numbers.
_MOST_BINS = 255


def fit_partitioned(booster: Booster, crew: Crew, callback: Callback | None = None) -> Booster:
    """Fit a booster to the rows of all partitions, as `fit` would to all of them in one place.

    No place holds all columns. Labels, weights and costs of all rows come here once, some tens of bytes for
    each; after that partitions answer with sums. Where the formula of the booster looks at rows one by one
    instead of at kinds of them, each round also sends the weight of each row and gets back its answer.

    Parameters
    ----------
    booster : CostSensitiveBooster
        Whose weak learner is a stump or a tree of at most 255 bins.
    crew : Crew
    callback : callable, optional
        As in `fit`.

    Returns
    -------
    booster
        What it has learned is the same to the bit however rows are parted.

    Raises
    ------
    ValueError
        For what `fit` refuses, and for another weak learner, `early_stopping`, `warm_start` and `record`,
        for which rows would have to be in one place.
    """
    check_parameters(booster)
    for name in ("early_stopping", "warm_start", "record"):
        if getattr(booster, name) not in (None, False):
            raise ValueError(f"{name} needs all rows in one place")
    booster._forget()
    booster.machines_ = None
    booster.__dict__.pop("feature_names_in_", None)
    booster._start = _started(booster, crew)
    booster._fit_rounds(callback)
    return booster


def _started(booster: CostSensitiveBooster, crew: Crew) -> Start:
    """Read labels, weights and costs of all rows, and bin the rows where they are."""
    told = crew.ask("told")
    y = np.concatenate([one.y for one in told])
    check_classification_targets(y)
    weights = read_weights(_joined("sample_weight", told), len(y))
    shares = weights / total(weights)
    problem = booster._read_problem(y, shares, _joined("sample_cost", told))
    roster = Roster(crew, tuple(len(one.y) for one in told))
    learner = _prepared(booster, booster._weak_learner(), roster, told, weights)
    booster.classes_, booster.n_features_in_ = problem.labels.classes, told[0].n_columns
    seeds = check_random_state(booster.random_state)
    return Start(problem, learner, np.random.default_rng(seeds.randint(2**31 - 1)), None)


def _prepared(
    booster: CostSensitiveBooster, estimator: Any, roster: Roster, told: list[Told], weights: Any
) -> PreparedLearner:
    """Bin the rows of all partitions."""
    if not isinstance(estimator, DecisionStump | HistogramTree):
        raise ValueError("rows can lie in several places for stumps and trees only")  # noqa: TRY004
    if estimator.max_bins is None or estimator.max_bins > _MOST_BINS:
        raise ValueError(f"max_bins must be at most {_MOST_BINS} where rows lie in several places")
    if len({(one.n_columns, one.dtype) for one in told}) != 1:
        raise ValueError("rows of a training set must have as many columns, of one type, everywhere")
    response = booster._response(estimator)
    is_tree = isinstance(estimator, HistogramTree)
    if is_tree:
        check_tree(estimator, response)
    categories = tuple(estimator.categorical_features or ()) if is_tree else ()
    n_columns = told[0].n_columns
    cuts = find_cuts(
        roster, n_columns, told[0].dtype, weights, max_bins=estimator.max_bins, categories=categories
    )
    roster.ask("bin", cuts, categories)
    # Codes of the right shape, which take no memory.
    codes = np.broadcast_to(np.zeros(1, dtype=np.uint8), (n_columns, len(weights)))
    columns = BinnedColumns(codes, cuts, frozenset(categories))
    if is_tree:
        return PartitionedTree(clone(estimator), columns, response, roster=roster)
    return PartitionedStump(columns, estimator.max_bins, roster=roster)


def _joined(name: str, told: list[Told]) -> Any:
    known = [values for one in told if (values := getattr(one, name)) is not None]
    if known and len(known) != len(told):
        raise ValueError(f"{name} must be there for all rows or for none")
    return np.concatenate(known) if known else None
