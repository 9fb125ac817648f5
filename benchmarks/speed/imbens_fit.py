"""Prints the CPU seconds of AdaCost of imbalanced-ensemble; runs in an environment of its own."""

import sys
import time

import numpy as np
from imbens.ensemble import AdaCostClassifier


def main(table: str, rounds: int) -> None:
    """Fit once, after a small fit that loads what is loaded late."""
    with np.load(table) as arrays:
        X, y = arrays["X"], arrays["y"]
    AdaCostClassifier(n_estimators=2).fit(X[:500], y[:500])
    began = time.process_time()
    fitted = AdaCostClassifier(n_estimators=rounds).fit(X, y)
    seconds = time.process_time() - began
    if len(fitted.estimators_) != rounds:
        raise RuntimeError(f"{len(fitted.estimators_)} rounds of {rounds}")
    print(seconds)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
