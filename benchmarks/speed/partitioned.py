"""What a round moves and costs when the rows of one fit lie in several places.

Run `python -m speed.partitioned`. Partitions are in this process and are asked one after the other, so that
what each one does can be told from what the process that asks does. Questions and answers are packed as they
are for a cluster, and counted.
"""

import pickle
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from costboost import CGAdaClassifier
from costboost.partitioned import Here, Partition, Rows, fit_partitioned

_ROUNDS = 20
_STUMP, _TREE = "stump", {"name": "tree", "max_depth": 3}
#: Weak learner, rows, columns, partitions.
_CASES = [
    *((learner, 200_000, 30, count) for learner in (_STUMP, _TREE) for count in (1, 2, 4, 8)),
    *((learner, 800_000, 30, 4) for learner in (_STUMP, _TREE)),
    *((learner, 200_000, 120, 4) for learner in (_STUMP, _TREE)),
]


class Counting(Here):
    """Partitions here, whose questions, answers and time are counted."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        super().__init__(partitions)
        self.clear()

    def clear(self) -> None:
        """Begin to count."""
        self.questions, self.asked, self.answered = 0, 0, 0
        self.seconds = np.zeros(len(self.partitions))

    def ask(self, method: str, *args: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every partition."""
        each = own or [()] * len(self.partitions)
        self.questions += 1
        answers = []
        for k, (one, further) in enumerate(zip(self.partitions, each, strict=True)):
            self.asked += len(pickle.dumps((args, further), protocol=5))
            start = time.process_time()
            answer = getattr(one, method)(*args, *further)
            self.seconds[k] += time.process_time() - start
            packed = pickle.dumps(answer, protocol=5)
            self.answered += len(packed)
            answers.append(pickle.loads(packed))
        return answers


def _rows(seed: int, n: int, d: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return Rows(X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 2.0)


def measured(learner: Any, n: int, d: int, count: int) -> dict[str, float]:
    """Figures of one round, on average, after the first."""
    crew = Counting([Partition([partial(_rows, seed, n // count, d)]) for seed in range(count)])

    def note(number: int, *_: Any) -> None:
        if number == 1:
            crew.clear()

    fit_partitioned(CGAdaClassifier(learner, n_estimators=_ROUNDS, cost_fn=20.0), crew, note)
    return {
        "questions": crew.questions,
        "to": crew.asked / count,
        "from": crew.answered / count,
        "partition": float(crew.seconds.max()),
    }


def main() -> None:
    """Print a table: figures of a round, for one partition."""
    heads = (
        "learner",
        "rows",
        "columns",
        "partitions",
        "questions",
        "kB to each",
        "kB from each",
        "ms of one",
    )
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for learner, n, d, count in _CASES:
        found = {name: value / (_ROUNDS - 1) for name, value in measured(learner, n, d, count).items()}
        name = learner if isinstance(learner, str) else "tree of depth 3"
        figures = f"{found['questions']:.1f} | {found['to'] / 1e3:.1f} | {found['from'] / 1e3:.0f}"
        print(f"| {name} | {n} | {d} | {count} | {figures} | {1e3 * found['partition']:.1f} |")


if __name__ == "__main__":
    main()
