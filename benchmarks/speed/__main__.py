"""Runs the benchmarks: `python -m speed [--quick] [area …]`, each area in a process of its own.

Without `--quick` the committed summary, the page and its plots are written afresh from all areas measured so
far; with it the page goes to the folder of results and to the screen.
"""

import argparse
import os
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from . import environments, machine
from .page import page
from .results import Area, Summary, read_area, read_summary, write

AREAS = ("training", "large", "growth", "memory", "scoring", "svm", "start", "cores", "serving", "intake")

BENCHMARKS = Path(__file__).parents[1]
RESULTS = BENCHMARKS / "results"
SUMMARY = RESULTS / "summary.json"
DOCS = BENCHMARKS.parent / "docs" / "benchmarks"


def main(arguments: list[str] | None = None) -> None:
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(prog="speed", description=__doc__)
    parser.add_argument("areas", nargs="*", help=f"some of {', '.join(AREAS)}; all if left out")
    parser.add_argument("--quick", action="store_true", help="smaller cases, fewer runs")
    parser.add_argument("--here", action="store_true", help="measure one area in this process")
    parser.add_argument(
        "--write", action="store_true", help="measure nothing, write the page of the committed summary"
    )
    given = parser.parse_args(arguments)
    results = RESULTS / ("quick" if given.quick else "full")
    areas = given.areas or AREAS
    if unknown := set(areas) - set(AREAS):
        parser.error(f"there is no area {', '.join(sorted(unknown))}")
    if given.here:
        _measure(areas[0], given.quick, results)
        return
    if given.write:
        _publish(read_summary(SUMMARY))
        return
    for area in areas:
        print(f"{area} ...", flush=True)
        _in_child(area, given.quick)
    summary = _summary(results)
    if given.quick:
        text = page(summary)
        (results / "speed.md").write_text(text, encoding="utf-8")
        print(text)
    else:
        _publish(summary)


def _in_child(area: str, quick: bool) -> None:
    """Measure an area with one thread for each library."""
    command = [sys.executable, "-m", "speed", area, "--here", *(["--quick"] if quick else [])]
    paths = [str(BENCHMARKS), str(BENCHMARKS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | machine.ONE_THREAD | {"PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run(command, env=environment, check=True)


def _measure(name: str, quick: bool, results: Path) -> None:
    before = machine.load()
    tables = import_module(f"speed.{name}").measure(quick)
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    write(results / f"{name}.json", Area(name, when, (before, machine.load()), tables))


def _summary(results: Path) -> Summary:
    files = [results / f"{name}.json" for name in AREAS]
    measured = [read_area(file) for file in files if file.exists()]
    return Summary(machine.describe(), machine.versions() | environments.versions(), measured)


def _publish(summary: Summary) -> None:
    from .plots import draw

    DOCS.mkdir(parents=True, exist_ok=True)
    write(SUMMARY, summary)
    (DOCS / "speed.md").write_text(page(summary, draw(summary, DOCS)), encoding="utf-8")
    print(f"written: {DOCS / 'speed.md'}")


if __name__ == "__main__":
    main()
