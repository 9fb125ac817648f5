"""The card of a version as a page to read and print."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from service.api.markup import table, words

Card = Mapping[str, Any]

#: Columns that are shown with how they push, the most important ones.
_SHOWN: Final = 12
#: Numbers from here on are written out, with cents.
_LARGE: Final = 1000.0
#: Categories of a column that are listed.
_CATEGORIES: Final = 12
#: Steps of a number that have a line each; of more, neighbours share one.
_STEPS: Final = 24
_METRICS: Final = (
    ("expected_cost", "Cost of a row"),
    ("total_cost", "Cost of all rows"),
    ("baseline_cost", "Cost of all rows by the cheapest constant decision"),
    ("savings", "Share of that saved"),
    ("roc_auc", "ROC area"),
    ("pr_auc", "Area under precision and recall"),
    ("g_mean", "G-mean"),
    ("recall", "Recall"),
    ("precision", "Precision"),
    ("specificity", "Specificity"),
    ("brier", "Brier score"),
    ("log_loss", "Log loss"),
    ("review_rate", "Share reviewed"),
)
_FIGURES: Final = (
    "expected_cost",
    "accuracy",
    "base_rate",
    "flagged",
    "mean_probability",
    "recall",
    "specificity",
    "precision",
)


def card_content(card: Card) -> str:
    """Write the card as markup."""
    return "".join(
        [
            f"<p>{escape(card['description'])}</p>" if card["description"] else "",
            _named(_head(card)),
            "<h2>Limits</h2><ul>",
            *(f"<li>{words(one)}</li>" for one in card["limits"]),
            "</ul><h2>Costs</h2>",
            *(f"<p>{escape(one)}</p>" for one in card["costs"]["consequences"]),
            table(("cell", "true", "action", "cost"), _cells(card["costs"]["cells"])),
            "<h2>Performance</h2>",
            table(("", "test part", "out of fold"), _metrics(card["performance"])),
            _figures("All rows of the test part", [{"group": "all", **card["performance"]["figures"]}]),
            table(("class", "rows", "cost of a row", "decided rightly", "95 %"), _classes(card)),
            *_calibration(card["performance"]["calibration"]),
            *_subgroups(card["subgroups"]),
            *_explanation(card["explanation"]),
            "<h2>Data</h2>",
            _named(_data(card["data"])),
            table(("column", "type", "role", "missing"), _columns(card["data"]["columns"])),
            "<h2>Training</h2>",
            _named((name, value) for name, value in card["training"].items()),
            "<h2>Lineage</h2>",
            _named(card["lineage"].items()),
        ]
    )


def _head(card: Card) -> Iterator[tuple[str, Any]]:
    yield "version", card["version"]
    yield "aliases", ", ".join(card["aliases"]) or None
    yield "made", card["created_at"].isoformat(timespec="seconds")
    yield from sorted(card["tags"].items())


def _named(pairs: Iterable[tuple[str, Any]]) -> str:
    return table((), ((escape(str(name).replace("_", " ")), _value(value)) for name, value in pairs))


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "<br>".join(f"{escape(str(name))}: {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_number, value))
    return _number(value)


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if not isinstance(value, float):
        return escape(str(value))
    return f"{value:,.2f}" if abs(value) >= _LARGE else f"{value:.4g}"


def _between(limits: Sequence[float] | None) -> str:
    return "–" if limits is None else f"{limits[0]:.4g} to {limits[1]:.4g}"


def _cells(cells: Iterable[Card]) -> Iterator[tuple[str, ...]]:
    for one in cells:
        yield tuple(_value(one[key]) for key in ("name", "true", "action", "cost"))


def _metrics(performance: Card) -> Iterator[tuple[str, str, str]]:
    test, folded = performance["test"], performance["out_of_fold"]
    for name, told in _METRICS:
        yield told, _number(test.get(name)), _number(folded.get(name))
    interval = "savings_ci95"
    yield "95 % interval of the share saved", _between(test.get(interval)), _between(folded.get(interval))


def _figures(title: str, groups: Sequence[Card]) -> str:
    shown = [name for name in _FIGURES if name in groups[0]]
    rows = (
        (
            _group(one),
            str(one["rows"]),
            *(f"{_number(one[name])}<br>{_between(one[f'{name}_ci95'])}" for name in shown),
        )
        for one in groups
    )
    return f"<h3>{escape(title)}</h3>" + table(
        ("group", "rows", *(name.replace("_", " ") for name in shown)), rows
    )


def _group(one: Card) -> str:
    if "low" in one:
        return f"{one['low']:.6g} to {one['high']:.6g}"
    if one["group"] is None:
        return "all others" if one.get("rest") else "missing"
    return escape(one["group"])


def _classes(card: Card) -> Iterator[tuple[str, ...]]:
    for one in card["performance"]["by_class"]:
        rightly, limits = _number(one["accuracy"]), _between(one["accuracy_ci95"])
        yield escape(one["class"]), str(one["rows"]), _number(one["expected_cost"]), rightly, limits


def _calibration(classes: Iterable[Card]) -> Iterator[str]:
    head = ("predicted", "", "observed", "weight of rows")
    for one in classes:
        if one["table"] is not None:
            yield f"<h3>Calibration of {escape(str(one['class']))}</h3>"
            names = ("mean_probability", "low", "high", "observed_rate", "weight")
            rows = zip(*(one["table"][name] for name in names), strict=True)
            yield table(
                head, ((f"{p:.4g}", f"{a:.4g} to {b:.4g}", f"{o:.4g}", f"{w:g}") for p, a, b, o, w in rows)
            )


def _subgroups(found: Card | None) -> Iterator[str]:
    if found is not None:
        yield _figures(f"By {found['column']}", found["groups"])


def _explanation(found: Card) -> Iterator[str]:
    yield "<h2>What matters</h2>"
    what = {"log_odds": "log-odds", "score": "the score"}[found["explained"]]
    yield f"<p>Mean of what each column adds to {what}, either way, on rows of the test part.</p>"
    largest = max((one["importance"] for one in found["importance"]), default=0.0) or 1.0
    rows = [(one, one["importance"] / largest) for one in found["importance"][:_SHOWN]]
    yield table(
        ("column", "", ""),
        ((escape(one["feature"]), f"{one['importance']:.4g}", _bar(share)) for one, share in rows),
    )
    shapes = {one["feature"]: one for one in found["shapes"] or ()}
    for one, _ in rows:
        if one["feature"] in shapes:
            yield f"<h3>{escape(one['feature'])}</h3>"
            yield from _shape(shapes[one["feature"]])


def _bar(share: float) -> str:
    return (
        '<svg viewBox="0 0 100 8" width="160" height="12" aria-hidden="true">'
        f'<rect width="{100 * share:.1f}" height="8" fill="currentColor"/></svg>'
    )


def _shape(shape: Card) -> Iterator[str]:
    for name, values in shape["values"].items():
        missing = _number(shape["missing"][name])
        if "categories" in shape:
            ranked = sorted(zip(values, shape["categories"], strict=True), reverse=True)
            rows = [(escape(str(text)), f"{value:+.4g}") for value, text in ranked[:_CATEGORIES]]
            rows.append(("any other", _number(shape["other"][name])))
        else:
            rows = step_lines(shape["cuts"], values)
        yield table(("value", f"pushes to {name}"), [*rows, ("missing", missing)])


def step_lines(cuts: Sequence[float], values: Sequence[float]) -> list[tuple[str, str]]:
    """Lines of a number's steps; where neighbours share a line, it spans their range and their values."""
    together = -(-len(values) // _STEPS)
    begins = range(0, len(values), together)
    return [
        (_range(cuts, begin, begin + together), _span(values[begin : begin + together])) for begin in begins
    ]


def _range(cuts: Sequence[float], begin: int, end: int) -> str:
    """Numbers of the steps from `begin` to before `end`; step i lies above cut i - 1, up to cut i."""
    low = f"above {cuts[begin - 1]:.6g}" if begin else ""
    high = f"up to {cuts[end - 1]:.6g}" if end <= len(cuts) else ""
    return ", ".join(part for part in (low, high) if part) or "any"


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):+.4g}", f"{max(values):+.4g}"
    return low if low == high else f"{low} to {high}"


def _data(data: Card) -> Iterator[tuple[str, Any]]:
    for name in ("name", "rows", "test_rows", "label", "positive_class", "class_counts"):
        yield name, data[name]


def _columns(columns: Iterable[Card]) -> Iterator[tuple[str, ...]]:
    for one in columns:
        yield tuple(_value(one[key]) for key in ("name", "type", "role", "missing"))
