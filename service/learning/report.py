"""What is told about a version beside its metrics: curves, which columns matter, which value pushes where."""

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from costboost.contributions.steps import StepContributions
from costboost.explain import Explainer
from costboost.scorer import Scorer
from costboost.shape_functions import importance, shapes
from service.domain.errors import ConflictError
from service.learning.judging import Columns, Judged

_FORMAT: Final = 1
#: Rows whose contributions are averaged; what is not additive takes long for each.
_EXPLAINED: Final = 500
_EXPLAINED_OTHERS: Final = 100


def report_of(scorer: Scorer, test: Judged, out_of_fold: Judged, test_columns: Columns) -> dict[str, Any]:
    """Put the report together.

    Returns
    -------
    dict
        Plain JSON: `curves` (of the parts `test` and `out_of_fold`), `explained` and `method` of the
        contributions, `importance` of each column on rows of the test part, `shapes` (None where columns
        work together), and the `calibration` that was chosen.
    """
    explainer = Explainer(scorer)
    is_additive = isinstance(explainer.parts, StepContributions)
    rows = _some_rows(test.weight, len(test.codes), _EXPLAINED if is_additive else _EXPLAINED_OTHERS)
    some = {name: values[rows] for name, values in test_columns.items()}
    weight = None if test.weight is None else test.weight[rows]
    return {
        "format": _FORMAT,
        "curves": {"test": test.curves(), "out_of_fold": out_of_fold.curves()},
        "explained": explainer.explained,
        "method": explainer.parts.method,
        "importance": importance(scorer, some, weight),
        "importance_rows": len(rows),
        "shapes": shapes(scorer)["features"] if is_additive else None,
        "calibration": scorer.calibrator.kind,
    }


def dump_report(report: dict[str, Any]) -> bytes:
    """Write a report; the same report gives the same bytes."""
    return json.dumps(report, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def load_report(data: bytes) -> dict[str, Any]:
    """Read a report.

    Raises
    ------
    ConflictError
        `artifact_corrupt`.
    """
    try:
        report: dict[str, Any] = json.loads(data)
        if report["format"] != _FORMAT:
            raise ValueError("another format")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConflictError("artifact_corrupt", "the stored bytes are not a report") from None
    return report


def _some_rows(weight: NDArray[np.float64] | None, n: int, most: int) -> NDArray[np.intp]:
    """Up to so many rows with a weight, evenly from the whole part."""
    heavy = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    steps = np.linspace(0, len(heavy) - 1, min(most, len(heavy)))
    return heavy[np.rint(steps).astype(np.intp)]
