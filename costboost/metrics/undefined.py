"""Metrics that have no value for the data at hand, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class UndefinedMetricError(ValueError):
    """A metric has no value for the data at hand; the message says why."""


def defined(asked: dict[str, Callable[[], Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Values of what has one, None for the rest, and why these have none."""
    known: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for name, compute in asked.items():
        try:
            known[name] = compute()
        except UndefinedMetricError as reason:
            known[name] = None
            undefined[name] = str(reason)
    return known, undefined
