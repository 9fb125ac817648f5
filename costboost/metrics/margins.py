"""By how much scores speak for the class a row has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def margins(
    y_codes: NDArray[np.intp], scores: NDArray[np.float64], positive: int | None = None
) -> NDArray[np.float64]:
    """By how much each row's score speaks for its class: more than 0 where it is right.

    Parameters
    ----------
    y_codes : ndarray of shape (n,), int
    scores : ndarray of shape (n,) or (n, K), float64
        Two classes: rising with the positive one. More: one per class; the strongest rival is subtracted.
    positive : int, optional
        Index of the positive class of two; class 1 when left out.

    Returns
    -------
    ndarray of shape (n,), float64
        In units of the score; divided by the sum of the votes it lies in [-1, 1].

    Examples
    --------
    >>> margins(np.array([1, 0]), np.array([0.5, 0.2]))
    array([ 0.5, -0.2])
    """
    if scores.ndim == 1:
        return np.where(y_codes == (1 if positive is None else positive), scores, -scores)
    rows = np.arange(len(scores))
    rivals = scores.copy()
    rivals[rows, y_codes] = -np.inf
    own: NDArray[np.float64] = scores[rows, y_codes] - rivals.max(axis=1)
    return own
