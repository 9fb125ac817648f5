"""What a weak learner has found, round by round: a fit that begins again finds it without a search."""

from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.trees import Branches
from costboost.kernels.tree import part_rows
from costboost.learners.columns import BinnedColumns
from costboost.learners.tree_growth import GrownTree

__all__ = ["Tape", "note_of_tree", "tree_of_note"]

Note = NDArray[np.int64]


class Tape:
    """Notes of the hypotheses of a fit, in the order in which they were found.

    A fit on the same rows with the same parameters that gets the notes of its first rounds does not search
    in those, and weighs rows as if it had: what comes out is the same to the bit.

    Parameters
    ----------
    known : iterable of ndarray of int64
        What an earlier fit has noted, from its first hypothesis on.
    on_found : callable, optional
        Called with the note of each hypothesis that is searched for.
    """

    def __init__(self, known: Iterable[Note] = (), on_found: Callable[[Note], object] | None = None) -> None:
        self._known, self._on_found = deque(known), on_found

    @property
    def is_over(self) -> bool:
        """Whether the next hypothesis must be searched for."""
        return not self._known

    def next(self) -> Note | None:
        """Note of the next hypothesis; None if it must be searched for."""
        return self._known.popleft() if self._known else None

    def add(self, note: Note) -> None:
        """Take the note of a hypothesis that was searched for."""
        if self._on_found is not None:
            self._on_found(note)


def note_of_tree(grown: GrownTree) -> Note:
    """All of a tree but the leaves of rows."""
    branches = grown.branches
    parts = (
        np.array(grown.masses.shape),
        branches.feature,
        branches.cut.view(np.int64),
        branches.missing_above,
        grown.masses.ravel(),
        branches.subsets,
    )
    return np.concatenate([part.astype(np.int64, copy=False) for part in parts])


def tree_of_note(note: Note, columns: BinnedColumns) -> GrownTree:
    """Return the tree of a note, and find the leaf of each row."""
    n_nodes, n_classes = note[:2].tolist()
    sizes = [2, n_nodes, n_nodes, n_nodes, n_nodes * n_classes]
    _, feature, cut, missing_above, masses, subsets = np.split(note, np.cumsum(sizes))
    branches = Branches(
        nodes=np.array([n_nodes], dtype=np.int32),
        feature=feature.astype(np.int32),
        cut=cut.view(np.float64),
        missing_above=missing_above.astype(np.int32),
        n_features=len(columns.cuts),
        subsets=subsets.astype(np.int32),
    )
    return GrownTree(branches, masses.reshape(n_nodes, n_classes), _leaves(branches, columns))


def _leaves(branches: Branches, columns: BinnedColumns) -> NDArray[np.uint8]:
    """(n,): the number of each row's leaf among the leaves, in the order of the nodes."""
    n = columns.codes.shape[1]
    leaves = np.empty(n, dtype=np.uint8)
    rows = {0: np.arange(n, dtype=np.uint32)}
    members = iter(branches.members)
    number = 0
    for node, (column, cut) in enumerate(zip(branches.feature.tolist(), branches.cut.tolist(), strict=True)):
        own = rows.pop(node)
        if column < 0:
            leaves[own] = number
            number += 1
            continue
        cuts = columns.cuts[column]
        # A bin lies above a cut if it is beyond it, or its code is in the subset.
        above = np.arange(len(cuts) + 2) > (np.searchsorted(cuts, cut) if cut > -np.inf else -1)
        if np.isnan(cut):
            above[:-1] = next(members)[: len(above) - 1]
        above[-1] = branches.missing_above[node]
        count, below_first = part_rows(columns.codes[column], above, own)
        both = (own[:count], own[count:])
        child = int(branches.child[node])
        rows[child], rows[child + 1] = both if below_first else both[::-1]
    return leaves
