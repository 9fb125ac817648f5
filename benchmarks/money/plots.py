"""Plots beside the page: mean ranks, and each case beside its best peer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .contestants import AUTO
from .results import Results
from .statistics import Ranks, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]

_OURS, _PEERS, _WORSE = "#0b6e4f", "#6b7b8c", "#b3402a"


def draw(results: Results, folder: Path) -> list[str]:
    """Draw what is there to be drawn, and name the files."""
    ranks = results.ranks(results.ranked, results.sets)
    figures = {"money-ranks.svg": _ranks(ranks) if ranks else None, "money-sets.svg": _sets(results)}
    for name, figure in figures.items():
        if figure is not None:
            _save(figure, folder / name)
    return [name for name, figure in figures.items() if figure is not None]


def _figure(height: float) -> tuple["Figure", Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), layout="constrained")
    axis = figure.subplots()
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    return figure, axis


def _ranks(ranks: Ranks) -> "Figure":
    """Points, and a band that reaches from the first as far as a difference may be chance."""
    names = list(ranks.mean)
    figure, axis = _figure(0.9 + 0.24 * len(names))
    first = min(ranks.mean.values())
    axis.axvspan(first, first + ranks.critical, color="#e6ece9")
    colours = [_OURS if name.startswith("auto") else _PEERS for name in names]
    axis.scatter(list(ranks.mean.values()), names, c=colours, zorder=2)
    axis.invert_yaxis()
    axis.set_xlabel(
        f"mean rank over {ranks.n_sets} sets; in the band: not told from the first (Nemenyi, 5 %)", fontsize=8
    )
    return figure


def _sets(results: Results) -> "Figure | None":
    rows = []
    for name in results.sets:
        for case in results.cases(name):
            peer = results.best_peer_of(case)
            ratio = results.ratio(case, AUTO, peer) if peer else None
            if ratio is not None:
                rows.append((f"{case} ({peer})", summary(ratio)))
    if not rows:
        return None
    rows.sort(key=lambda row: row[1].value)
    figure, axis = _figure(0.9 + 0.22 * len(rows))
    for place, (_, one) in enumerate(rows):
        colour = _OURS if one.value <= 1 else _WORSE
        axis.plot([one.low, one.high], [place, place], color=colour, linewidth=1)
        axis.scatter([one.value], [place], color=colour, s=14)
    axis.set_yticks(range(len(rows)), [says for says, _ in rows])
    axis.axvline(1.0, color="black", linewidth=0.6)
    axis.set_xscale("log")
    ticks = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("cost of auto over that of the cheapest peer (in brackets), interval of 95 %", fontsize=8)
    return figure


def _save(figure: "Figure", path: Path) -> None:
    import matplotlib as mpl

    # Neither a date nor random names inside the file: the same figures give the same bytes. Text stays text.
    with mpl.rc_context({"svg.hashsalt": path.name, "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
