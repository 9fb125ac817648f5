"""Plots beside the page: bars on a logarithmic scale, one group for each case."""

from pathlib import Path
from statistics import median

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from .page import number
from .results import OURS, Summary, Table

#: File -> table, and the cases shown (all if none is named).
SHOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "speed-training.svg": ("fit", ()),
    "speed-scoring.svg": (
        "scoring",
        (
            "100 stumps, 1 row",
            "100 stumps, 100k rows",
            "500 stumps, 100k rows",
            "300 trees of depth 3, 100k rows",
        ),
    ),
    "speed-http.svg": ("http-cpu", ()),
}
_OURS, _PEERS = "#0b6e4f", "#a8b5c4"


def draw(summary: Summary, folder: Path) -> list[str]:
    """Draw what was measured, and name the files."""
    drawn = []
    for name, (table, cases) in SHOWN.items():
        if table in summary.tables:
            _bars(summary.tables[table], cases, folder / name)
            drawn.append(name)
    return drawn


def _bars(table: Table, wanted: tuple[str, ...], path: Path) -> None:
    cases = [case for case in table.cases if case in wanted or not wanted]
    methods = table.methods
    heights = [len([m for m in methods if table.samples(case, m)]) for case in cases]
    figure = Figure(figsize=(8, 0.5 + 0.24 * sum(heights) + 0.3 * len(cases)), layout="constrained")
    axes = figure.subplots(len(cases), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axis, case in zip(axes, cases, strict=True):
        shown = [method for method in methods if table.samples(case, method)]
        values = [median(table.samples(case, method)) for method in shown]
        colours = [_OURS if method.startswith(OURS) else _PEERS for method in shown]
        bars = axis.barh(shown, values, color=colours)
        axis.bar_label(bars, [number(value) for value in values], padding=3, fontsize=8)
        axis.set_title(case, loc="left", fontsize=9)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())  # the bars tell their numbers
        axis.invert_yaxis()
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        for label in axis.get_yticklabels():
            label.set_fontweight("bold" if label.get_text().startswith(OURS) else "normal")
    axes[-1].set_xlabel(f"{table.unit} (logarithmic)", fontsize=8)
    axes[-1].margins(x=0.1)
    # Neither a date nor random names inside the file: the same figures give the same bytes. Text stays text.
    with mpl.rc_context({"svg.hashsalt": table.name, "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
