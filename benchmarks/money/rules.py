"""From probabilities to decisions, and what they cost."""

import numpy as np
from numpy.typing import NDArray

from costboost.calibration.calibrator import fit_calibrator

__all__ = ["calibrated", "charged", "cheapest", "cheapest_constant", "class_weights"]

Floats = NDArray[np.float64]
Classes = NDArray[np.intp]

#: Probabilities this near 0 and 1 have log-odds of ±16.
_TINY = 1e-7


def charged(costs: Floats, y: Classes, decided: Classes) -> Floats:
    """What each row costs.

    Parameters
    ----------
    costs : ndarray of shape (n, K, K)
        Cost of deciding column c on a row that is of class k.
    y, decided : ndarray of shape (n,), int

    Examples
    --------
    >>> costs = np.array([[[0.0, 1.0], [9.0, 0.0]]] * 2)
    >>> charged(costs, np.array([1, 1]), np.array([0, 1])).tolist()
    [9.0, 0.0]
    """
    paid: Floats = costs[np.arange(len(y)), y, decided]
    return paid


def cheapest(probabilities: Floats, costs: Floats) -> Classes:
    """Decisions of the least expected cost, each row at its own costs; the first of equal ones.

    Examples
    --------
    >>> costs = np.array([[[0.0, 1.0], [9.0, 0.0]]] * 2)
    >>> cheapest(np.array([[0.95, 0.05], [0.8, 0.2]]), costs).tolist()
    [0, 1]
    """
    decided: Classes = np.einsum("nk,nkc->nc", probabilities, costs).argmin(axis=1)
    return decided


def cheapest_constant(costs: Floats, y: Classes) -> int:
    """The decision that costs least when it is taken for every row."""
    return int(costs[np.arange(len(y)), y].sum(axis=0).argmin())


def class_weights(costs: Floats, y: Classes) -> Floats:
    """Weight of each row: the mean cost of a mistake on its class beyond being right, of mean 1.

    With two classes the minimum expected cost at the mean costs is then the class that weighs more.

    Examples
    --------
    >>> costs = np.array([[[0.0, 1.0], [9.0, 0.0]]] * 2)
    >>> class_weights(costs, np.array([0, 1])).tolist()
    [0.2, 1.8]
    """
    n_classes = costs.shape[1]
    beyond = costs - np.einsum("nkk->nk", costs)[:, :, None]
    regret = beyond.sum(axis=2) / (n_classes - 1)
    means = np.array([max(regret[y == k, k].mean(), 0.0) for k in range(n_classes)])
    weights = means[y]
    scaled: Floats = weights * (len(y) / weights.sum())
    return scaled


def calibrated(out_of_fold: Floats, y: Classes, asked: Floats) -> Floats:
    """Sigmoid calibration (Platt 1999) of the log-odds, of more than two classes each against the rest.

    Parameters
    ----------
    out_of_fold, asked : ndarray of shape (n, K)
        Probabilities of rows that were not learned from, and those to be corrected.
    y : ndarray of shape (n,), int
    """
    n_classes = out_of_fold.shape[1]
    calibrator = fit_calibrator("sigmoid", _log_odds(out_of_fold), y, n_classes)
    return calibrator.probabilities(_log_odds(asked))


def _log_odds(probabilities: Floats) -> Floats:
    kept = np.clip(probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities, _TINY, 1 - _TINY)
    odds: Floats = np.log(kept) - np.log1p(-kept)
    return odds
