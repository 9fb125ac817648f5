"""One training set, fitted as a whole or in folds; nothing that is fitted sees a row it is judged on."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import clone

from costboost.boosting._base import CostSensitiveBooster
from costboost.columns import Columns, ColumnType
from costboost.features import FeatureEncoder
from costboost.learners.tape import Tape
from costboost.mixture.classifier import MixtureClassifier
from costboost.mixture.members import Members
from costboost.scorer import ScoreFunction

Rows = NDArray[np.intp]
#: ``progress(phase, round, rounds, fraction, figures)``: the fraction is that of the whole fit, in [0, 1];
#: the figures are those of the round, by name.
Progress = Callable[[str, int, int, float, Mapping[str, float]], object]
RoundCallback = Callable[[int, int, Mapping[str, float]], object]


class Checkpoints(Protocol):
    """Where what is done is kept, for a training that has to begin again.

    That is the out-of-fold scores of a fit that is over, named by its place in the training, and notes of the
    rounds of one that is not. Whoever keeps them gives them back only to a training of the same data,
    parameters and versions of libraries; then nothing comes out differently. Fits in threads keep theirs at
    the same time.
    """

    @property
    def is_due(self) -> bool:
        """Whether it is time to keep what is not over."""

    def find(self, name: str) -> NDArray[Any] | None:
        """What was kept under this name; None if it is to be done."""

    def keep(self, name: str, done: NDArray[Any]) -> None:
        """Take what is done."""


class _Nothing:
    """Keeps nothing."""

    is_due: Final = False

    def find(self, name: str) -> None:
        pass

    def keep(self, name: str, done: NDArray[Any]) -> None:
        pass


#: Between the name of a fit and how many rounds came before those that are kept under the name.
ROUNDS: Final = ", rounds from "
NO_CHECKPOINTS: Final[Checkpoints] = _Nothing()


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


def tape_of(fit: str, checkpoints: Checkpoints) -> Tape | None:
    """Rounds of a fit that were kept; those that follow are kept as they become due."""
    if checkpoints is NO_CHECKPOINTS:
        return None
    known, new = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    while (part := checkpoints.find(f"{fit}{ROUNDS}{len(known)}")) is not None:
        starts = np.cumsum(part[1 : part[0]])
        known += np.split(part[part[0] :], starts)
    kept = len(known)

    def on_found(note: NDArray[np.int64]) -> None:
        nonlocal kept
        new.append(note)
        if checkpoints.is_due:
            # How many numbers lie before the notes, how long all but the last are, and the notes.
            lengths = [len(new), *(len(one) for one in new[:-1])]
            checkpoints.keep(f"{fit}{ROUNDS}{kept}", np.concatenate([lengths, *new]))
            kept += len(new)
            new.clear()

    return Tape(known, on_found)


def fit_rows(
    booster: Any, rows: TrainingSet, callback: RoundCallback | None = None, tape: Tape | None = None
) -> Fitted:
    """Fit an encoder and a clone of the booster on these rows alone."""
    encoder, booster = _joined(booster, rows)
    fitted = booster.fit(
        encoder.transform(rows.columns),
        rows.y,
        sample_cost=rows.sample_cost,
        sample_weight=rows.weight,
        callback=callback,
        **(rows.apart if getattr(booster, "early_stopping", None) is not None else {}),
        **({"tape": tape} if isinstance(booster, CostSensitiveBooster) else {}),
    )
    return Fitted(encoder, fitted)


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
    steps, names = len(parts) + 1, [f"fold {fold}" for fold in range(len(parts))]
    found = {fold: checkpoints.find(name) for fold, name in enumerate(names)}
    known = {fold: part_scores for fold, part_scores in found.items() if part_scores is not None}
    missing = [fold for fold in found if fold not in known]
    # Other processes, and other machines, send no rounds back.
    together = _Together(progress, steps) if progress is not None and _in_threads() else None
    if effective_n_jobs(n_jobs) == 1:
        fitted: Iterator[NDArray[np.float64]] = (
            score_part(
                booster,
                rows,
                parts[fold],
                rounds_of(progress, "out_of_fold", step, steps),
                tape_of(names[fold], checkpoints),
            )
            for step, fold in enumerate(missing, start=len(known))
        )
    else:
        rounds = [None if together is None else together.rounds_of(fold) for fold in missing]
        tapes = [tape_of(names[fold], checkpoints) if _in_threads() else None for fold in missing]
        tasks = (
            delayed(score_part)(booster, rows, parts[fold], callback, tape)
            for fold, callback, tape in zip(missing, rounds, tapes, strict=True)
        )
        fitted = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    scores: NDArray[np.float64] | None = None
    each = chain(known.items(), zip(missing, fitted, strict=True))
    for done, (fold, part_scores) in enumerate(each, start=1):
        if fold not in known:
            checkpoints.keep(names[fold], part_scores)
        if scores is None:
            scores = np.full((len(rows.y), part_scores.shape[1]), np.nan)
        scores[parts[fold][1]] = part_scores
        if together is not None:
            together.end(fold, len(parts))
        elif progress is not None:
            progress("out_of_fold", done, len(parts), done / steps, {})
    assert scores is not None
    return scores


def _in_threads() -> bool:
    """Whether what runs side by side shares memory."""
    return bool(getattr(get_active_backend()[0], "supports_sharedmem", False))


class _Together:
    """Rounds of fits that run side by side in threads, as progress of the whole; the first one is told."""

    def __init__(self, progress: Progress, steps: int) -> None:
        self._progress, self._steps = progress, steps
        self._done = dict[int, float]()
        self._lock = threading.Lock()

    def rounds_of(self, fold: int) -> RoundCallback:
        """Callback of the fit of one fold."""

        def report(number: int, rounds: int, figures: Mapping[str, float]) -> None:
            with self._lock:
                self._done[fold] = number / rounds
                if fold == min(one for one, share in self._done.items() if share < 1.0 or one == fold):
                    self._progress("out_of_fold", number, rounds, self._share(), figures)

        return report

    def end(self, fold: int, folds: int) -> None:
        """Note that a fold is through, perhaps before its last round."""
        with self._lock:
            self._done[fold] = 1.0
            self._progress("out_of_fold", fold + 1, folds, self._share(), {})

    def _share(self) -> float:
        return sum(self._done.values()) / self._steps


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


def rounds_of(progress: Progress | None, phase: str, step: int, steps: int) -> RoundCallback | None:
    """Rounds of one of several fits, as progress of the whole."""
    if progress is None:
        return None

    def report(number: int, rounds: int, figures: Mapping[str, float]) -> None:
        progress(phase, number, rounds, (step + number / rounds) / steps, figures)

    return report


def score_part(
    booster: Any,
    rows: TrainingSet,
    part: tuple[Rows, Rows],
    callback: RoundCallback | None = None,
    tape: Tape | None = None,
) -> NDArray[np.float64]:
    """Scores of the rows of one part that validate, by what was fitted on those that train."""
    train, valid = part
    return fit_rows(booster, rows.take(train), callback, tape).score(rows.take(valid).columns)
