"""What is drawn: numbers with their names; a script draws them, and writes them as a table too."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

#: How numbers of an axis are written.
Written = Literal["number", "percent", "money", "time"]
Numbers = Sequence[float | None]


@dataclass(frozen=True)
class Line:
    """Numbers over those of the axis.

    Attributes
    ----------
    quiet : bool
        What others are compared with: thin and dashed.
    points, steps, bars : bool
        Single points; steps between them; bars.
    """

    label: str
    values: Numbers
    written: Written = "number"
    quiet: bool = False
    points: bool = False
    steps: bool = False
    bars: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes
    ----------
    id : str
        Of its element.
    says : str
        What is to be seen, in a sentence.
    square : bool
        Both axes go from 0 to 1.
    """

    id: str
    title: str
    says: str
    x_label: str
    x: Numbers
    lines: Sequence[Line]
    x_written: Written = "number"
    currency: str | None = None
    square: bool = False
    categories: Sequence[str] | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """What the script reads; drawn to eight digits, which no eye tells apart."""
        found = asdict(self)
        found["x"] = [_short(one) for one in self.x]
        for line in found["lines"]:
            line["values"] = [_short(one) for one in line["values"]]
        return found


def _short(amount: float | None) -> float | None:
    return None if amount is None else float(f"{amount:.8g}")


def curve_charts(curves: Mapping[str, Any], prefix: str = "") -> list[Chart]:
    """The curves of one class, those that are defined."""
    makers = (_cost, _net_benefit, _calibration, _roc, _pr)
    made = (maker(curves, prefix) for maker in makers)
    return [one for one in made if one is not None]


def threshold_chart(table: Mapping[str, Numbers], currency: str | None) -> Chart:
    """What all rows would cost at each threshold."""
    return Chart(
        "threshold-cost",
        "Cost by threshold",
        "What all rows of the test part would cost if those above one threshold were called positive.",
        "threshold",
        table["threshold"],
        [Line("cost of all rows", table["cost"], "money")],
        currency=currency,
    )


def _cost(curves: Mapping[str, Any], prefix: str) -> Chart | None:
    found = curves.get("cost")
    if found is None:
        return None
    return Chart(
        f"{prefix}cost-curve",
        "Cost curve",
        "What a row costs at each ratio of the two mistakes; below both dashed lines it pays to ask it.",
        "share of the false alarm in the cost of both mistakes",
        found["condition"],
        [
            Line("this version", found["cost"]),
            Line("always positive", found["always_positive"], quiet=True),
            Line("always negative", found["always_negative"], quiet=True),
        ],
    )


def _net_benefit(curves: Mapping[str, Any], prefix: str) -> Chart | None:
    found = curves.get("net_benefit")
    if found is None:
        return None
    # Where all are treated and the threshold nears 1, the loss has no bottom; what matters is above.
    floor = -0.5 * max(0.05, *(one for one in found["net_benefit"] if one is not None))
    kept = [None if one is None or one < floor else one for one in found["treat_all"]]
    own = [None if one is None or one < floor else one for one in found["net_benefit"]]
    return Chart(
        f"{prefix}net-benefit",
        "Net benefit",
        "True positives per row, less false ones times the odds of the threshold; "
        "above both dashed lines it is better to ask the model.",
        "threshold",
        found["threshold"],
        [
            Line("this version", own),
            Line("all positive", kept, quiet=True),
            Line("none", found["treat_none"], quiet=True),
        ],
    )


def _calibration(curves: Mapping[str, Any], prefix: str) -> Chart | None:
    found = curves.get("calibration")
    if found is None:
        return None
    return Chart(
        f"{prefix}calibration",
        "Calibration",
        "How often it came true against the probability that was given; on the dashed line it is as often.",
        "probability given",
        found["mean_probability"],
        [
            Line("came true", found["observed_rate"], points=True),
            Line("as often", found["mean_probability"], quiet=True),
        ],
        square=True,
    )


def _roc(curves: Mapping[str, Any], prefix: str) -> Chart | None:
    found = curves.get("roc")
    if found is None:
        return None
    return Chart(
        f"{prefix}roc",
        "ROC",
        "Share of the positives found against share of the negatives called positive with them.",
        "false alarms among negatives",
        found["fpr"],
        [Line("found among positives", found["tpr"]), Line("by chance", found["fpr"], quiet=True)],
        square=True,
    )


def _pr(curves: Mapping[str, Any], prefix: str) -> Chart | None:
    found = curves.get("pr")
    if found is None:
        return None
    return Chart(
        f"{prefix}pr",
        "Precision and recall",
        "Share of those called positive that are, against the share of the positives that is found.",
        "recall",
        found["recall"],
        [Line("precision", found["precision"])],
        square=True,
    )


def shape_chart(shape: Mapping[str, Any], number: int, explained: str) -> Chart:
    """What the values of one column add, class by class."""
    title, x_label = shape["feature"], f"value of {shape['feature']}"
    if "categories" in shape:
        names = [str(one) for one in shape["categories"]]
        lines = [Line(f"adds to {name}", values, bars=True) for name, values in shape["values"].items()]
        says = f"What each category of {title} adds to {explained}."
        return Chart(
            f"shape-{number}", title, says, x_label, list(range(len(names))), lines, categories=names
        )
    cuts = shape["cuts"] or [0.0]
    margin = 0.05 * (cuts[-1] - cuts[0]) or 1.0
    edges = [cuts[0] - margin, *cuts, cuts[-1] + margin]
    lines = [
        Line(f"adds to {name}", _to_the_end(v, edges), steps=True) for name, v in shape["values"].items()
    ]
    says = f"What each value of {title} adds to {explained}; the first and the last step go on outwards."
    return Chart(f"shape-{number}", title, says, x_label, edges, lines)


def _to_the_end(values: Numbers, edges: Numbers) -> Numbers:
    return [*values, *[values[-1]] * (len(edges) - len(values))]


def drift_chart(name: str, drift: Any, id: str) -> Chart:
    """How the rows are spread over the bins of one column, or of the probability."""
    lines = [
        Line("at the test", drift.shares_reference, "percent", bars=True),
        Line("in these decisions", drift.shares, "percent", bars=True),
    ]
    says = f"Share of the rows; stability index {drift.psi:.3g}, by chance {drift.psi_by_chance:.3g}."
    return Chart(id, name, says, "value", list(range(len(drift.bins))), lines, categories=drift.bins)


def reliability_chart(name: str, table: Mapping[str, Numbers], id: str) -> Chart:
    """How often a class came true, of the decisions whose label is known."""
    given = table["mean_probability"]
    says = "How often it came true where the label is known, against the probability that was given."
    lines = [
        Line("came true", table["observed_rate"], points=True),
        Line("as often", given, quiet=True),
    ]
    return Chart(id, f"Calibration of “{name}”", says, "probability given", given, lines, square=True)


def profile_charts(profile: Mapping[str, Any]) -> list[Chart]:
    """How the values of each column are spread over the rows of each class."""
    made = (_spread(column, number) for number, column in enumerate(profile["columns"]))
    return [one for one in made if one is not None]


def _spread(column: Mapping[str, Any], number: int) -> Chart | None:
    by_class = column.get("by_class") or {}
    if column["distinct"] < 2:
        return None
    if column.get("top"):
        names = [str(one["value"]) for one in column["top"]]
    elif column.get("histogram"):
        edges = column["histogram"]["edges"]
        names = [f"{_edge(low)} to {_edge(high)}" for low, high in pairwise(edges)]
    else:
        return None
    lines = [
        Line(name, [count / found["rows"] for count in found["counts"]], "percent", bars=True)
        for name, found in by_class.items()
        if found["rows"] and found.get("counts")
    ]
    if not lines:
        return None
    says = "Share of the rows of each class."
    return Chart(
        f"column-{number}", column["name"], says, "value", list(range(len(names))), lines, categories=names
    )


def _edge(one: float | str) -> str:
    return one[:16].replace("T", " ") if isinstance(one, str) else f"{one:.4g}"
