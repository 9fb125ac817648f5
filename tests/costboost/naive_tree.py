"""The slow twin of the histogram tree: every column, cut and side of missing values, in exact fractions."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.costboost.naive_stump import midpoints

Rows = NDArray[Any]
Cut = float | frozenset[float]


class NaiveNode(NamedTuple):
    """Column (-1: leaf), cut and side of missing values; weights of the classes; children or none.

    A cut through categories is the set of the codes above it.
    """

    column: int
    cut: Cut
    missing_above: bool
    masses: list[Fraction]
    children: "tuple[NaiveNode, NaiveNode] | None"


def naive_tree(
    X: Rows,
    y: Rows,
    weights: Rows,
    depth: int,
    *,
    n_classes: int = 2,
    min_rows: int = 1,
    min_mass: Fraction = Fraction(0),
    cuts: list[list[float]] | None = None,
    categories: frozenset[int] = frozenset(),
    added: Fraction = Fraction(0),
) -> NaiveNode:
    """Tree over rows of positive weight; cuts lie between the distinct values of the whole table.

    In columns of categories they follow the shares of a class, after `added` is added to each category.
    """
    if cuts is None:
        cuts = [[-math.inf, *midpoints(column)] for column in X.T]
    masses = masses_of(y, weights, n_classes)
    best, chosen = purity(masses), None
    for j in range(X.shape[1] if depth else 0):
        for cut in subsets(X[:, j], y, weights, n_classes, added) if j in categories else cuts[j]:
            for missing_above in sides_of_missing(X[:, j], weights, cut):
                above = goes_above(X[:, j], cut, missing_above)
                if not allowed(above, weights, min_rows, min_mass):
                    continue
                gained = sum(purity(masses_of(y[s], weights[s], n_classes)) for s in (above, ~above))
                if gained > best:
                    best, chosen = gained, (j, cut, missing_above)
    if chosen is None:
        return NaiveNode(-1, 0.0, False, masses, None)
    above = goes_above(X[:, chosen[0]], *chosen[1:])
    below_node, above_node = (
        naive_tree(
            X[s],
            y[s],
            weights[s],
            depth - 1,
            n_classes=n_classes,
            min_rows=min_rows,
            min_mass=min_mass,
            cuts=cuts,
            categories=categories,
            added=added,
        )
        for s in (~above, above)
    )
    return NaiveNode(*chosen, masses, (below_node, above_node))


def level_by_level(root: NaiveNode) -> list[NaiveNode]:
    nodes, level = [], [root]
    while level:
        nodes += level
        level = [child for node in level for child in node.children or ()]
    return nodes


def masses_of(y: Rows, weights: Rows, n_classes: int) -> list[Fraction]:
    return [
        sum((Fraction(w) for w, k in zip(weights, y, strict=True) if k == c), Fraction(0))
        for c in range(n_classes)
    ]


def purity(masses: list[Fraction]) -> Fraction:
    return sum(m * m for m in masses) / sum(masses) if sum(masses) else Fraction(0)


def subsets(column: Rows, y: Rows, weights: Rows, n_classes: int, added: Fraction) -> list[Cut]:
    """Sets of codes above a cut, all of them first."""
    node = masses_of(y, weights, n_classes)
    chosen = 1 if n_classes == 2 else node.index(max(node))
    shares = {}
    for code in sorted(set(column[~np.isnan(column)].tolist())):
        own = masses_of(y[column == code], weights[column == code], n_classes)
        share = (own[chosen] + added * node[chosen] / sum(node)) / (sum(own) + added)
        shares[code] = round(share * 2**40)
    levels = [-1, *sorted(set(shares.values()))[:-1]]
    return [frozenset(code for code, share in shares.items() if share > level) for level in levels]


def lies_above(value: float, cut: Cut) -> bool:
    return value in cut if isinstance(cut, frozenset) else value > cut


def sides_of_missing(column: Rows, weights: Rows, cut: Cut) -> tuple[bool, bool]:
    """The heavier side first: it is taken where both gain the same."""
    lean = Fraction(0)
    for value, weight in zip(column, weights, strict=True):
        if not math.isnan(value):
            lean += Fraction(weight) if lies_above(value, cut) else -Fraction(weight)
    return (True, False) if lean > 0 else (False, True)


def goes_above(column: Rows, cut: Cut, missing_above: bool) -> Rows:
    return np.array(
        [missing_above if math.isnan(value) else lies_above(value, cut) for value in column], dtype=bool
    )


def allowed(above: Rows, weights: Rows, min_rows: int, min_mass: Fraction) -> bool:
    sides = [weights[above], weights[~above]]
    return all(
        len(s) >= min_rows and sum(map(Fraction, s)) >= max(min_mass, Fraction(1, 10**9)) for s in sides
    )
