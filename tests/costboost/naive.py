"""Slow, obvious twins of what the library does with arrays: one row, one loop, no numpy tricks."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence


def decide_row(
    p: Sequence[float], costs: Sequence[Sequence[float]], serves: Sequence[int | None], positive: int = 1
) -> int:
    """Index of the action for one row; costs[k][a]."""
    if len(p) == 2 and len(serves) == 2 and set(serves) == {0, 1}:
        act, leave = serves.index(positive), serves.index(1 - positive)
        fn, tp = costs[positive][leave], costs[positive][act]
        fp, tn = costs[1 - positive][act], costs[1 - positive][leave]
        return act if p[positive] * (fn - tp) > (1 - p[positive]) * (fp - tn) else leave
    order = [a for a, k in enumerate(serves) if k is not None] + [
        a for a, k in enumerate(serves) if k is None
    ]
    best, least = -1, math.inf
    for a in order:
        expected = expected_cost(p, costs, a)
        if expected < least:
            best, least = a, expected
    return best


def expected_cost(p: Sequence[float], costs: Sequence[Sequence[float]], action: int) -> float:
    total = p[0] * costs[0][action]
    for k in range(1, len(p)):
        total += p[k] * costs[k][action]
    return total


def regret(costs: Sequence[Sequence[float]], serves: Sequence[int | None], true: int) -> float:
    """Mean of what each wrong action costs more than the right one."""
    right = [costs[true][a] for a, k in enumerate(serves) if k == true]
    wrong = [costs[true][a] for a, k in enumerate(serves) if k is not None and k != true]
    if not wrong:
        return 0.0
    least = min(right or wrong)
    return sum(max(0.0, cost - least) for cost in wrong) / len(wrong)


def outcome(y: Sequence[int], values: Sequence[float], threshold: float) -> tuple[int, int, int, int]:
    """tp, fp, fn, tn of labelling 1 what lies above the threshold."""
    told = [value > threshold for value in values]
    tp = sum(t and k == 1 for t, k in zip(told, y, strict=True))
    fp = sum(t and k == 0 for t, k in zip(told, y, strict=True))
    return tp, fp, sum(k == 1 for k in y) - tp, sum(k == 0 for k in y) - fp


def bootstrap_savings(
    charged: Sequence[float], constant: Sequence[Sequence[float]], resamples: Sequence[Sequence[int]]
) -> list[float]:
    """Savings of each resample, given the row numbers it drew; constant[a][i]."""
    result = []
    for rows in resamples:
        least = min(sum(action[i] for i in rows) for action in constant)
        result.append(1 - sum(charged[i] for i in rows) / least)
    return result


def row_key(values: Sequence[float | str | None]) -> int:
    """64-bit key of a row: splitmix64's finaliser over the bits of its values, in Python's own integers."""
    key = 0x9E3779B97F4A7C15
    for value in values:
        key = _mix(((key ^ _bits(value)) + 0x9E3779B97F4A7C15) % 2**64)
    return key


def _bits(value: float | str | None) -> int:
    if value is None or isinstance(value, str):
        text = "n" if value is None else "s" + value
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    return int.from_bytes(struct.pack("<d", math.nan if math.isnan(value) else value + 0.0), "little")


def _mix(bits: int) -> int:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = ((bits ^ (bits >> shift)) * factor) % 2**64
    return bits ^ (bits >> 31)
