"""From kept hypotheses to a score that can be stored, if all weak learners are of one kind of ours."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.boosting._problem import Floats
from costboost.boosting._scores import Votes
from costboost.ensembles.expansions import Expansions
from costboost.ensembles.planes import Planes
from costboost.ensembles.trees import Trees
from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.svm_machine import Machine
from costboost.learners.tree import HistogramTree, answers
from costboost.scorer import ScoreFunction
from costboost.terms import Terms

__all__ = ["ensemble_of"]

Ints: TypeAlias = NDArray[np.int32]


def ensemble_of(parts: Sequence[Votes], n_features: int) -> ScoreFunction | None:
    """Score of one ensemble, or of one for each class.

    Parameters
    ----------
    parts : sequence of Votes
        With more than one, part k has one score, which becomes score k.
    n_features : int

    Returns
    -------
    Terms, Trees, Planes or Expansions
        Its score is the last stage of the votes, to the bit; None if a weak learner is not ours, or a machine
        whose kernel the user computed.
    """
    kinds = {type(voter.estimator) for part in parts for voter in part.ensemble.hypotheses}
    if kinds <= {DecisionStump}:
        return _terms(parts, n_features)
    if kinds == {HistogramTree}:
        return _trees(parts, n_features)
    return _machines(parts) if kinds == {WeightedSVM} else None


def _voters(parts: Sequence[Votes]) -> list[tuple[int, Votes, Any]]:
    """Output, votes, and (hypothesis, alpha, parts) of every hypothesis, in the order of addition."""
    return [(k, part, voter) for k, part in enumerate(parts) for voter in part._voters()]


def _constant(parts: Sequence[Votes]) -> Floats:
    return np.concatenate([part.constant for part in parts])


# Stumps


def _terms(parts: Sequence[Votes], n_features: int) -> Terms:
    stumps = [(stump, k + own, sides) for k, part in enumerate(parts) for stump, own, sides in part.stumps()]
    below, above, missing = np.array([sides for _, _, sides in stumps]).reshape(-1, 3).T.copy()
    return Terms.of_stumps(
        feature=np.array([stump.feature_ for stump, _, _ in stumps], dtype=np.int32),
        cut=np.array([stump.cut_ for stump, _, _ in stumps], dtype=np.float64),
        below=below,
        above=above,
        missing=missing,
        output=np.array([k for _, k, _ in stumps], dtype=np.int32),
        constant=_constant(parts),
        n_features=n_features,
    )


# Trees


def _trees(parts: Sequence[Votes], n_features: int) -> Trees:
    voters = _voters(parts)
    branches = [voter[0].estimator.tree_ for _, _, voter in voters]
    leaves = [_leaves(k, part, *voter) for k, part, voter in voters]
    return Trees(
        nodes=np.concatenate([one.nodes for one in branches]),
        feature=np.concatenate([one.feature for one in branches]),
        cut=np.concatenate([one.cut for one in branches]),
        missing_above=np.concatenate([one.missing_above for one in branches]),
        n_features=n_features,
        subsets=np.concatenate([one.subsets for one in branches]),
        value=np.concatenate([value for value, _ in leaves]),
        output=np.concatenate([output for _, output in leaves]),
        constant=_constant(parts),
    )


def _leaves(
    k: int, part: Votes, hypothesis: Any, alpha: float, sides: tuple[float, float] | None
) -> tuple[Floats, Ints]:
    """(N,) what the nodes of a tree add, 0 for inner ones, and (N,) to which score."""
    tree: HistogramTree = hypothesis.estimator
    answer = answers(tree, part.positive, part.response if len(part.classes) == 2 else "sign")
    added = part.added(alpha, sides, answer)
    leaf = tree.tree_.feature < 0
    if added.shape[1] == 1:
        return np.where(leaf, added[:, 0], 0.0), np.where(leaf, k, 0).astype(np.int32)
    output = np.where(leaf, answer, 0).astype(np.int32)
    return np.where(leaf, added[np.arange(len(leaf)), output], 0.0), output


# Support vector machines


def _machines(parts: Sequence[Votes]) -> Planes | Expansions | None:
    voters = _voters(parts)
    machines = [voter[0].estimator.machine_ for _, _, voter in voters]
    first = machines[0]
    # One map per fit: whatever was fitted otherwise shares neither scaler nor vectors.
    if first.scaler is None or any(
        one.scaler is not first.scaler or one.vectors is not first.vectors for one in machines
    ):
        return None
    below, above, reach = np.array([_sides(part, *voter) for _, part, voter in voters]).T
    shared: dict[str, Any] = {
        "unit": first.scaler.unit,
        "center": first.scaler.center,
        "spread": first.scaler.scale,
        "below": below.copy(),
        "above": above.copy(),
        "reach": reach.copy(),
        "output": np.array([k for k, _, _ in voters], dtype=np.int32),
        "constant": _constant(parts),
    }
    if first.kernel is None:
        return Planes(coef=np.concatenate([one.coef for one in machines]), **shared)
    return _expansions(machines, shared)


def _expansions(machines: Sequence[Machine], shared: dict[str, Any]) -> Expansions:
    kernel, vectors = machines[0].kernel, machines[0].vectors
    assert kernel is not None
    assert vectors is not None
    coef = np.array([one.coef for one in machines])
    used = np.flatnonzero(coef.any(axis=0))  # a vector without a coefficient adds nothing
    return Expansions(
        vectors=vectors[used].ravel(),
        coef=coef[:, used].ravel(),
        intercept=np.array([one.intercept for one in machines]),
        kernel=kernel.name,
        gamma=float(kernel.gamma),
        degree=int(kernel.degree),
        coef0=float(kernel.coef0),
        **shared,
    )


def _sides(
    part: Votes, hypothesis: Any, alpha: float, sides: tuple[float, float] | None
) -> tuple[float, float, float]:
    """What a machine adds where f(x) <= 0 and where f(x) > 0, and how far its answer reaches."""
    towards = 1.0 if part.positive == 1 else -1.0
    below, above = part.added(alpha, sides, np.array([-towards, towards]))[:, 0].tolist()
    graded = part.response == "decision" and sides is None
    return below, above, float(hypothesis.scale) if graded else 0.0
