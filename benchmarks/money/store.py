"""Folds that are done: one JSON object a line, what each row cost beside it."""

import hashlib
import json
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import costboost
from costboost.metrics.probabilities import brier, log_loss
from costboost.warming import warm

from .contestants import Contestant, contestants
from .sets import read_set

__all__ = ["Done", "Measured", "Store", "Task", "measure", "source"]

LINES, ROWS = "folds.jsonl", "rows"


@dataclass(frozen=True)
class Task:
    """One fold of one contestant.

    Parameters
    ----------
    folder : Path
        Of the data.
    name : str
        Of the set.
    most : int
        Rows taken of it at most.
    contestant : str
    seed, fold : int
    """

    folder: Path
    name: str
    most: int
    contestant: str
    seed: int
    fold: int

    @property
    def key(self) -> str:
        """What the result depends on."""
        made = read_set(self.folder, self.name, self.most).fingerprint
        who = contestants()[self.contestant]
        return f"{self.name}/{self.contestant}/seed {self.seed}/fold {self.fold}/data {made}/{made_by(who)}"


def made_by(contestant: Contestant) -> str:
    """Name the code that a contestant is: a version, of ours what its source says."""
    if contestant.distribution == "costboost":
        return f"costboost {source()}"
    return f"{contestant.distribution} {version(contestant.distribution)}"


@cache
def source() -> str:
    """Fingerprint of the library, whatever version it calls itself."""
    root = Path(costboost.__file__).parent
    text = b"".join(path.read_bytes() for path in sorted(root.rglob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class Measured:
    """A line for the store, and the rows beside it; none of a fold that failed."""

    line: dict[str, Any]
    rows: dict[str, NDArray[Any]] | None = None


def measure(task: Task) -> Measured:
    """Learn and decide; what fails is noted, and does not end the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a peer warns of is its own
        _ready()
        try:
            return _decided(task)
        except Exception:
            last = traceback.format_exc().strip().splitlines()[-1]
            return Measured({"key": task.key, "failed": last[:200]})


@cache
def _ready() -> None:
    """Once in each process: kernels are compiled or read before they are timed."""
    warm()


def _decided(task: Task) -> Measured:
    folds = read_set(task.folder, task.name, task.most).folds(task.seed)
    fold = next(one for number, one in enumerate(folds) if number == task.fold)
    outcome = contestants()[task.contestant].measure(fold)
    line: dict[str, Any] = {
        "key": task.key,
        "cost": {rule: round(float(each.sum()), 6) for rule, each in outcome.charged.items()},
        "cpu": {name: round(seconds, 3) for name, seconds in outcome.cpu.items()},
    }
    if outcome.probabilities is not None:
        even = np.ones(len(fold.y_test))
        line["log_loss"] = round(log_loss(fold.y_test, outcome.probabilities, even), 6)
        line["brier"] = round(brier(fold.y_test, outcome.probabilities, even), 6)
    rows: dict[str, Any] = {"at": fold.test_rows.astype(np.int32), "y": fold.y_test.astype(np.int8)}
    rows |= {f"cost {rule}": each.astype(np.float32) for rule, each in outcome.charged.items()}
    if outcome.probabilities is not None:
        rows["p"] = outcome.probabilities.astype(np.float32)
    return Measured(line, rows)


@dataclass(frozen=True, eq=False)
class Done:
    """All folds of one seed of one contestant on one set, row by row in the order of the set.

    Attributes
    ----------
    charged : dict of "variant/rule" to ndarray of shape (n,)
    y : ndarray of shape (n,), int
    probabilities : ndarray of shape (n, K) or None
    cpu : dict of str to float
        Mean over the folds.
    """

    charged: dict[str, NDArray[np.float64]]
    y: NDArray[np.intp]
    probabilities: NDArray[np.float64] | None
    cpu: dict[str, float]


class Store:
    """Finished folds, so that a run that was ended goes on where it was.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ROWS).mkdir(parents=True, exist_ok=True)
        path = folder / LINES
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.lines: dict[str, dict[str, Any]] = {one["key"]: one for one in map(_read, lines) if one}

    def add(self, done: Measured) -> None:
        """Keep a fold: its rows first, so that a line never promises rows that are not there."""
        key = done.line["key"]
        if done.rows is not None:
            np.savez_compressed(self._rows(key), **done.rows)  # type: ignore[arg-type]
        self.lines[key] = done.line
        with (self.folder / LINES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(done.line, ensure_ascii=False) + "\n")

    def read(self, tasks: list[Task]) -> Done | None:
        """Put the folds of one seed together; None while one is missing, or where one failed."""
        keys = [task.key for task in tasks]
        if any("cost" not in self.lines.get(key, {}) for key in keys):
            return None
        parts: list[Mapping[str, NDArray[Any]]] = []
        for key in keys:
            with np.load(self._rows(key)) as file:
                parts.append(dict(file))
        back = np.argsort(np.concatenate([part["at"] for part in parts]))
        joined = {name: np.concatenate([part[name] for part in parts])[back] for name in parts[0]}
        spent = [self.lines[key]["cpu"] for key in keys]
        return Done(
            charged={
                name.removeprefix("cost "): each.astype(np.float64)
                for name, each in joined.items()
                if name.startswith("cost ")
            },
            y=joined["y"].astype(np.intp),
            probabilities=joined["p"].astype(np.float64) if "p" in joined else None,
            cpu={name: float(np.mean([one[name] for one in spent])) for name in spent[0]},
        )

    def _rows(self, key: str) -> Path:
        return self.folder / ROWS / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.npz"


def _read(line: str) -> dict[str, Any] | None:
    """One line; None if the run was ended in the middle of writing it."""
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found
