"""A model as a whole: how much each column matters, and which value of a column pushes where."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.columns import TEXTUAL, Columns, ColumnType
from costboost.contributions.steps import StepContributions
from costboost.explain import Explainer
from costboost.features import Cell
from costboost.scorer import Scorer

__all__ = ["importance", "shapes"]

Floats = NDArray[np.float64]

#: Rows explained at a time.
_BLOCK = 4096


def importance(
    scorer: Scorer, columns: Columns, sample_weight: ArrayLike | None = None
) -> list[dict[str, Any]]:
    """Mean of the absolute contributions of each column over rows.

    Parameters
    ----------
    scorer : Scorer
    columns : mapping of name to ndarray of shape (n,)
        Typed columns; best of rows that the model was not fitted on.
    sample_weight : array-like of shape (n,), >= 0, not all 0, optional

    Returns
    -------
    list of {"feature", "importance"}
        The most important first, ties in the order of the names; plain JSON values. In log-odds or in the
        score, as `Explainer.explained` says; with more than two classes the mean over their scores.

    Raises
    ------
    ValueError
        If a column is missing, or there is no row with a weight.
    """
    explainer = Explainer(scorer)
    X = scorer.encoder.transform(columns)
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(X),) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError("importance needs rows, and one finite weight >= 0 for each, not all 0")
    total = np.zeros(len(explainer.names))
    for start in range(0, len(X), _BLOCK):
        rows = slice(start, start + _BLOCK)
        size = np.abs(explainer.parts.contributions(X[rows])).mean(axis=2)
        total += (weight[rows, None] * size).sum(axis=0)
    mean = total / weight.sum() * (1.0 if explainer.line is None else explainer.line[0])
    order = np.argsort(-mean, kind="stable").tolist()
    return [{"feature": explainer.names[s], "importance": float(mean[s])} for s in order]


def shapes(scorer: Scorer) -> dict[str, Any]:
    """What each column contributes over its range, read from the stored terms.

    Parameters
    ----------
    scorer : Scorer
        Of an additive ensemble: with other weak learners than stumps a column's contribution also depends on
        the other columns.

    Returns
    -------
    dict
        Plain JSON values: ``method``, ``explained``, ``baseline`` ({class: number}) and ``features``, for
        each column ``feature``, ``type`` and, keyed by class (the positive one of two), ``values`` and
        ``missing``. A number has ``cuts``: B rising numbers and B + 1 values, the i-th for x up to and with
        cut i, the last beyond all cuts. A category has ``categories``, a value for each, and ``other`` for
        any else.

    Raises
    ------
    ValueError
        If the ensemble is not additive in its columns.
    """
    explainer = Explainer(scorer)
    parts = explainer.parts
    if not isinstance(parts, StepContributions):
        raise ValueError(  # noqa: TRY004 - the user chose another weak learner, no type is wrong
            "only ensembles of decision stumps have shape functions: here columns work together"
        )
    slope, intercept = explainer.line or (1.0, 0.0)
    reader = _Reader(scorer, parts, slope)
    return {
        "method": parts.method,
        "explained": explainer.explained,
        "baseline": {name: value + intercept for name, value in reader.single(parts.baseline[None]).items()},
        "features": [
            reader.shape(s, name, kind) for s, (name, kind) in enumerate(scorer.encoder.types.items())
        ],
    }


class _Reader:
    """Reads the contributions of one column at a time off rows made for the purpose."""

    def __init__(self, scorer: Scorer, parts: StepContributions, slope: float) -> None:
        self.parts, self.slope = parts, slope
        self.cells = scorer.encoder.cells
        codes, positive = scorer.codes, scorer.positive
        outputs = [(k, code) for k, code in enumerate(codes)] if positive is None else [(positive, 0)]
        self.outputs = [(scorer.classes[k], code) for k, code in outputs]

    def by_class(self, values: Floats) -> dict[str, Any]:
        """Values (m, K') as a list per class."""
        scaled = values * self.slope
        return {name: scaled[:, code].tolist() for name, code in self.outputs}

    def shape(self, source: int, name: str, kind: ColumnType) -> dict[str, Any]:
        cells = self.parts.sources.columns(source)
        own = [self.cells[j] for j in cells]
        shape = self._category(source, cells, own) if kind in TEXTUAL else self._number(source, int(cells[0]))
        return {"feature": name, "type": kind} | shape

    def _number(self, source: int, column: int) -> dict[str, Any]:
        found = [function.cuts for function in self.parts.functions if function.feature == column]
        cuts = found[0] if found else np.zeros(0)
        # A value equal to a cut lies below it; one beyond the last stands for all beyond.
        beyond = np.nextafter(cuts[-1:], np.inf) if cuts.size else np.zeros(1)
        points = np.concatenate([cuts, beyond, [np.nan]])
        X = np.zeros((points.size, len(self.cells)))
        X[:, column] = points
        values = self.parts.effect(source, X)
        return {
            "cuts": cuts.tolist(),
            "values": self.by_class(values[:-1]),
            "missing": self.single(values[-1:]),
        }

    def _category(self, source: int, cells: NDArray[np.intp], own: list[Cell]) -> dict[str, Any]:
        # Without a cell of its own, as for what training never saw, a value marks none.
        X = np.zeros((len(cells) + 1, len(self.cells)))
        X[np.arange(len(cells)), cells] = 1.0
        values = self.parts.effect(source, X)
        place = {(cell.kind, cell.category): i for i, cell in enumerate(own)}
        kept = [i for i, cell in enumerate(own) if cell.kind == "category"]
        other, missing = (place.get((kind, None), len(cells)) for kind in ("other", "missing"))
        return {
            "categories": [own[i].category for i in kept],
            "values": self.by_class(values[kept]),
            "other": self.single(values[[other]]),
            "missing": self.single(values[[missing]]),
        }

    def single(self, values: Floats) -> dict[str, float]:
        """Values (1, K') as a number per class."""
        return {name: column[0] for name, column in self.by_class(values).items()}
