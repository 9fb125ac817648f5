"""Why the threshold of a row is where it is, when costs depend on the row: an amount moves it."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.learning import PricedCosts, threshold_at
from service.rows import TypedArray
from service.usecases.scoring import Loaded


@dataclass(frozen=True)
class ThresholdReason:
    """
    What the costs of a row read, beside what they mostly read.

    Attributes
    ----------
    columns : mapping of name to number
        The columns that the costs are computed from, as the row has them.
    typical : mapping of name to number, or None
        The same in an ordinary row of training; None where training had not all of these columns.
    typical_threshold : float or None
        Threshold of a row of these costs; None where it has none.
    """

    columns: Mapping[str, float]
    typical: Mapping[str, float] | None
    typical_threshold: float | None


def threshold_reasons(
    loaded: Loaded, costs: PricedCosts, columns: Mapping[str, TypedArray]
) -> list[ThresholdReason] | None:
    """Say it of rows that were decided at these costs; None where all rows have one threshold, or none."""
    if loaded.predictor.positive is None or not costs.columns:
        return None
    names = sorted(costs.columns)
    example = loaded.version.schema["example"]
    typical, threshold = None, None
    if all(example.get(name) is not None for name in names):
        typical = {name: float(example[name]) for name in names}
        threshold = threshold_at(costs, typical, loaded.predictor.positive)
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    return [
        ThresholdReason(dict(zip(names, map(float, row), strict=True)), typical, threshold) for row in rows
    ]
