"""Tables 3 and 4 of the paper, run again: `make paper`. README.md beside this file says what and how."""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cells import Store, Task, measure
from joblib import Parallel, delayed, parallel_config
from published import TABLE_1, Kernel
from report import Results, report
from sets import is_there, read_table
from settings import COLUMNS, KERNELS, settings

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Run what is not done yet and write the table; 1 if fits are missing still, 2 if there are no data."""
    asked = _parser().parse_args(arguments)
    folder = Path(os.environ.get("COSTBOOST_DATA") or ROOT / "data")
    names = [name for name in asked.sets or TABLE_1 if is_there(folder, name)]
    if not names:
        print(f"No set of the paper in {folder}. Run `make data`, or set COSTBOOST_DATA.", file=sys.stderr)
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    store = Store(asked.out / "cells.jsonl")
    cells = {
        (name, column, kernel): _cell(folder, name, column, kernel)
        for name in names
        for column in COLUMNS
        for kernel in KERNELS
    }
    open_tasks = [task for task in _by_cost(cells) if task.key not in store.done]
    print(f"{len(open_tasks)} fits to do, {len(store.done)} kept in {store.path}", flush=True)
    for result in _results(open_tasks, asked.jobs, time.monotonic() + 60 * asked.minutes):
        store.add(result)
        print(
            f"{result['g_mean']:.4f} {result['auc']:.4f} {result['seconds']:>7.1f} s  {result['key']}",
            flush=True,
        )
    page = report(Results(folder, names, cells, store))
    (asked.out / "paper.md").write_text(page)
    print(f"\n{page}\nwritten to {asked.out / 'paper.md'}")
    missing = sum(task.key not in store.done for task in open_tasks)
    if missing:
        print(f"{missing} fits were not begun within {asked.minutes:g} minutes; run it again to go on")
    return 1 if missing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Tables 3 and 4 of the paper, beside what it printed.")
    parser.add_argument("--sets", nargs="+", choices=TABLE_1, metavar="SET", help="some of the sets only")
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time")
    parser.add_argument("--minutes", type=float, default=25, help="no fit is begun after so long")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "paper", help="folder of results")
    return parser


def _cell(folder: Path, name: str, column: str, kernel: Kernel) -> list[list[Task]]:
    """For each setting of a cell, the fixed one first, the fits of its folds."""
    table = read_table(folder, name)
    return [
        [Task(folder, name, setting, fold) for fold in range(len(table.parts))]
        for setting in settings(column, kernel, len(table.y))
    ]


def _by_cost(cells: dict[tuple[str, str, Kernel], list[list[Task]]]) -> list[Task]:
    """Fixed settings before grids, small sets before large ones: what is ended early has lost the least."""
    ranked = [
        ((grid > 0, TABLE_1[name].samples, kernel), task)
        for (name, _, kernel), choices in cells.items()
        for grid, tasks in enumerate(choices)
        for task in tasks
    ]
    return [task for _, task in sorted(ranked, key=lambda pair: pair[0])]


def _results(tasks: list[Task], jobs: int, deadline: float) -> Iterator[dict[str, Any]]:
    in_time = (task for task in tasks if time.monotonic() < deadline)
    with parallel_config("loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
        yield from pool(delayed(measure)(task) for task in in_time)


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(main())
