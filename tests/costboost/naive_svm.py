"""Slow, obvious twins of the weighted SVM: the formulas of its paper, one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def inner(a: Row, b: Row) -> float:
    return math.fsum(x * z for x, z in zip(a, b, strict=True))


def kernel(a: Row, b: Row, name: str, gamma: float, degree: int = 3, coef0: float = 1.0) -> float:
    if name == "rbf":
        return math.exp(-gamma * math.fsum((x - z) ** 2 for x, z in zip(a, b, strict=True)))
    return (gamma * inner(a, b) + coef0) ** degree


def objective(w: Row, rows: Sequence[Row], y: Row, v: Row, lambda1: float, lambda2: float) -> float:
    """Eq. (6)."""
    margins = [label * inner(w, x) for label, x in zip(y, rows, strict=True)]
    mean = math.fsum(v_i * m for v_i, m in zip(v, margins, strict=True))
    hinge = math.fsum(v_i * max(0.0, 1.0 - m) for v_i, m in zip(v, margins, strict=True))
    return 0.5 * inner(w, w) - lambda1 * mean + lambda2 * hinge


def kernel_objective(a: Row, gram: Sequence[Row], y: Row, v: Row, lambda1: float, lambda2: float) -> float:
    """Eq. (7)."""
    f = [inner(row, a) for row in gram]
    loss = [
        v_i * (lambda2 * max(0.0, 1.0 - label * s) - lambda1 * label * s)
        for v_i, label, s in zip(v, y, f, strict=True)
    ]
    return 0.5 * inner(a, f) + math.fsum(loss)


def slope(margin: float, lambda1: float, lambda2: float) -> float:
    return -lambda1 - lambda2 if margin < 1 else -lambda1


def gradient(w: Row, x: Row, y: float, v: float, n: int, lambda1: float, lambda2: float) -> list[float]:
    """Gradient of ‖w‖²/(2n) + v l(y w·x)."""
    pull = v * slope(y * inner(w, x), lambda1, lambda2) * y
    return [w_j / n + pull * x_j for w_j, x_j in zip(w, x, strict=True)]


def stochastic(
    rows: Sequence[Row],
    y: Row,
    v: Row,
    lambda1: float,
    lambda2: float,
    eta: float,
    epochs: Sequence[Sequence[int]],
    *,
    average: bool,
    reduced: bool,
) -> list[float]:
    """SVRG, or SGD if not reduced, from w = 0."""
    n, d = len(rows), len(rows[0])
    w = [0.0] * d

    def at(point: Row, i: int) -> list[float]:
        return gradient(point, rows[i], y[i], v[i], n, lambda1, lambda2)

    for s, indices in enumerate(epochs):
        snapshot = list(w)
        full = [sum(column) / n for column in zip(*(at(snapshot, i) for i in range(n)), strict=True)]
        visited = []
        for i in indices:
            step = at(w, i)
            if reduced:
                step = [g - old + mean for g, old, mean in zip(step, at(snapshot, i), full, strict=True)]
            w = [w_j - eta / (1 + s) * g for w_j, g in zip(w, step, strict=True)]
            visited.append(w)
        if average:
            w = [sum(column) / len(visited) for column in zip(*visited, strict=True)]
    return w


def exact(rows: Sequence[Row], y: Row, v: Row, lambda1: float, lambda2: float, passes: int) -> list[float]:
    """Dual coordinate ascent in the order of the rows."""
    w = [0.0] * len(rows[0])
    b = [0.0] * len(rows)
    for k in range(passes * len(rows)):
        i = k % len(rows)
        if k < len(rows):
            change = lambda1 * v[i] - b[i]
        else:
            wanted = b[i] + (1 - y[i] * inner(w, rows[i])) / inner(rows[i], rows[i])
            change = min(max(wanted, lambda1 * v[i]), (lambda1 + lambda2) * v[i]) - b[i]
        b[i] += change
        w = [w_j + change * y[i] * x_j for w_j, x_j in zip(w, rows[i], strict=True)]
    return w
