"""Slow, obvious twins of the kernels that grow trees of numbers: node by node, over plain lists."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MASK = 2**64 - 1


@dataclass
class Node:
    rows: list[int]
    depth: int = 0
    cut: tuple[int, int, int] | None = None  # column, bin, side of missing values
    children: list[int] = field(default_factory=list)


@dataclass
class Data:
    bins: NDArray[np.uint8]
    n_bins: Sequence[int]
    g: NDArray[np.float64]
    h: NDArray[np.float64]

    def above(self, row: int, cut: tuple[int, int, int]) -> bool:
        column, number, side = cut
        code = self.bins[column, row]
        return side == 1 if code == self.n_bins[column] else bool(code > number)

    def parts(self, rows: Sequence[int], cut: tuple[int, int, int]) -> tuple[list[int], list[int]]:
        return [r for r in rows if not self.above(r, cut)], [r for r in rows if self.above(r, cut)]

    def worth(self, rows: Sequence[int], ridge: float) -> float:
        return float(self.g[rows].sum() ** 2 / (self.h[rows].sum() + ridge))

    def gain(self, rows: Sequence[int], cut: tuple[int, int, int], ridge: float) -> float:
        below, above = self.parts(rows, cut)
        return self.worth(below, ridge) + self.worth(above, ridge) - self.worth(rows, ridge)

    def best(
        self, rows: Sequence[int], columns: Sequence[int], min_rows: float, ridge: float
    ) -> tuple[float, tuple[int, int, int] | None]:
        best, found = 0.0, None
        for column in columns:
            for side in (0, 1):
                for number in range(-1, self.n_bins[column] - side):
                    cut = (column, number, side)
                    below, above = self.parts(rows, cut)
                    if min(len(below), len(above)) < max(min_rows, 1):
                        continue
                    if (gain := self.gain(rows, cut, ridge)) > best + 1e-9:
                        best, found = gain, cut
        return best, found


def grow_by_gain(
    data: Data,
    columns: Sequence[int],
    rows: list[int],
    *,
    leaves: int,
    depth: int,
    min_rows: float,
    ridge: float,
) -> list[Node]:
    nodes = [Node(rows)]
    while sum(node.cut is None for node in nodes) < leaves:
        offers = [
            (*data.best(node.rows, columns, min_rows, ridge), v)
            for v, node in enumerate(nodes)
            if node.cut is None and node.depth < depth and len(node.rows) >= 2 * min_rows
        ]
        gain, cut, at = max(offers, key=lambda offer: offer[0], default=(0.0, None, 0))
        if cut is None or gain <= 0:
            break
        _split(data, nodes, at, cut)
    return nodes


def _split(data: Data, nodes: list[Node], at: int, cut: tuple[int, int, int]) -> None:
    node = nodes[at]
    node.cut, node.children = cut, [len(nodes), len(nodes) + 1]
    nodes += [Node(part, node.depth + 1) for part in data.parts(node.rows, cut)]


class Dice:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) % limit


def grow_by_chance(
    data: Data, tried: int, rows: list[int], seed: int, *, depth: int, min_rows: float
) -> list[Node]:
    dice, nodes, order, at = Dice(seed), [Node(rows)], list(range(len(data.n_bins))), 0
    while at < len(nodes):
        node = nodes[at]
        alike = len({float(data.g[r] / data.h[r]) for r in node.rows}) == 1
        if not (alike or len(node.rows) < 2 * min_rows or node.depth == depth):
            cut = _drawn(data, node.rows, tried, order, dice, min_rows=min_rows)
            if cut is not None:
                _split(data, nodes, at, cut)
        at += 1
    return nodes


def _drawn(
    data: Data, rows: list[int], tried: int, order: list[int], dice: Dice, *, min_rows: float
) -> tuple[int, int, int] | None:
    best, found, looked = 1e-12 * float(data.h[rows].sum()), None, 0
    for k in range(len(order)):
        j = k + dice.below(len(order) - k)
        order[k], order[j] = order[j], order[k]
        column = order[k]
        gain, cut = _offer(data, rows, column, dice, min_rows)
        looked += gain > 0
        if cut is not None and gain > best:
            best, found = gain, cut
        if looked == tried:
            break
    return found


def _offer(
    data: Data, rows: list[int], column: int, dice: Dice, min_rows: float
) -> tuple[float, tuple[int, int, int] | None]:
    present = [int(data.bins[column, r]) for r in rows if data.bins[column, r] != data.n_bins[column]]
    if not present or min(present) == max(present):
        return 0.0, None
    number = min(present) + dice.below(max(present) - min(present))
    best, found = 0.0, None
    for side in (0, 1) if len(present) < len(rows) else (0,):
        cut = (column, number, side)
        below, above = data.parts(rows, cut)
        if min(len(below), len(above)) >= min_rows and data.gain(rows, cut, 0.0) > best + 1e-12:
            best, found = data.gain(rows, cut, 0.0), cut
    return best, found
