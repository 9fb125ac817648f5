"""Peak memory of a fit beyond what was resident with X: each method in a process of its own."""

import gc
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil

from . import draws
from .peers import CATBOOST, HISTGB, LIGHTGBM, XGBOOST, fits
from .results import OURS, Samples, Table, rounded
from .training import case

METHODS = {1: (OURS, LIGHTGBM, XGBOOST, HISTGB, CATBOOST), 3: (OURS, LIGHTGBM)}
ROUNDS = 10
_MIB = 2**20


def measure(quick: bool) -> list[Table]:
    """Measure peaks, in times the float32 matrix."""
    rows, columns = (100_000 if quick else 1_000_000), 30
    cases: dict[str, Samples] = {}
    for depth in (1,) if quick else (1, 3):
        samples = {method: [_peak_in_child(method, rows, columns, depth)] for method in METHODS[depth]}
        cases[case(rows, columns, depth)] = samples
    size = rows * columns * 4 // _MIB
    note = (
        f"The matrix has {size} MiB. Each method in a process of its own, after a small fit that loads all "
        f"it needs; highest resident size during {ROUNDS} rounds, less that with the matrix before."
    )
    return [Table("memory", "Peak memory of training", "times the float32 matrix", rounded(cases), note)]


def _peak_in_child(method: str, rows: int, columns: int, depth: int) -> float:
    command = [sys.executable, "-m", "speed.memory", method, str(rows), str(columns), str(depth)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def peak_of_child(method: str, rows: int, columns: int, depth: int) -> float:
    """Fit once in this process: its peak over what was resident before, in times the matrix."""
    fit = fits(depth, ROUNDS)[method]
    fit(*draws.dense(2_000, columns))
    X, y = draws.dense(rows, columns)
    return peak_beyond(partial(fit, X, y)) / X.nbytes


def peak_beyond(work: partial[object]) -> int:
    """Bytes that were resident at most during some work, beyond those before it; Linux."""
    gc.collect()
    before: int = psutil.Process().memory_info().rss
    reset_peak("self")
    work()
    return peak_of("self") - before


def reset_peak(process: int | str) -> None:
    """Forget the highest resident size of a process of ours."""
    Path(f"/proc/{process}/clear_refs").write_text("5", encoding="ascii")


def peak_of(process: int | str) -> int:
    """Highest resident size since `reset_peak`, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    given = sys.argv[1:]
    print(peak_of_child(given[0], int(given[1]), int(given[2]), int(given[3])))
