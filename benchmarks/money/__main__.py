"""Runs the benchmark in money: `python -m money`, as `make money` does. --help has the options."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from joblib import Parallel, delayed, parallel_config

from .contestants import contestants
from .page import write_page
from .results import Results
from .sets import FOLDS, SETS, is_there, read_set
from .store import Measured, Store, Task, measure

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is not done yet and write the page; 1 if folds are missing, 2 if there are no data."""
    given = sys.argv[1:] if arguments is None else arguments
    asked = _parser().parse_args(given)
    folder = Path(os.environ.get("COSTBOOST_DATA") or ROOT / "data")
    there = [name for name in asked.sets if is_there(folder, name)]
    if not there:
        print(f"No set in {folder}. Run `make data`, or set COSTBOOST_DATA.", file=sys.stderr)
        return 2
    store = Store(asked.out)
    tasks = _tasks(folder, there, asked)
    open_tasks = [task for task in tasks if task.key not in store.lines]
    print(f"{len(open_tasks)} folds to do, {len(tasks) - len(open_tasks)} kept in {asked.out}", flush=True)
    for done in _measured(open_tasks, asked.jobs, time.monotonic() + 3600 * asked.hours):
        store.add(done)
        print(f"{done.line['key']}  {done.line.get('failed') or done.line['cost']}", flush=True)
    results = Results(store, tasks)
    command = shlex.join(["python", "-m", "money", *given])
    write_page(results, command, set(asked.sets) - set(there), asked.page)
    missing = sum(task.key not in store.lines for task in tasks)
    print(f"written: {asked.page / 'money.md'}; {missing} folds missing, {len(results.failed)} failed")
    return 1 if missing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="money", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some contestants, or families of them")
    parser.add_argument("--search", action="store_true", help="peers also at the best of ten drawn settings")
    parser.add_argument("--rows", type=int, default=20_000, help="rows taken of a set at most")
    parser.add_argument("--seeds", type=int, default=3, help="times that the folds are drawn anew")
    parser.add_argument("--hours", type=float, default=3.0, help="no fold is begun after so long")
    parser.add_argument("--jobs", type=int, default=2, help="folds at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "money", help="folder of what is done")
    parser.add_argument("--page", type=Path, default=ROOT / "var" / "money", help="folder of the page")
    return parser


def _tasks(folder: Path, names: list[str], asked: argparse.Namespace) -> list[Task]:
    """All folds, in their order: what an early stop leaves is whole columns for as many sets as possible.

    Seed by seed; of a seed first what is quick, on all sets, then what takes long; short sets first.
    """
    sizes = {name: len(read_set(folder, name, asked.rows).y) for name in names}
    classes = {name: read_set(folder, name, asked.rows).n_classes for name in names}
    ranked = [
        ((seed, one.stage, sizes[name], name), Task(folder, name, asked.rows, one.name, seed, fold))
        for name in names
        for one in contestants().values()
        for seed in range(asked.seeds)
        for fold in range(FOLDS)
        if (asked.search or one.family != "searched")
        and (not asked.only or {one.name, one.family} & set(asked.only))
        and not (one.two_classes and classes[name] > 2)
    ]
    return [task for _, task in sorted(ranked, key=lambda pair: pair[0])]


def _measured(tasks: list[Task], jobs: int, deadline: float) -> Iterator[Measured]:
    in_time = (task for task in tasks if time.monotonic() < deadline)
    with parallel_config("loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
        yield from pool(delayed(measure)(task) for task in in_time)


if __name__ == "__main__":
    sys.exit(main())
