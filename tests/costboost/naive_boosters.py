"""Boosters that vote `alpha · h`, in plain Python: one row, one loop, the formulas as printed.

Each class is one formula. `rounds` plays fixed hypotheses and returns, per round that was kept, the weights D
that entered it and the vote alpha, and why it ended. Boosters of two parts are in `naive_two_part`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

EPSILON = 1e-10
Numbers = Sequence[float]
#: A vote and the next weights, of any scale, or the reason to discard the hypothesis.
Outcome = tuple[float, list[float]] | str


@dataclass
class NaiveBooster:
    """y in {-1, +1}; weight and cost of each row."""

    y: Sequence[int]
    weight: Numbers
    cost: Numbers
    n_rounds: int
    rate: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)

    def rounds(self, hypotheses: Sequence[Numbers]) -> tuple[list[dict[str, Any]], str]:
        D = normalized(self.start())
        history: list[dict[str, Any]] = []
        for t in range(self.n_rounds):
            D = normalized(self.before(D))
            outcome = self.play(D, hypotheses[t])
            if isinstance(outcome, str) and t == 0 and self.restart():
                D = normalized(self.restart())
                hypotheses = hypotheses[1:]  # the learner is asked once more
                outcome = self.play(D, hypotheses[t])
            if isinstance(outcome, str):
                return history, outcome
            alpha, products = outcome
            history.append({"D": D, "alpha": alpha, "h": list(hypotheses[t])})
            if self.is_perfect(D, hypotheses[t]):
                return history, "perfect"
            D = normalized(products)
            history[-1]["D_next"] = D
        return history, "max_rounds"

    def start(self) -> list[float]:
        return list(self.weight)

    def before(self, D: list[float]) -> list[float]:
        return D

    def restart(self) -> list[float]:
        return []

    def is_perfect(self, D: Numbers, h: Numbers) -> bool:
        return self.wrong(D, h) <= EPSILON

    def wrong(self, D: Numbers, h: Numbers) -> float:
        """Weighted error, ``(1 - r)/2`` of the edge r where h is real."""
        return (1 - self.edge(D, h)) / 2

    def edge(self, D: Numbers, h: Numbers) -> float:
        return math.fsum(d * y * answer for d, y, answer in zip(D, self.y, h, strict=True))

    def play(self, D: list[float], h: Numbers) -> Outcome:
        raise NotImplementedError

    def updated(self, D: Numbers, exponent: Callable[[int], float]) -> list[float]:
        return [D[i] * math.exp(exponent(i)) for i in range(len(D))]


class AdaBoost(NaiveBooster):
    def play(self, D: list[float], h: Numbers) -> Outcome:
        error = self.wrong(D, h)
        if error >= 0.5 - EPSILON:
            return "weak_learner_no_better_than_chance"
        alpha = self.rate * half_log_odds(error)
        return alpha, self.updated(D, lambda i: -alpha * self.y[i] * h[i])


class CGAda(AdaBoost):
    def start(self) -> list[float]:
        return [w * c for w, c in zip(self.weight, self.cost, strict=True)]


class AsymBoost(AdaBoost):
    """Costs are constant in each class."""

    def before(self, D: list[float]) -> list[float]:
        fn = next(c for c, y in zip(self.cost, self.y, strict=True) if y > 0)
        fp = next(c for c, y in zip(self.cost, self.y, strict=True) if y < 0)
        return self.updated(D, lambda i: self.y[i] / self.n_rounds * 0.5 * math.log(fn / fp))


class CSAdaBoost(NaiveBooster):
    """options: cells = (fn, fp, tp, tn), normalize_costs, error, confusion, fit_weights."""

    def restart(self) -> list[float]:
        if self.options.get("fit_weights") != "raw":
            return []
        mass = {k: math.fsum(w for w, y in zip(self.weight, self.y, strict=True) if y == k) for k in (1, -1)}
        return [w / (2 * mass[y]) for w, y in zip(self.weight, self.y, strict=True)]

    def is_perfect(self, D: Numbers, h: Numbers) -> bool:
        return self.error(D, h) <= EPSILON

    def error(self, D: Numbers, h: Numbers) -> float:
        return (self.class_error(D, h, 1) + self.class_error(D, h, -1)) / 2

    def class_error(self, D: Numbers, h: Numbers, label: int) -> float:
        own = [i for i in range(len(D)) if self.y[i] == label]
        missed = math.fsum(D[i] for i in own if h[i] != label)
        return missed if self.options.get("error") == "literal" else missed / math.fsum(D[i] for i in own)

    def play(self, D: list[float], h: Numbers) -> Outcome:
        error = self.error(D, h)
        if error >= 0.5 - EPSILON:
            return "weak_learner_no_better_than_chance"
        alpha = self.rate * half_log_odds(error)
        counted = D if self.options.get("confusion") == "weighted" else self.weight
        count = {
            (told, true): math.fsum(
                c for c, a, y in zip(counted, h, self.y, strict=True) if (a, y) == (told, true)
            )
            for told in (1, -1)
            for true in (1, -1)
        }
        precision = share(count[1, 1], count[1, -1])
        npv = share(count[-1, -1], count[-1, 1])
        fn, fp, tp, tn = self.options["cells"]
        largest = max(fn, fp, tp, tn) if self.options.get("normalize_costs", True) else 1.0
        beta = {(1, -1): precision * fn, (1, 1): precision * tp, (-1, 1): npv * fp, (-1, -1): npv * tn}
        return alpha, self.updated(
            D, lambda i: -alpha * beta[self.y[i], int(h[i])] / largest * self.y[i] * h[i]
        )


class AdaCost(NaiveBooster):
    """h in [-1, 1]. options: beta, v, cost_scale, alpha_rule."""

    def start(self) -> list[float]:
        return [w * c for w, c in zip(self.weight, self.cost, strict=True)]

    def beta(self, i: int, h: float) -> float:
        if self.options.get("beta") == "karakoulas":
            return 1.0 if self.y[i] > 0 else float(self.options["v"])
        c = self.options.get("cost_scale", 0.25) * self.cost[i] / max(self.cost)
        return 0.5 - 0.5 * c if self.y[i] * h > 0 else 0.5 + 0.5 * c

    def play(self, D: list[float], h: Numbers) -> Outcome:
        rule = self.options.get("alpha_rule", "auto")
        u = [self.y[i] * h[i] * self.beta(i, h[i]) for i in range(len(D))]
        r = math.fsum(d * value for d, value in zip(D, u, strict=True))
        earned = r if rule == "r" or (rule == "auto" and r > EPSILON) else self.edge(D, h)
        if earned <= EPSILON:
            return "edge_not_positive"
        earned = min(earned, 1 - EPSILON)
        alpha = self.rate * 0.5 * math.log((1 + earned) / (1 - earned))
        return alpha, self.updated(D, lambda i: -alpha * u[i])


class CSB(NaiveBooster):
    """options: variant."""

    def start(self) -> list[float]:
        return [w * c for w, c in zip(self.weight, self.cost, strict=True)]

    def play(self, D: list[float], h: Numbers) -> Outcome:
        if self.edge(D, h) <= EPSILON:
            return "edge_not_positive"
        alpha, least = self.rate * half_log_odds(self.wrong(D, h)), min(self.cost)
        step = {0: 0.0, 1: 1.0, 2: alpha}[self.options["variant"]]
        priced = [D[i] * (1.0 if self.y[i] * h[i] > 0 else self.cost[i] / least) for i in range(len(D))]
        return alpha, self.updated(priced, lambda i: -step * self.y[i] * h[i])


class AdaC(NaiveBooster):
    """options: variant."""

    def play(self, D: list[float], h: Numbers) -> Outcome:
        variant, n = self.options["variant"], range(len(D))
        C = [c / max(self.cost) for c in self.cost]
        power = 2 if variant == 3 else 1
        right = math.fsum(C[i] ** power * D[i] for i in n if self.y[i] == h[i])
        wrong = math.fsum(C[i] ** power * D[i] for i in n if self.y[i] != h[i])
        if variant == 2:
            above, below = right, wrong
        else:
            whole = 1.0 if variant == 1 else math.fsum(C[i] * D[i] for i in n)
            above, below = whole + right - wrong, whole - right + wrong
        if above <= below:
            return "edge_not_positive"
        # No vote is larger than that of a perfect hypothesis of AdaBoost, which these are at equal costs.
        alpha = self.rate * min(0.5 * math.log(above / max(below, EPSILON)), half_log_odds(0.0))
        outside = D if variant == 1 else [C[i] * D[i] for i in n]
        inside = [1.0] * len(D) if variant == 2 else C
        return alpha, self.updated(outside, lambda i: -alpha * inside[i] * self.y[i] * h[i])


class AdaUBoost(NaiveBooster):
    """options: v."""

    def play(self, D: list[float], h: Numbers) -> Outcome:
        b = [1.0 if y > 0 else self.options["v"] for y in self.y]

        def slope(a: float) -> float:
            return math.fsum(
                -b[i] * self.y[i] * h[i] * D[i] * math.exp(-a * b[i] * self.y[i] * h[i])
                for i in range(len(D))
            )

        if slope(0.0) >= -EPSILON:
            return "edge_not_positive"
        low, high = 0.0, 16.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        alpha = self.rate * (low + high) / 2
        return alpha, self.updated(D, lambda i: -alpha * b[i] * self.y[i] * h[i])


class AdaBoostNu(NaiveBooster):
    """options: nu. A perfect hypothesis alone votes, with 1."""

    least: float = 1.0

    def rounds(self, hypotheses: Sequence[Numbers]) -> tuple[list[dict[str, Any]], str]:
        history, stop = super().rounds(hypotheses)
        if stop == "perfect":
            votes = [0.0] * (len(history) - 1) + [1.0]
            history = [values | {"alpha": vote} for values, vote in zip(history, votes, strict=True)]
        return history, stop

    def play(self, D: list[float], h: Numbers) -> Outcome:
        edge = self.edge(D, h)
        if edge <= EPSILON:
            return "weak_learner_no_better_than_chance"
        if self.is_perfect(D, h):
            return 1.0, D
        self.least = min(self.least, edge)
        rho = self.least - self.options["nu"]
        alpha = 0.5 * math.log((1 + edge) / (1 - edge)) - 0.5 * math.log((1 + rho) / (1 - rho))
        alpha *= self.rate
        return alpha, self.updated(D, lambda i: -alpha * self.y[i] * h[i])


class SoftBand(AdaBoost):
    """options: band, boost."""

    def rounds(self, hypotheses: Sequence[Numbers]) -> tuple[list[dict[str, Any]], str]:
        self.F, self.votes = [0.0] * len(self.y), 0.0
        return super().rounds(hypotheses)

    def play(self, D: list[float], h: Numbers) -> Outcome:
        outcome = super().play(D, h)
        if isinstance(outcome, str):
            return outcome
        alpha, first = outcome[0], normalized(self.weight)
        self.F = [F + alpha * answer for F, answer in zip(self.F, h, strict=True)]
        self.votes += alpha
        new = normalized([w * math.exp(-y * F) for w, y, F in zip(first, self.y, self.F, strict=True)])
        for i in range(len(new)):
            rho = self.y[i] * self.F[i] / self.votes
            if abs(rho) <= self.options["band"]:
                new[i] *= self.options["boost"]
            elif rho < 0:
                new[i] = min(new[i], first[i])
        return alpha, new


def half_log_odds(error: float) -> float:
    error = max(error, EPSILON)
    return 0.5 * math.log((1 - error) / error)


def share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest > 0 else 0.0


def normalized(values: Numbers) -> list[float]:
    mass = math.fsum(values)
    return [value / mass for value in values]
