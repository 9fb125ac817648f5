"""Two fits at once on two cores: wall time and CPU beside one fit alone."""

import json
import subprocess
import sys
import time

from . import draws
from .peers import fit_ours
from .results import OURS, Table, ratio, rounded


def measure(quick: bool) -> list[Table]:
    """Measure one fit, two at once, one, two, …; the fits begin when both processes are warm."""
    rows = 50_000 if quick else 200_000
    alone: list[tuple[float, float]] = []
    beside: list[tuple[float, float]] = []
    for _ in range(2 if quick else 4):
        alone += _fits(rows, 1)
        beside += [_slowest(_fits(rows, 2))]
    cases = {
        "wall of two at once": {OURS: [ratio([w for w, _ in beside], [w for w, _ in alone])]},
        "CPU of each of the two": {OURS: [ratio([c for _, c in beside], [c for _, c in alone])]},
    }
    note = (
        "Only on a machine with two idle cores does the wall time say anything; CPU shows spinning threads."
    )
    title = f"Two fits on two cores, {rows // 1000}k × 30, 100 stumps"
    return [Table("cores", title, "times one fit alone", rounded(cases), note, compared=False)]


def _slowest(fits: list[tuple[float, float]]) -> tuple[float, float]:
    return max(wall for wall, _ in fits), max(cpu for _, cpu in fits)


def _fits(rows: int, count: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of fits in processes of their own, begun together."""
    command = [sys.executable, "-m", "speed.cores", str(rows)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()  # it is warm
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.flush()
    answers = [json.loads(child.communicate()[0]) for child in children]
    return [(wall, cpu) for wall, cpu in answers]


def _child(rows: int) -> None:
    X, y = draws.dense(rows, 30)
    fit_ours("adaboost", X[:2_000], y[:2_000], 1, 3)
    print("warm", flush=True)
    sys.stdin.readline()
    wall, cpu = time.perf_counter(), time.process_time()
    fit_ours("adaboost", X, y, 1, 100)
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))


if __name__ == "__main__":
    _child(int(sys.argv[1]))
