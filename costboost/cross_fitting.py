"""One training set, fitted as a whole or in folds; nothing that is fitted sees a row it is judged on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import clone

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._rounds import Callback
from costboost.checkpoints import NO_CHECKPOINTS, Checkpoints, tape_of
from costboost.columns import Columns, ColumnType
from costboost.ensembles.checks import LARGEST
from costboost.features import FeatureEncoder
from costboost.learners.tape import Tape
from costboost.mixture.classifier import MixtureClassifier
from costboost.mixture.members import Members
from costboost.progress import FoldProgress, Progress
from costboost.scorer import ScoreFunction

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows to learn from, in the order in which they are learned.

    Attributes
    ----------
    columns : mapping of name to ndarray of shape (n,)
    types : mapping of name to ColumnType
        The features.
    y : ndarray of shape (n,), int
        Code of each row's class; with two classes 1 is the positive one.
    weight : ndarray of shape (n,), float64
    sample_cost : ndarray of shape (n, 4) or (n, K), or None
        Costs of each row for the booster; None when the booster holds constant ones.
    apart : mapping of {"groups", "times"} to ndarray of shape (n,)
        By what a booster that stops early sets rows aside.
    """

    columns: Columns
    types: Mapping[str, ColumnType]
    y: NDArray[np.intp]
    weight: NDArray[np.float64]
    sample_cost: NDArray[np.float64] | None
    apart: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def take(self, rows: Rows) -> "TrainingSet":
        """Some of the rows, in this order."""
        costs = None if self.sample_cost is None else self.sample_cost[rows]
        columns = {name: values[rows] for name, values in self.columns.items()}
        apart = {name: values[rows] for name, values in self.apart.items()}
        return TrainingSet(columns, self.types, self.y[rows], self.weight[rows], costs, apart)


@dataclass(frozen=True, eq=False)
class BoosterScore:
    """The score of a fitted booster whose weak learners are not ours."""

    booster: Any
    n_outputs: int

    @property
    def n_features(self) -> int:
        """Columns a row must have."""
        return int(self.booster.n_features_in_)

    @property
    def scale(self) -> float:
        """Sum of the votes Σ|α|, of the largest machine if each class has its own."""
        machines = self.booster.machines_ or [self.booster]
        return max(float(np.abs(machine.estimator_weights_).sum()) for machine in machines)

    def score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of shape (n, K')."""
        scores: NDArray[np.float64] = self.booster.decision_function(X)
        return scores.reshape(len(X), -1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """An encoder and the booster that was fitted on what it encoded."""

    encoder: FeatureEncoder
    booster: Any

    @property
    def ensemble(self) -> ScoreFunction:
        """The score, as values where the weak learners are ours."""
        if self.booster.ensemble_ is not None:
            stored: ScoreFunction = self.booster.ensemble_
            return stored
        n_classes = len(self.booster.classes_)
        return BoosterScore(self.booster, 1 if n_classes == 2 else n_classes)

    def score(self, columns: Columns) -> NDArray[np.float64]:
        """Scores of shape (n, K') of typed columns."""
        return self.ensemble.score(self.encoder.transform(columns))


def fit_rows(
    booster: Any, rows: TrainingSet, callback: Callback | None = None, tape: Tape | None = None
) -> Fitted:
    """Fit an encoder and a clone of the booster on these rows alone."""
    encoder, booster = _joined(booster, rows)
    X = encoder.transform(rows.columns)
    try:
        fitted = booster.fit(
            X,
            rows.y,
            sample_cost=rows.sample_cost,
            sample_weight=rows.weight,
            callback=callback,
            **(rows.apart if getattr(booster, "early_stopping", None) is not None else {}),
            **({"tape": tape} if isinstance(booster, CostSensitiveBooster) else {}),
        )
    except ValueError as error:
        large = _large_columns(X, encoder)
        if not large:
            raise
        # Most likely the reason: squares of such numbers overflow, where stumps and trees only compare them.
        told = f"only stumps and trees can learn from numbers beyond {LARGEST:g}: {', '.join(large)}"
        raise ValueError(f"{error}; {told}") from error
    return Fitted(encoder, fitted)


def _large_columns(X: NDArray[np.float64], encoder: FeatureEncoder) -> list[str]:
    too_large = np.fmax.reduce(np.abs(X), axis=0, initial=0.0) > LARGEST  # NaN where it is missing
    return list(dict.fromkeys(encoder.cells[j].source for j in np.flatnonzero(too_large)))


def _joined(booster: Any, rows: TrainingSet) -> tuple[FeatureEncoder, Any]:
    """A fitted encoder and a clone of the booster, whose weak learner knows the columns of categories."""
    booster = clone(booster)
    learner = booster if isinstance(booster, Members | MixtureClassifier) else booster._weak_learner()
    if not hasattr(learner, "categorical_features"):
        return FeatureEncoder().fit(rows.columns, rows.types), booster
    if learner.categorical_features is not None:
        raise ValueError("categorical_features follow from the types of the columns: leave them out")
    encoder = FeatureEncoder(categories="codes").fit(rows.columns, rows.types)
    found = [j for j, cell in enumerate(encoder.cells) if cell.kind == "code"]
    if not found:
        return encoder, booster
    if learner is booster:
        return encoder, booster.set_params(categorical_features=found)
    return encoder, booster.set_params(estimator=clone(learner).set_params(categorical_features=found))


def out_of_fold_scores(
    booster: Any,
    rows: TrainingSet,
    parts: Sequence[tuple[Rows, Rows]],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> NDArray[np.float64]:
    """Score each row by an ensemble that was not fitted on it.

    Parameters
    ----------
    booster : estimator
    rows : TrainingSet
    parts : sequence of (train, valid) row indices
    n_jobs : int, optional
        Folds fitted at a time; changes no number.
    progress : callable, optional
    checkpoints : Checkpoints, optional

    Returns
    -------
    ndarray of shape (n, K'), float64
        NaN where no part validates a row.
    """
    names = [f"fold {fold}" for fold in range(len(parts))]
    found = {fold: checkpoints.find(name) for fold, name in enumerate(names)}
    known = {fold: part_scores for fold, part_scores in found.items() if part_scores is not None}
    missing = {fold: names[fold] for fold in found if fold not in known}
    told = None if progress is None else FoldProgress(progress, len(parts))
    fitted = _part_scores(booster, rows, parts, missing, told=told, checkpoints=checkpoints, n_jobs=n_jobs)
    scores: NDArray[np.float64] | None = None
    for fold, part_scores in chain(known.items(), zip(missing, fitted, strict=True)):
        if fold in missing:
            checkpoints.keep(names[fold], part_scores)
        if scores is None:
            scores = np.full((len(rows.y), part_scores.shape[1]), np.nan)
        scores[parts[fold][1]] = part_scores
        if told is not None:
            told.end(fold)
    assert scores is not None
    return scores


def _part_scores(
    booster: Any,
    rows: TrainingSet,
    parts: Sequence[tuple[Rows, Rows]],
    missing: Mapping[int, str],
    *,
    told: FoldProgress | None,
    checkpoints: Checkpoints,
    n_jobs: int | None,
) -> Iterator[NDArray[np.float64]]:
    """Scores of the missing folds, given by number and name; one after the other, or side by side."""
    is_alone = effective_n_jobs(n_jobs) == 1
    # Other processes, and other machines, send no rounds back.
    is_heard = is_alone or _in_threads()
    tasks = (
        (
            booster,
            rows,
            parts[fold],
            told.rounds_of(fold) if told is not None and is_heard else None,
            tape_of(name, checkpoints) if is_heard else None,
        )
        for fold, name in missing.items()
    )
    if is_alone:
        return starmap(score_part, tasks)
    side_by_side = [delayed(score_part)(*task) for task in tasks]
    scores: Iterator[NDArray[np.float64]] = Parallel(n_jobs=n_jobs, return_as="generator")(side_by_side)
    return scores


def _in_threads() -> bool:
    """Whether what runs side by side shares memory."""
    return bool(getattr(get_active_backend()[0], "supports_sharedmem", False))


def mixed(
    auto: MixtureClassifier, fitted: Fitted, said: NDArray[np.float64], rows: TrainingSet
) -> tuple[Fitted, NDArray[np.float64]]:
    """Weigh fitted members by what they said of rows out of fold.

    Parameters
    ----------
    auto : MixtureClassifier
        Unfitted.
    fitted : Fitted
        Its members, on all rows.
    said : ndarray of shape (n, K' · M), float64
        From `out_of_fold_scores` of its members.
    rows : TrainingSet

    Returns
    -------
    fitted : Fitted
    scores : ndarray of shape (n, K'), float64
        Of the mixture, NaN where `said` is.
    """
    whole = clone(auto)
    weights = whole.mix(fitted.booster, said, rows.y, rows.weight)
    whole.price(rows.y, rows.weight, rows.sample_cost)
    return Fitted(fitted.encoder, whole), weights.mix(said.reshape(len(said), len(weights.constant), -1))


def score_part(
    booster: Any,
    rows: TrainingSet,
    part: tuple[Rows, Rows],
    callback: Callback | None = None,
    tape: Tape | None = None,
) -> NDArray[np.float64]:
    """Scores of the rows of one part that validate, by what was fitted on those that train."""
    train, valid = part
    return fit_rows(booster, rows.take(train), callback, tape).score(rows.take(valid).columns)
