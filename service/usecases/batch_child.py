"""What guarded children do for batch predictions: read the rows of a file, and later decide them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service import learning
from service.artifacts.store import ArtifactStore
from service.compute import Compute
from service.compute import spread as side_by_side
from service.domain.costs import COSTS
from service.domain.datasets import InputColumn, IntakeLimits
from service.domain.errors import FieldError, InvalidError
from service.domain.nearest import listed_for
from service.learning import Answers, Asked, Explanation, Predictor, PricedCosts
from service.rows import (
    TypedArray,
    decode_column,
    decode_table,
    missing,
    read_parquet,
    read_raw,
    text_of,
    write_parquet,
    write_table,
)
from service.rows.cells import Kind
from service.rows.media import ARROW, CSV, PARQUET, MediaType
from service.rows.raw import RawTable
from service.usecases.labelled_rows import codes_of, periods_of
from service.usecases.prediction_columns import prediction_columns, schema_of, spread, texts

#: phase, round, rounds, fraction of the whole
Report = Callable[[str, int, int, float], None]
Columns = Mapping[str, TypedArray]

#: Rows that are decided between two reports of progress.
_PART: Final = 8_192
_ID: Final = "id"
MEDIA: Final[dict[str, MediaType]] = {"csv": CSV, "parquet": PARQUET, "arrow": ARROW}


def take_rows(payload: dict[str, Any], _send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """
    Read the file at `source` and write what a version needs of it to `target` as Parquet.

    Parameters
    ----------
    payload : dict
        `source`, `target`, `owner`, `media_type`, `limits`; `inputs` of the version; names of columns or null
        as `label`, `id` (of a file without a column `id`), `time` and `subject`, and whether the label is
        `label_required`.

    Raises
    ------
    InvalidError, MalformedError
        The table is refused: all faults of its rows, with their lines.
    """
    with Path(payload["source"]).open("rb") as file:
        raw = read_raw(file, payload["media_type"], IntakeLimits(**payload["limits"]))
    if not raw.rows:
        detail = "the table has no rows"
        raise InvalidError("empty_body", detail, [FieldError("/file", "too_few", detail)])
    inputs = [InputColumn(**column) for column in payload["inputs"]]
    if payload["time"] is not None and payload["time"] not in {column.name for column in inputs}:
        inputs.append(InputColumn(payload["time"], "timestamp", nullable=False))
    decoded = decode_table(raw, inputs)
    decoded.refuse_faults()
    columns, label = dict(decoded.columns), _label(payload, raw, {column.name for column in inputs})
    row_id = _ID if _ID in raw.names else payload["id"]
    described = [InputColumn(column.name, column.type) for column in inputs]
    kinds: tuple[tuple[str | None, Kind], ...] = (
        (row_id, "category"),
        (label, "label"),
        (payload["subject"], "category"),
    )
    for name, kind in kinds:
        if name is not None and name in raw.names and name not in columns:
            columns[name], _ = decode_column(raw, raw.names.index(name), kind)
            described.append(InputColumn(name, "text"))
    write_parquet(Path(payload["target"]), columns, described, payload["owner"])
    return {
        "rows": raw.rows,
        "columns": [{"name": column.name, "type": column.type} for column in described],
        "id": row_id if row_id in columns else None,
        "label": label,
        "subject": payload["subject"] if payload["subject"] in columns else None,
    }


def _label(payload: Mapping[str, Any], raw: RawTable, inputs: set[str]) -> str | None:
    name: str | None = payload["label"]
    if name in raw.names and name not in inputs:
        return name
    if payload["label_required"]:
        known = listed_for(name or "", (one for one in raw.names if one not in inputs))
        detail = f"the file has no column of this name beside those the version needs; it has {known}"
        raise InvalidError.at("/label", "label_absent", detail)
    return None


def execute(store: ArtifactStore, order: dict[str, Any], report: Report, compute: Compute) -> dict[str, Any]:
    """Decide all rows, part by part at these places, and keep the table of decisions.

    Returns
    -------
    dict
        `output_sha256` and `result`, as plain JSON.
    """
    report("reading", 0, 0, 0.0)
    artifact = store.read(order["artifact_sha256"])
    predictor = learning.load(artifact)
    spec = predictor.costs
    if order["costs"] is not None:
        spec = predictor.cost_spec(COSTS.validate_python(order["costs"]))
    described = [InputColumn(**column) for column in order["columns"]]
    columns = read_parquet(BytesIO(store.read(order["input_sha256"])), described)
    rows = _Rows(predictor, spec, columns, order)
    answers, reasons = rows.decide(artifact, compute, report)
    told: dict[str, Any] = {"rows": rows.n, "failed_rows": rows.n - len(rows.sound)}
    told["warnings"] = rows.warnings()
    if answers is not None:
        unseen = learning.unseen(answers)
        told["warnings"] += [{"code": "unknown_category", "rows": n, "detail": said} for n, said in unseen]
        answers, review = rows.within_capacity(answers)
        told |= {"decisions": _counts(answers), "expected_cost": _expected(answers), "review": review}
        told["metrics"] = rows.metrics(answers)
    report("storing", 0, 0, 1.0)
    output = rows.ids() | _output(rows, answers) | reasons
    with store.spool() as path:
        write_table(path, output, schema_of(output), MEDIA[order["output"]])
        told["bytes"] = path.stat().st_size
        return {"output_sha256": store.put_file(path), "result": told}


class _Rows:
    """The rows of a file, and those of them that can be decided."""

    def __init__(
        self, predictor: Predictor, spec: PricedCosts, columns: Columns, order: Mapping[str, Any]
    ) -> None:
        self.predictor, self.spec, self.columns, self.order = predictor, spec, columns, order
        self.n = len(next(iter(columns.values())))
        needed = [column.name for column in predictor.inputs(spec) if not column.nullable]
        holes = np.zeros(self.n, dtype=np.bool_)
        for name in needed:
            holes |= missing(columns[name])
        self.sound: NDArray[np.intp] = np.flatnonzero(~holes)

    def decide(
        self, artifact: bytes, compute: Compute, report: Report
    ) -> tuple[Answers | None, dict[str, TypedArray]]:
        """Answers to the sound rows, and columns with their reasons."""
        parts, reasons = list[Answers](), list[dict[str, TypedArray]]()
        count = -(-len(self.sound) // _PART)
        costs = None if self.order["costs"] is None else self.spec
        asked = Asked(costs, self.order["priors"], self.order["top"])
        # A few rows need no other machine.
        with side_by_side(compute) if count > 1 else nullcontext():
            answered = learning.predict_parts(self.predictor, artifact, self._parts(), asked)
            for number, part in enumerate(answered, start=1):
                if part.explanation is not None:
                    reasons.append(_reasons(part.explanation))
                parts.append(part)
                report("predicting", number, count, number / count)
        found = {
            name: spread(np.concatenate([part[name] for part in reasons]), self.sound, self.n)
            for name in (reasons[0] if reasons else ())
        }
        return (learning.joined(parts) if parts else None), found

    def _parts(self) -> Iterator[Columns]:
        """What the version reads of the sound rows; ids and labels stay here."""
        names = [column.name for column in self.predictor.inputs(self.spec) if column.name in self.columns]
        for first in range(0, len(self.sound), _PART):
            rows = self.sound[first : first + _PART]
            yield {name: self.columns[name][rows] for name in names}

    def within_capacity(self, answers: Answers) -> tuple[Answers, dict[str, Any] | None]:
        """Decisions that send no more rows to review than there are places."""
        capacity = self.order["capacity"]
        if self.spec.review is None or capacity is None:
            return answers, None
        periods = None
        if capacity["per"] != "file":
            periods = periods_of(self.columns[self.order["time"]][self.sound], capacity["per"])
        prices = self._prices()
        return learning.within_capacity(answers, self.spec, prices, capacity["max"], periods)

    def metrics(self, answers: Answers) -> dict[str, Any] | None:
        """How good the decisions were, where the class of some rows is known."""
        label = self.order["label"]
        if label is None:
            return None
        codes = codes_of(self.columns[label][self.sound], self.predictor.classes)
        known = np.flatnonzero(codes >= 0)
        if not known.size:
            return None
        prices = self._prices()
        judged = learning.judge_answers(
            self.spec,
            learning.taken(answers, known),
            prices if prices.ndim == 2 else prices[known],
            codes[known],
            self.predictor.scale,
        )
        return {"labelled_rows": len(known), **judged.metrics(0)}

    def warnings(self) -> list[dict[str, Any]]:
        """What is odd about the labels: classes that the metrics cannot count."""
        if self.order["label"] is None:
            return []
        labels = self.columns[self.order["label"]]
        unknown = int(((codes_of(labels, self.predictor.classes) < 0) & ~missing(labels)).sum())
        if not unknown:
            return []
        detail = "rows have a label that is no class of the version; the metrics are without them"
        return [{"code": "unknown_class", "rows": unknown, "detail": detail}]

    def ids(self) -> dict[str, TypedArray]:
        """The column of ids, if there is one."""
        name = self.order["id"]
        if name is None:
            return {}
        return {_ID: texts([text_of(value) for value in self.columns[name].tolist()])}

    def _prices(self) -> NDArray[np.float64]:
        own = {name: values[self.sound] for name, values in self.columns.items()}
        return learning.prices_of(self.spec, own, len(self.sound))


def _output(rows: _Rows, answers: Answers | None) -> dict[str, TypedArray]:
    actions = [action.name for action in rows.spec.actions]
    return prediction_columns(answers, rows.sound, rows.n, classes=rows.predictor.classes, actions=actions)


def _reasons(explanation: Explanation) -> dict[str, TypedArray]:
    """`baseline`, and for each place of the order `reason_<k>` and `contribution_<k>`."""
    names, order = np.array(explanation.names, dtype=object), explanation.order
    added = np.take_along_axis(explanation.contributions, order, axis=1)
    found: dict[str, TypedArray] = {"baseline": explanation.baseline}
    for k in range(order.shape[1]):
        found[f"reason_{k + 1}"] = names[order[:, k]]
        found[f"contribution_{k + 1}"] = added[:, k]
    return found


def _counts(answers: Answers) -> dict[str, int]:
    counts = np.bincount(answers.decision, minlength=len(answers.actions)).tolist()
    return dict(zip(answers.actions, counts, strict=True))


def _expected(answers: Answers) -> float:
    """Expected cost of all decisions together."""
    return float(answers.expected_cost[np.arange(len(answers.decision)), answers.decision].sum())
