"""The slow twin of contributions: every order of the columns, and trees walked with both sides weighed."""

from collections.abc import Callable, Collection
from itertools import permutations
from typing import Any

import numpy as np

from costboost.ensembles.trees import Trees

Value = Callable[[frozenset[int]], Any]


def shapley(value: Value, players: int) -> Any:
    """Mean over all orders of what each player adds to those before it; (players, …)."""
    orders = list(permutations(range(players)))
    added = [0.0] * players
    for order in orders:
        for place, player in enumerate(order):
            before = frozenset(order[:place])
            added[player] = added[player] + value(before | {player}) - value(before)
    return np.array(added) / len(orders)


def lies_above(trees: Trees, node: int, value: float) -> bool:
    """Whether a present value goes above at a node: by its cut, or by the bit of its code in a subset."""
    if not np.isnan(trees.cut[node]):
        return bool(value > trees.cut[node])
    first = 8 * int(np.isnan(trees.cut[:node]).sum())
    bits = sum(int(word) % 2**32 << 32 * i for i, word in enumerate(trees.subsets[first : first + 8]))
    return bool(bits >> (int(value) if 0 <= value < 255 else 255) & 1)


def walked(trees: Trees, share: Any, sources: Any, row: Any, coalition: Collection[int]) -> Any:
    """(K',): scores when only the columns of a coalition decide their cuts."""

    def below(node: int, weight: float) -> None:
        column = int(trees.feature[node])
        if column < 0:
            total[trees.output[node]] += weight * trees.value[node]
            return
        child = int(trees.child[node])
        if sources[column] in coalition:
            value = row[column]
            above = bool(trees.missing_above[node]) if np.isnan(value) else lies_above(trees, node, value)
            below(child + above, weight)
            return
        for side in (0, 1):
            part = share[child + side] / share[node] if share[node] else 0.5
            below(child + side, weight * part)

    total = trees.constant.copy()
    for root in trees.roots.tolist():
        below(root, 1.0)
    return total
