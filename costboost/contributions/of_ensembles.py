"""Which way of sharing scores out belongs to which stored ensemble, and what it starts from."""

import numpy as np
from numpy.typing import NDArray

from costboost.columns import TEXTUAL, Columns
from costboost.contributions.columns import Contributions, SourceColumns
from costboost.contributions.reference import ReferenceContributions
from costboost.contributions.steps import StepContributions
from costboost.contributions.tree_paths import TreeContributions
from costboost.ensembles.trees import Trees
from costboost.features import FeatureEncoder
from costboost.scorer import ScoreFunction, Scorer
from costboost.terms import Terms

__all__ = ["background_of", "check_background", "contributions_of"]

Floats = NDArray[np.float64]


def background_of(
    encoder: FeatureEncoder, ensemble: ScoreFunction, columns: Columns, weight: Floats
) -> Floats:
    """What contributions are measured from, found on the training rows; to be kept with the scorer.

    Parameters
    ----------
    encoder : FeatureEncoder
    ensemble : ScoreFunction
    columns : mapping of name to ndarray of shape (n,)
        The training rows.
    weight : ndarray of shape (n,), float64, >= 0, not all 0

    Returns
    -------
    ndarray of one dimension, float64
        Terms: what each column adds to each score on average; trees: the share of the rows that passed each
        node; others: a typical row.
    """
    X, sources = encoder.transform(columns), _sources(encoder)
    if isinstance(ensemble, Terms):
        return StepContributions.background(ensemble, sources, X, weight)
    if isinstance(ensemble, Trees):
        return TreeContributions.background(ensemble, X, weight)
    categories = np.array([kind in TEXTUAL for kind in encoder.types.values()])
    coded = encoder.categories == "codes"
    return ReferenceContributions.background(sources, categories, X, weight, coded=coded)


def check_background(scorer: Scorer) -> None:
    """Check that the background of a scorer, if it has one, is one of its ensemble.

    Raises
    ------
    ValueError
        If its length or its values are not.
    """
    given, ensemble, sources = scorer.background, scorer.ensemble, _sources(scorer.encoder)
    if given is None:
        return
    if isinstance(ensemble, Terms):
        size, sound = sources.count * ensemble.n_outputs, np.isfinite(given)
    elif isinstance(ensemble, Trees):
        size, sound = len(ensemble.feature), (given >= 0) & (given <= 1 + 1e-9)
    else:
        size, sound = len(sources.of), ~np.isinf(given)
    if given.shape != (size,) or not sound.all():
        raise ValueError("what explanations start from does not belong to this ensemble")


def contributions_of(scorer: Scorer) -> Contributions:
    """The contributions to the scores of a scorer.

    Raises
    ------
    ValueError
        If it has no background, or that of another ensemble.
    """
    check_background(scorer)
    given, ensemble, sources = scorer.background, scorer.ensemble, _sources(scorer.encoder)
    if given is None:
        raise ValueError("the model was stored without what explanations start from: train it anew")
    if isinstance(ensemble, Terms):
        return StepContributions(ensemble, sources, given.reshape(sources.count, ensemble.n_outputs))
    if isinstance(ensemble, Trees):
        return TreeContributions(ensemble, sources, given)
    return ReferenceContributions(ensemble, sources, given)


def _sources(encoder: FeatureEncoder) -> SourceColumns:
    return SourceColumns(encoder.sources, len(encoder.types))
