"""Which rows train and which are judged: found from the contents of the rows, never from their order.

Rows are first put in an order that their contents determine (`costboost.row_order`); everything else counts
positions in that order. Permuting the rows of a table therefore changes no split, and renaming its classes
changes none either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from costboost.row_order import Rows, bits_of, permutation

SplitKind: TypeAlias = Literal["stratified", "group", "time", "predefined"]


@dataclass(frozen=True)
class Split:
    """How rows are divided into training, validation and test parts.

    Parameters
    ----------
    kind : {"stratified", "group", "time", "predefined"}
        `stratified`: each part has its share of every class. `group`: the same, and rows of one group stay
        together. `time`: the latest rows are the test part, and no row is judged by a model that has seen
        its time or a later one. `predefined`: a column says "test", "train", or the number of the fold.
    test_fraction : float, default 0.2
        Share of the rows in the test part, in (0, 1).
    folds : int, default 5
        Number of folds of the training part; fewer when a class has fewer rows (or groups).

    Examples
    --------
    >>> train, test = holdout(Split(test_fraction=0.25), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> len(train), len(test)
    (6, 2)
    """

    kind: SplitKind = "stratified"
    test_fraction: float = 0.2
    folds: int = 5

    def __post_init__(self) -> None:
        if self.kind not in get_args(SplitKind):
            raise ValueError(f"a split is one of {', '.join(get_args(SplitKind))}, not {self.kind!r}")
        if not 0 < self.test_fraction < 1:
            raise ValueError(f"test_fraction must lie between 0 and 1, not {self.test_fraction}")
        if self.folds < 2:
            raise ValueError(f"folds must be at least 2, not {self.folds}")


def holdout(
    split: Split,
    y_codes: NDArray[np.integer[Any]],
    *,
    order: Rows | None = None,
    groups: NDArray[Any] | None = None,
    times: NDArray[np.float64] | None = None,
    parts: NDArray[Any] | None = None,
    seed: int = 0,
) -> tuple[Rows, Rows]:
    """Set the test part aside.

    Parameters
    ----------
    split : Split
    y_codes : ndarray of shape (n,), int
        Class of each row.
    order : ndarray of shape (n,), intp, optional
        From `canonical_order`; without it the order of the rows counts.
    groups : ndarray of shape (n,), optional
        For `group`: numbers or text.
    times : ndarray of shape (n,), float64, optional
        For `time`: seconds; rows of one time stay together.
    parts : ndarray of shape (n,), optional
        For `predefined`: "train", "test" or a fold number; without any "test" the highest fold is taken.
    seed : int

    Returns
    -------
    train, test : ndarrays of intp
        Row indices, each listed in the canonical order (`time`: by time).

    Raises
    ------
    ValueError
        A class has fewer than two rows (or groups), the column the split needs is absent or holds something
        else, or a part would be empty.
    """
    y, order = _checked(y_codes, order)
    if split.kind == "stratified":
        test = _stratified_test(y[order], split.test_fraction, seed)
    elif split.kind == "group":
        test = _group_test(y[order], _group_codes(groups, order), split.test_fraction, seed)
    elif split.kind == "time":
        order = order[np.argsort(_times(times, order), kind="stable")]
        test = _time_test(_times(times, order), split.test_fraction)
    else:
        test = _predefined_test(_part_names(parts, order))
    return order[~test], order[test]


def folds(
    split: Split,
    y_codes: NDArray[np.integer[Any]],
    *,
    order: Rows | None = None,
    groups: NDArray[Any] | None = None,
    times: NDArray[np.float64] | None = None,
    parts: NDArray[Any] | None = None,
    seed: int = 0,
) -> list[tuple[Rows, Rows]]:
    """Divide rows into folds; every training part has rows of every class.

    Each row is validated exactly once, except those that no training part precedes: the first block of a
    `time` split, and rows a predefined column calls "train". A predefined column without fold numbers gives
    stratified folds; rows it calls "test" belong to no fold.

    Parameters
    ----------
    split, y_codes, order, groups, times, parts, seed
        As in `holdout`, for the rows to be divided.

    Returns
    -------
    list of (train, valid)
        Row indices, each listed in the canonical order (`time`: by time).

    Raises
    ------
    ValueError
        As in `holdout`.

    Examples
    --------
    >>> [len(valid) for _, valid in folds(Split(folds=3), np.array([0, 0, 0, 0, 1, 1, 1, 1]))]
    [3, 3, 2]
    """
    y, order = _checked(y_codes, order)
    if split.kind == "time":
        order = order[np.argsort(_times(times, order), kind="stable")]
        return list(_time_folds(order, y[order], _times(times, order), split.folds))
    if split.kind == "group":
        number = _group_folds(y[order], _group_codes(groups, order), split.folds, seed)
    elif split.kind == "predefined":
        names = _part_names(parts, order)
        order, names = order[names != "test"], names[names != "test"]
        _, order = _checked(y_codes, order)
        number = _fold_numbers(names)
        if (number < 0).all():
            number = _stratified_folds(y[order], split.folds, seed)
    else:
        number = _stratified_folds(y[order], split.folds, seed)
    return list(_numbered_folds(order, y, number))


def _checked(y_codes: NDArray[np.integer[Any]], order: Rows | None) -> tuple[Rows, Rows]:
    y = np.asarray(y_codes).astype(np.intp, copy=False)
    rows = np.arange(len(y), dtype=np.intp) if order is None else np.asarray(order, dtype=np.intp)
    counts = np.unique(y[rows], return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError("a split needs rows of at least two classes")
    if counts.min() < 2:
        raise ValueError("a split needs at least two rows of each class")
    return y, rows


# Stratified


def _stratified_test(y: Rows, fraction: float, seed: int) -> NDArray[np.bool_]:
    test = np.zeros(len(y), dtype=np.bool_)
    shuffled = permutation(len(y), seed)
    for k in np.unique(y):
        rows = shuffled[y[shuffled] == k]
        test[rows[: _part_of(len(rows), fraction)]] = True
    return test


def _part_of(n: int, fraction: float) -> int:
    """Share of n, rounded, leaving at least one on each side."""
    return min(max(round(n * fraction), 1), n - 1)


def _stratified_folds(y: Rows, n_folds: int, seed: int) -> Rows:
    classes, counts = np.unique(y, return_counts=True)
    n_folds = min(n_folds, int(counts.min()))
    number = np.empty(len(y), dtype=np.intp)
    shuffled = permutation(len(y), seed)
    dealt = 0
    for k in classes:
        rows = shuffled[y[shuffled] == k]
        # Each class goes on where the last one stopped, so that the folds are of one size.
        number[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return number


# Groups


def _group_test(y: Rows, groups: Rows, fraction: float, seed: int) -> NDArray[np.bool_]:
    counts = _group_counts(y, groups)
    every = np.ones(len(counts), dtype=np.bool_)
    # Two groups of each class stay for the folds, when there are three.
    leave = min(2, int((counts > 0).sum(axis=0).min()) - 1)
    return _take_groups(counts, every, fraction, seed, leave)[groups]


def _group_folds(y: Rows, groups: Rows, n_folds: int, seed: int) -> Rows:
    counts = _group_counts(y, groups)
    n_folds = min(n_folds, int((counts > 0).sum(axis=0).min()))
    number = np.full(len(counts), n_folds - 1, dtype=np.intp)
    free = np.ones(len(counts), dtype=np.bool_)
    for fold in range(n_folds - 1):
        taken = _take_groups(counts, free, 1.0 / (n_folds - fold), seed, n_folds - 1 - fold)
        number[taken] = fold
        free &= ~taken
    return number[groups]


def _group_counts(y: Rows, groups: Rows) -> NDArray[np.float64]:
    """(G, K) rows of each class in each group."""
    classes, codes = np.unique(y, return_inverse=True)
    n_groups = int(groups.max()) + 1
    counts = np.bincount(groups * len(classes) + codes, minlength=n_groups * len(classes))
    by_group = counts.reshape(n_groups, len(classes)).astype(np.float64)
    if (by_group > 0).sum(axis=0).min() < 2:
        raise ValueError("a group split needs rows of each class in at least two groups")
    return by_group


def _take_groups(
    counts: NDArray[np.float64], free: NDArray[np.bool_], fraction: float, seed: int, leave: int
) -> NDArray[np.bool_]:
    """Take free groups until every class has about its fraction of rows, whole groups only.

    Groups of one composition are interchangeable and are taken together, the large ones first: t of them are
    taken, where t minimises the squared distance of all classes from their targets.
    """
    taken = np.zeros(len(counts), dtype=np.bool_)
    shuffled = permutation(len(counts), seed)
    shuffled = shuffled[free[shuffled]]
    kinds, kind_of = np.unique(counts[shuffled], axis=0, return_inverse=True)
    scale = counts[free].sum(axis=0)
    wanted, have = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    for kind in np.argsort(-kinds.sum(axis=1), kind="stable"):
        members, size = shuffled[kind_of == kind], kinds[kind]
        wanted += fraction * len(members) * size
        best = (size * (wanted - have) / scale**2).sum() / (size**2 / scale**2).sum()
        n_taken = int(min(max(np.rint(best), 0), len(members)))
        taken[members[:n_taken]] = True
        have += n_taken * size
    _lend_missing_classes(counts, free, taken, shuffled, leave)
    return taken


def _lend_missing_classes(
    counts: NDArray[np.float64],
    free: NDArray[np.bool_],
    taken: NDArray[np.bool_],
    shuffled: Rows,
    leave: int,
) -> None:
    """Move the smallest possible groups until either side has every class: one group, and `leave` groups."""
    by_size = shuffled[np.argsort(counts[shuffled].sum(axis=1), kind="stable")]
    for k in range(counts.shape[1]):
        holders = by_size[counts[by_size, k] > 0]
        inside = taken[holders]
        if not inside.any():
            taken[holders[0]] = True
        elif len(holders) - inside.sum() < leave:
            back = holders[inside][: leave - (len(holders) - int(inside.sum()))]
            taken[back] = False
    rest = free & ~taken
    if not taken.any() or not (counts[rest] > 0).any(axis=0).all():
        raise ValueError(
            "a group split found no way to leave rows of every class to train on: too few groups"
        )


def _group_codes(groups: NDArray[Any] | None, order: Rows) -> Rows:
    """Number groups by the bits of their value, which no order of rows changes."""
    if groups is None:
        raise ValueError("a group split needs the group of each row")
    return np.unique(bits_of(np.asarray(groups))[order], return_inverse=True)[1]


# Time


def _times(times: NDArray[np.float64] | None, order: Rows) -> NDArray[np.float64]:
    if times is None:
        raise ValueError("a time split needs the time of each row")
    values = np.asarray(times, dtype=np.float64)[order]
    if not np.isfinite(values).all():
        raise ValueError("a time split needs a time in every row")
    return values


def _time_test(times: NDArray[np.float64], fraction: float) -> NDArray[np.bool_]:
    starts = _starts(times)
    if len(starts) == 0:
        raise ValueError("a time split needs rows of at least two times")
    cut = starts[np.abs(starts - (1.0 - fraction) * len(times)).argmin()]
    test: NDArray[np.bool_] = np.arange(len(times)) >= cut
    return test


def _starts(times: NDArray[np.float64]) -> Rows:
    """Positions, after the first, where a new time begins in sorted times."""
    return np.flatnonzero(np.diff(times) > 0) + 1


def _time_folds(
    order: Rows, y: Rows, times: NDArray[np.float64], n_folds: int
) -> Iterator[tuple[Rows, Rows]]:
    starts, n = _starts(times), len(order)
    complete = max(int(np.flatnonzero(y == k)[0]) for k in np.unique(y)) + 1
    usable = starts[starts >= complete]
    if len(usable) == 0:
        raise ValueError("a time split needs rows of every class before the last time")
    targets = np.arange(1, n_folds + 1) * n / (n_folds + 1)
    cuts = np.unique(usable[np.abs(usable[:, None] - targets).argmin(axis=0)])
    for begin, end in zip(cuts, [*cuts[1:], n], strict=True):
        yield order[:begin], order[begin:end]


# Predefined


def _part_names(parts: NDArray[Any] | None, order: Rows) -> NDArray[np.str_]:
    if parts is None:
        raise ValueError("a predefined split needs the part of each row")
    names, codes = np.unique([_part_name(value) for value in np.asarray(parts)[order]], return_inverse=True)
    for name in names:
        if name not in ("train", "test") and not (name.isascii() and name.isdigit()):
            raise ValueError('the column of a predefined split holds "train", "test" or fold numbers only')
    return names[codes]


def _part_name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip().lower()


def _fold_numbers(names: NDArray[np.str_]) -> Rows:
    return np.array([int(name) if name.isdigit() else -1 for name in names], dtype=np.intp)


def _predefined_test(names: NDArray[np.str_]) -> NDArray[np.bool_]:
    test: NDArray[np.bool_] = names == "test"
    if not test.any():
        numbers = _fold_numbers(names)
        test = (numbers == numbers.max()) & (numbers >= 0)
    if not test.any() or test.all():
        raise ValueError("the column of a predefined split puts all rows in one part")
    return test


def _numbered_folds(order: Rows, y: Rows, number: Rows) -> Iterator[tuple[Rows, Rows]]:
    numbers = np.unique(number[number >= 0])
    if len(numbers) < 2:
        raise ValueError("the folds of a split must be at least two")
    classes = np.unique(y[order])
    for fold in numbers:
        train, valid = order[number != fold], order[number == fold]
        if len(np.unique(y[train])) < len(classes):
            raise ValueError(f"without fold {fold} a class has no rows to train on")
        yield train, valid
