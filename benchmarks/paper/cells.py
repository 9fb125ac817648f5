"""One fold of one cell of the table, and the file that keeps those that are done."""

import importlib.metadata
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sets import read_table
from settings import Setting

from costboost.metrics.labels import recall
from costboost.metrics.ranking import roc_auc

__all__ = ["Store", "Task", "measure"]

SEED = 0
VERSION = importlib.metadata.version("costboost")


@dataclass(frozen=True)
class Task:
    """One fit."""

    folder: Path
    name: str
    setting: Setting
    fold: int

    @property
    def key(self) -> str:
        """What the result depends on."""
        made = read_table(self.folder, self.name).fingerprint
        chosen = self.setting
        return (
            f"{self.name}/{chosen.column}/{chosen.kernel}/{chosen}/T={chosen.n_estimators}"
            f"/fold {self.fold}/data {made}/costboost {VERSION}"
        )


def measure(task: Task) -> dict[str, Any]:
    """Fit on the other folds, judge on this one: the G-mean of the labels, the AUC of the scores."""
    table = read_table(task.folder, task.name)
    train, test = table.parts[task.fold]
    X, X_test = table.matrices(task.fold)
    began = time.perf_counter()
    booster = task.setting.booster(SEED).fit(X, table.y[train])
    seconds = time.perf_counter() - began
    positive, named = table.y[test] == 1, booster.predict(X_test) == 1
    weight = np.ones(len(test))
    g_mean = np.sqrt(recall(positive, named, weight) * recall(~positive, ~named, weight))
    area = roc_auc(positive, booster.decision_function(X_test), weight)
    return {
        "key": task.key,
        "g_mean": float(g_mean),
        "auc": area,
        "rounds": len(booster.estimators_),
        "seconds": round(seconds, 2),
    }


class Store:
    """Finished fits, one JSON object a line, so that a run that was ended goes on where it was.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.done: dict[str, dict[str, Any]] = {one["key"]: one for one in map(_read, lines) if one}

    def add(self, result: dict[str, Any]) -> None:
        """Keep a result."""
        self.done[result["key"]] = result
        with self.path.open("a") as file:
            file.write(json.dumps(result) + "\n")

    def mean(self, tasks: list[Task]) -> tuple[float, float] | None:
        """Mean over the folds of G-mean and AUC; None while a fold is missing."""
        found = [self.done[task.key] for task in tasks if task.key in self.done]
        if len(found) < len(tasks):
            return None
        return float(np.mean([one["g_mean"] for one in found])), float(np.mean([one["auc"] for one in found]))


def _read(line: str) -> dict[str, Any] | None:
    """One line; None if the run was ended in the middle of writing it."""
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found
