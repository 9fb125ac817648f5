"""How the CPU time of a fit grows with rows, columns and rounds."""

from functools import partial

from . import draws
from .peers import fits
from .results import OURS, Table, ratio, rounded
from .timing import Work, interleaved


def measure(quick: bool) -> list[Table]:
    """Measure pairs of sizes in turn; the number is how many times the larger one takes longer."""
    base = 20_000 if quick else 100_000
    X, y = draws.dense(base, 30)
    wide, wide_y = draws.dense(base, 120)
    long, long_y = draws.dense(10 * base, 30)
    fits(1, 3)[OURS](X, y)
    works: dict[str, Work] = {
        "base": partial(fits(1, 100)[OURS], X, y),
        "rows": partial(fits(1, 100)[OURS], long, long_y),
        "columns": partial(fits(1, 100)[OURS], wide, wide_y),
        "few": partial(fits(1, 10)[OURS], X, y),
        "rounds": partial(fits(1, 1000)[OURS], X, y),
    }
    seconds = interleaved(works, 5)
    base_part = [one - few for one, few in zip(seconds["base"], seconds["few"], strict=True)]
    more_part = [one - few for one, few in zip(seconds["rounds"], seconds["base"], strict=True)]
    cases = {
        "10 times the rows": {OURS: [ratio(seconds["rows"], seconds["base"])]},
        "4 times the columns": {OURS: [ratio(seconds["columns"], seconds["base"])]},
        "10 times the rounds": {OURS: [ratio(seconds["rounds"], seconds["base"])]},
        "10 times the rounds, without binning": {OURS: [ratio(more_part, base_part)]},
    }
    title = f"Growth, from {base // 1000}k × 30, 100 rounds of stumps"
    note = (
        "Whole fits; without binning: what rounds 101 to 1000 cost, over what rounds 11 to 100 do. The first "
        "rounds part off fewer rows than later ones, so they are a little cheaper."
    )
    return [Table("growth", title, "times the CPU", rounded(cases), note, compared=False)]
