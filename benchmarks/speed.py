"""How fast training and prediction are on this machine, beside scikit-learn's AdaBoost on the same data.

`make bench` runs it. Best of three after a warm-up: compilation and imports are not measured, other programs
on the machine are.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.registry import ALGORITHMS, make

ROWS, COLUMNS, ROUNDS = 10_000, 20, 100
REPEATS = 3


def best_of(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs, after one that warms caches up."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Print a table: seconds to fit, and microseconds a row to score."""
    X, y = make_classification(ROWS, COLUMNS, n_informative=10, weights=[0.9], random_state=0)
    print(f"{ROWS:,} rows x {COLUMNS} columns, {ROUNDS} rounds of stumps, best of {REPEATS}\n")
    print(f"{'':<28}{'fit, s':>10}{'one row, µs':>14}{'a row of 10,000, µs':>22}")
    reference = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS, random_state=0)
    report("scikit-learn AdaBoost", reference, X, y)
    for name in ALGORITHMS:
        report(f"costboost {name}", make(name, {"n_estimators": ROUNDS}, None, 0), X, y)


def report(name: str, estimator: Any, X: NDArray[np.float64], y: NDArray[np.intp]) -> None:
    """Time one estimator and print its line."""
    fit = best_of(lambda: estimator.fit(X, y))
    one = best_of(lambda: [estimator.decision_function(X[:1]) for _ in range(50)]) / 50
    many = best_of(lambda: estimator.decision_function(X)) / ROWS
    print(f"{name:<28}{fit:>10.3f}{one * 1e6:>14.0f}{many * 1e6:>22.2f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
