"""The page: what decisions cost, how sure that is, and where ours loses."""

from collections.abc import Callable, Iterable, Sequence, Set
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from speed.machine import describe

from .contestants import AUTO, AUTO_ADDITIVE, CONSTANT, contestants
from .plots import draw
from .results import ENOUGH_POSITIVES, Case, Results
from .sets import CHOOSING, CONFIRMING
from .statistics import Estimate, summary
from .store import source

__all__ = ["write_page"]

#: What costs are set against: its defaults, calibrated, with the same rule.
BASE = "LightGBM"
#: What a reader should know beside the figures; written by hand.
REMARKS = Path(__file__).with_name("remarks.md")

Row = TypeVar("Row")
Column = TypeVar("Column")

RULES = (
    "Rules of the peers. **a**: the likeliest class. **b**: the same, rows weighed by the costs of their "
    "class. **c**: sigmoid calibration of the log-odds on five-fold out-of-fold scores, then the decision of "
    "the least expected cost at the costs of the row. Ours decide by the probabilities of "
    "`CostSensitiveModel` as it stands, with that same rule; empulse's by their own `predict`. Where no rule "
    "is named, it is c."
)
METHOD = (
    "Stratified five-fold, drawn anew for each seed. Every fit, calibration and search sees the rows of the "
    "other four folds only. A cost is the sum over all rows of a set, each decided on by what did not learn "
    "from it. Intervals are of 95 %, from a bootstrap over the rows, the same draws for all, without draws "
    "in which one of two costs nothing: they say how much hangs on the rows, not on the seeds. A geometric "
    "mean takes the sets as equals, and the two cost ratios of a set as one set together. Costs: *ratio*: a "
    "missed positive costs n₋/n₊ false alarms; *5 × ratio*: five times that; else those that the set has: of "
    "each row, one table for all, or of KDD Cup 1999 the official one."
)


def write_page(results: Results, command: str, absent: Set[str], folder: Path) -> None:
    """Write money.md and its plots."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = draw(results, folder)
    parts = [
        "# Decisions in money beside named peers",
        _made(results, command, absent),
        METHOD,
        RULES,
        _halves(),
        _targets(results),
        _overall(results, plots),
        REMARKS.read_text(encoding="utf-8").strip() if REMARKS.exists() else "",
        _losses(results),
        _each(results),
        _peers_by_rule(results),
        _savings(results),
        _calibration(results),
        _time(results),
        _ours(results),
        _not_run(results),
    ]
    (folder / "money.md").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


# What was run


def _made(results: Results, command: str, absent: Set[str]) -> str:
    names = {contestants()[one].distribution for one in results.names} | {"scikit-learn"}
    versions = ", ".join(f"{name} {version(name)}" for name in sorted(names - {"costboost"}))
    versions += f", costboost {version('costboost')} (source {source()})"
    longest = max((len(done[0].y) for done in results.done.values()), default=0)
    text = (
        f"Written by `{command}` in `benchmarks` (`make money` has no options) on "
        f"{datetime.now(UTC):%Y-%m-%d}. {describe()}; {versions}. {len(results.sets)} sets, of at most "
        f"{longest:,} rows."
    )
    if absent:
        text += f" Not in the data folder: {', '.join(sorted(absent))}."
    return text


def _halves() -> str:
    return (
        "The sets were parted by their names, every other one, before anything was measured here. **For "
        f"choosing** what the default does: {_words(CHOOSING)}. **For confirming** it: {_words(CONFIRMING)}."
    )


def _not_run(results: Results) -> str:
    """What a reader would look for and not find."""
    lines = []
    for name in contestants():
        has = {one for one in results.sets if results.seeds(one, name)}
        fit = [
            one
            for one in results.sets
            if not (contestants()[name].two_classes and results.has_many_classes(one))
        ]
        if not has:
            lines.append(f"- {name}: nothing")
        elif missing := [one for one in fit if one not in has]:
            lines.append(f"- {name}: {_words(missing)}")
    failed = {", ".join(key.split("/")[:2]): why for key, why in results.failed.items()}
    lines += [f"- failed: {what}: {why.split('(')[0].strip()}" for what, why in failed.items()]
    return _section("Not run", "\n".join(lines)) if lines else ""


# What must hold


def _targets(results: Results) -> str:
    best = results.best_peer(results.sets, BASE)
    if (AUTO not in results.names) or best is None:
        return ""
    rows = [
        _mean_target(results, f"Geometric mean of cost over {BASE} (c): at most 0.92", BASE, 0.92),
        _mean_target(results, f"The same over the best single peer, {best}: at most 0.98", best, 0.98),
        *_without_the_best_set(results, best),
        _rank_target(results),
        _dear_target(results),
        _savings_target(results),
        _calibration_target(results),
    ]
    head = "| what must hold | measured | |\n|---|---|---|"
    return _section("What must hold of `auto`", "\n".join([head, *rows]))


def _verdict(says: str, measured: str, reached: bool) -> str:
    return f"| {says} | {measured} | {'reached' if reached else '**not reached**'} |"


def _mean_target(results: Results, says: str, other: str, bound: float) -> str:
    found = results.mean_ratio(AUTO, other, results.sets)
    if found is None:
        return f"| {says} | – | not measured |"
    return _verdict(says, _estimate(found[0]), found[0].value <= bound)


def _without_the_best_set(results: Results, best: str) -> list[str]:
    """The two means again: one set alone must not make them."""
    rows = []
    for other, bound in ((BASE, 0.92), (best, 0.98)):
        means = {name: results.mean_ratio(AUTO, other, [name]) for name in results.sets}
        known = {name: mean[0].value for name, mean in means.items() if mean is not None}
        helped = min(known, key=lambda name: known[name])
        found = results.mean_ratio(AUTO, other, [name for name in known if name != helped])
        if found is not None:
            says = f"Over {other}, without the set where it gains most ({helped})"
            rows.append(_verdict(f"{says}: at most {bound}", _estimate(found[0]), found[0].value <= bound))
    return rows


def _rank_target(results: Results) -> str:
    ranks = results.ranks(results.ranked, results.sets)
    says = "Mean rank: first"
    if ranks is None:
        return f"| {says} | – | not measured |"
    place = list(ranks.mean).index(AUTO) + 1
    return _verdict(says, f"{place} of {len(ranks.mean)}, mean rank {ranks.mean[AUTO]:.2f}", place == 1)


def _dear_target(results: Results) -> str:
    says = "On no set with 100 positives surely more than 10 % dearer than the best peer there"
    dear = [
        f"{case} {_estimate(estimate)}"
        for case, _, estimate in _beside_the_best(results)
        if results.positives(case.name) >= 100 and estimate.low > 1.1
    ]
    return _verdict(says, _words(dear) or "none", not dear)


def _savings_target(results: Results) -> str:
    says = "Savings against the cheapest constant decision surely below 0 on no set"
    found = {case: results.savings(case, AUTO) for case in _cases(results)}
    below = [f"{case} {_estimate(one)}" for case, one in found.items() if one and one.high < 0]
    return _verdict(says, _words(below) or "none", not below)


def _calibration_target(results: Results) -> str:
    says = f"Calibration on sets with {ENOUGH_POSITIVES} positives: slope 0.9 to 1.1, intercept within ±0.1"
    lines = {name: results.calibration(name, AUTO) for name in _with_enough_positives(results)}
    if not any(lines.values()):
        return f"| {says} | no set has them | not measured |"
    off = [
        f"{name} {line[0]:.2f}, {line[1]:+.2f}"
        for name, line in lines.items()
        if line and not (0.9 <= line[0] <= 1.1 and abs(line[1]) <= 0.1)
    ]
    return _verdict(says, _words(off) or "all", not off)


def _with_enough_positives(results: Results) -> list[str]:
    two = [name for name in results.sets if not results.has_many_classes(name)]
    return [name for name in two if results.positives(name) >= ENOUGH_POSITIVES]


# The figures


def _overall(results: Results, plots: Sequence[str]) -> str:
    groups = {"all sets": results.sets, "for choosing": CHOOSING, "for confirming": CONFIRMING}
    halves = {says: [name for name in results.sets if name in names] for says, names in groups.items()}
    who = results.ranked
    ranks = {says: results.ranks(who, names) for says, names in halves.items()}
    lines = [
        "| | " + " | ".join(halves) + " | mean rank: " + " | ".join(halves) + " |",
        "|---" * (2 * len(halves) + 1) + "|",
    ]
    for one in [*results.of("default"), *results.of("peer"), *results.of("searched")]:
        means = [_mean(results, one, names) for names in halves.values()]
        places = [f"{rank.mean[one]:.2f}" if rank and one in who else "–" for rank in ranks.values()]
        lines.append(f"| {_bold(one)} | {' | '.join(means)} | {' | '.join(places)} |")
    text = (
        f"Geometric mean of cost relative to {BASE} (c); less is better. In brackets the number of sets, "
        "where it is not all.\n\n"
    ) + "\n".join(lines)
    if (whole := ranks["all sets"]) is not None:
        text += (
            f"\n\nRanks are over {whole.n_sets} sets of two classes; Friedman's test that all are alike: p = "
            f"{whole.p:.1g}. Two mean ranks differ by more than chance (Nemenyi, 5 %) if they are "
            f"{whole.critical:.2f} apart."
        )
    return _section("Overall", "\n\n".join([text, *(f"![{says}]({name})" for name, says in _shown(plots))]))


def _shown(plots: Sequence[str]) -> list[tuple[str, str]]:
    says = {
        "money-ranks.svg": "Mean ranks",
        "money-sets.svg": "Cost relative to the best peer of each set",
    }
    return [(name, says[name]) for name in plots]


def _mean(results: Results, one: str, names: Sequence[str], rule: str | None = None) -> str:
    found = results.mean_ratio(one, BASE, names, rule)
    if found is None:
        return "–"
    return _estimate(found[0]) + (f" ({found[1]})" if found[1] < len(names) else "")


def _losses(results: Results) -> str:
    lines = [
        f"| {case} | {results.positives(case.name)} | {peer} | {_estimate(estimate)} | "
        f"{'surely' if estimate.low > 1 else 'within the noise'} |"
        for case, peer, estimate in sorted(_beside_the_best(results), key=lambda one: -one[2].value)
        if estimate.value > 1
    ]
    head = (
        "Cost of `auto` over that of the peer which turned out cheapest on that very case: chosen "
        "afterwards, which flatters the peers.\n\n"
        "| case | rows of the rarest class | best peer | cost relative to it | |\n|---|---|---|---|---|"
    )
    return _section("Where `auto` loses", "\n".join([head, *lines])) if lines else ""


def _beside_the_best(results: Results) -> list[tuple[Case, str, Estimate]]:
    found = []
    for case in _cases(results):
        peer = results.best_peer_of(case)
        ratio = results.ratio(case, AUTO, peer) if peer else None
        if peer and ratio is not None:
            found.append((case, peer, summary(ratio)))
    return found


def _each(results: Results) -> str:
    who = [one for one in [*results.of("default"), *results.of("peer")] if one != BASE]

    def cell(case: Case, one: str) -> str:
        ratio = results.ratio(case, one, BASE)
        if ratio is None:
            return "–"
        estimate = summary(ratio)
        return _estimate(estimate) if one in (AUTO, AUTO_ADDITIVE) else f"{estimate.value:.3f}"

    text = f"Cost relative to {BASE} (c).\n\n"
    return _section("Each set", text + _table("case", _cases(results), who, cell))


def _peers_by_rule(results: Results) -> str:
    who = [
        one for one in [*results.of("peer"), *results.of("searched")] if not contestants()[one].two_classes
    ]
    rules = {"a: likeliest class": "a", "b: class weights": "b", "c: calibrated, least expected cost": "c"}
    table = _table("", who, list(rules), lambda one, says: _mean(results, one, results.sets, rules[says]))
    return _section("What the rule is worth", f"Geometric mean of cost relative to {BASE} (c).\n\n{table}")


def _savings(results: Results) -> str:
    who = [*results.of("default"), *[one for one in (BASE, "CatBoost") if one in results.names]]

    def cell(case: Case, one: str) -> str:
        found = results.savings(case, one)
        return "–" if found is None else f"{found.value:.1%} ({found.low:.1%} to {found.high:.1%})"

    text = (
        "Share of the cost of the cheapest constant decision, found on the training rows, that is saved.\n\n"
    )
    table = _table("case", _cases(results), who, cell)
    return _section("Savings", text + table) if CONSTANT in results.names else ""


def _calibration(results: Results) -> str:
    names = _with_enough_positives(results)
    who = [one for one in [*results.of("default"), *results.of("peer")] if contestants()[one].rule == "c"]

    def cell(name: str, one: str) -> str:
        line = results.calibration(name, one)
        return "–" if line is None else f"{line[0]:.2f}, {line[1]:+.2f}"

    text = (
        f"Slope and intercept of the log-odds over all folds, of two-class sets with at least "
        f"{ENOUGH_POSITIVES} positives; 1 and 0 are right. Peers after sigmoid calibration.\n\n"
    )
    return _section("Calibration", text + _table("set", names, who, cell)) if names else ""


def _time(results: Results) -> str:
    who = [*results.of("default"), *results.of("peer")]

    def cell(name: str, one: str) -> str:
        ours = results.cpu(name, one, "calibrated") or results.cpu(name, one, "fit")
        base = results.cpu(name, BASE, "fit")
        return "–" if not ours or not base else f"{ours / base:.1f}"

    text = (
        f"CPU of training all that deciding needs, calibration and weights of members included, over that of "
        f"one plain fit of {BASE}; one thread each, mean over the folds.\n\n"
    )
    return _section("Training time", text + _table("set", results.sets, who, cell))


def _ours(results: Results) -> str:
    who = results.of("ours")
    if not who:
        return ""
    lines = [f"| {one} | {_mean(results, one, results.sets)} |" for one in who]
    head = (
        "At their defaults, calibrated and with the same rule: geometric mean of cost relative to "
        f"{BASE} (c).\n\n| algorithm | all sets |\n|---|---|"
    )
    return _section("Every algorithm of ours", "\n".join([head, *lines]))


# Words


def _cases(results: Results) -> list[Case]:
    return [case for name in results.sets for case in results.cases(name)]


def _table(
    corner: str, rows: Iterable[Row], columns: Sequence[Column], cell: Callable[[Row, Column], str]
) -> str:
    lines = [f"| {corner} | {' | '.join(str(one) for one in columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {row} | {' | '.join(cell(row, column) for column in columns)} |" for row in rows]
    return "\n".join(lines)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


def _estimate(one: Estimate) -> str:
    return f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})"


def _words(names: Iterable[str]) -> str:
    return ", ".join(names)


def _bold(name: str) -> str:
    return f"**{name}**" if name == AUTO else name
