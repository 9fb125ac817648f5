"""Boosters of two parts in plain Python: one row, one loop, the formulas as printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

EPSILON, ROUNDING = 1e-10, 1e-12


@dataclass
class Naive:
    """y and hypotheses in {-1, +1}; weights of any scale; prices of the rows, and of a round's outputs."""

    algorithm: str
    y: Sequence[int]
    weight: Sequence[float]
    price: Callable[[int, float], float] = lambda i, U: 1.0
    tau: float | None = None
    reset_to: str = "one"
    learning_rate: float = 1.0

    def rounds(self, hypotheses: Sequence[Sequence[int]]) -> tuple[list[dict[str, Any]], str]:
        n = len(self.y)
        w = [value / math.fsum(self.weight) for value in self.weight]
        D, F, A = w, [0.0] * n, [0.0] * n
        history: list[dict[str, Any]] = []
        for h in hypotheses:
            W = self.masses(D, h)
            m = normalized([w[i] * math.exp(-self.margin(i, F, A)) for i in range(n)])
            inverse = normalized([w[i] - min(value for value in w if value > 0) * D[i] for i in range(n)])
            U1, U2 = (
                self.output(W[j], self.masses(m, h)[j], self.masses(inverse, h)[j]) * self.learning_rate
                for j in (1, -1)
            )
            if max(abs(U1), abs(U2)) <= EPSILON * self.learning_rate:
                return history, "no_information"
            U = [U1 if h[i] > 0 else U2 for i in range(n)]
            F, A = [F[i] + U[i] for i in range(n)], [A[i] + abs(U[i]) for i in range(n)]
            values: dict[str, Any] = {"D": D, "U1": U1, "U2": U2, "U": U, "m": m}
            values["W"] = [[W[j][1], W[j][-1]] for j in (1, -1)]
            if self.algorithm == "modest":
                raw = [D[i] * math.exp(-self.y[i] * U[i]) for i in range(n)]
            else:
                C = [self.price(i, U[i]) for i in range(n)]
                raw = [C[i] * math.exp(-self.y[i] * F[i]) for i in range(n)]
                values |= {"C": C, "D_raw": raw}
                if self.tau is not None:
                    counted = [raw[i] for i in range(n) if w[i] * C[i] > 0]
                    Q = max(counted) - (max(counted) - min(counted)) / self.tau
                    margin = [self.margin(i, F, A) for i in range(n)]
                    reset = [
                        w[i] > 0 and raw[i] > Q * (1 + ROUNDING) and margin[i] < -ROUNDING for i in range(n)
                    ]
                    anew = [C[i] if self.reset_to == "cost" else 1.0 for i in range(n)]
                    raw = [anew[i] if reset[i] else raw[i] for i in range(n)]
                    F = [0.0 if reset[i] else F[i] for i in range(n)]
                    values |= {"Q": Q, "margin": margin, "reset": reset}
                values["F_run"] = F
                raw = [w[i] * raw[i] for i in range(n)]
            D = normalized(raw)
            history.append(values | {"D_next": D})
            if min(W[1].values()) + min(W[-1].values()) <= EPSILON:
                return history, "perfect"
        return history, "max_rounds"

    def masses(self, distribution: Sequence[float], h: Sequence[int]) -> dict[int, dict[int, float]]:
        sums = {1: {1: 0.0, -1: 0.0}, -1: {1: 0.0, -1: 0.0}}
        for i, mass in enumerate(distribution):
            sums[h[i]][self.y[i]] += mass
        return sums

    def output(self, W: dict[int, float], M: dict[int, float], B: dict[int, float]) -> float:
        if self.algorithm == "modest":
            return W[1] * (1 - B[1]) - W[-1] * (1 - B[-1])
        if abs(W[1] - W[-1]) <= ROUNDING * (W[1] + W[-1]):
            return 0.0
        if self.algorithm == "penalized":
            return (W[1] - W[-1]) * (1 - (M[-1] if W[1] > W[-1] else M[1]))
        return (W[1] - W[-1]) / (W[1] + W[-1])

    def margin(self, i: int, F: Sequence[float], A: Sequence[float]) -> float:
        return self.y[i] * F[i] / A[i] if A[i] > 0 else 0.0


def normalized(values: Sequence[float]) -> list[float]:
    mass = math.fsum(values)
    return [value / mass for value in values] if mass > 0 else list(values)
