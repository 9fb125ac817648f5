"""The answer of a prediction: arrays over rows become one JSON object a row. JSON has no NaN: it is null."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.api.problems import faults_of
from service.learning import Answers, Explanation
from service.rows import Sent, times
from service.usecases.predicting import Predicted, Priced
from service.usecases.scoring import Loaded
from service.usecases.threshold_reasons import ThresholdReason, threshold_reasons

#: Columns that nobody asks for that are named at most, of each row.
MAX_UNKNOWN_COLUMNS = 20
UNREASONABLE = "at the costs of this row a wrong decision costs no more than the right one"
_ENCODE = msgspec.json.Encoder().encode
_OF_A_ROW = (
    "probabilities",
    "decision",
    "label",
    "decision_source",
    "score",
    "log_odds",
    "expected_cost",
    "threshold",
    "thresholds",
    "thresholds_exact",
)
_OF_REASONS = (
    "explained",
    "explained_class",
    "explanation_method",
    "baseline",
    "reasons",
    "threshold_reason",
)
#: Of a row that could not be scored everything but its id is null.
NOTHING = _ENCODE(dict.fromkeys(_OF_A_ROW))[1:-1]
#: The same where reasons were asked for.
UNEXPLAINED = _ENCODE(dict.fromkeys(_OF_A_ROW + _OF_REASONS))[1:-1]


def encode(
    loaded: Loaded,
    sent: Sent,
    predicted: Predicted,
    priced: Priced | None,
    *,
    explained: bool,
    ids: Sequence[str] = (),
) -> bytes:
    """
    Write the whole answer.

    Parameters
    ----------
    explained : bool
        Whether reasons were asked for.
    ids : sequence of str
        Ids of the decision records of the sound rows, when they are kept.
    """
    whys = _whys(loaded, predicted, priced)
    rows = _rows(sent, predicted, UNEXPLAINED if explained else NOTHING, whys, ids)
    told = {row: _ENCODE(warnings) for row, warnings in _told(loaded, sent, predicted).items()}
    if told or any(sent.has(row, "id") for row in range(len(sent))):
        rows = [
            b'%b%b,"warnings":%b' % (_id(sent, row), one, told.get(row, b"[]"))
            for row, one in enumerate(rows)
        ]
        predictions = b"{%b}" % b"},{".join(rows)
    else:  # hardly any row has a warning
        predictions = b'{%b,"warnings":[]}' % b',"warnings":[]},{'.join(rows)
    answer = {
        "model": loaded.model.name,
        "version": loaded.version.number,
        "costs": _source(priced),
        "predictions": msgspec.Raw(b"[%b]" % predictions),
    }
    if predicted.faults:
        answer |= {"errors": faults_of(predicted.faults), "errors_total": predicted.faults_total}
    return _ENCODE(answer)


def _source(priced: Priced | None) -> dict[str, Any]:
    source: dict[str, Any] = {"source": "training" if priced is None else "request"}
    source["repriced"] = priced is not None
    if priced is not None and priced.cost_spec is not None:
        source |= {"cost_spec": priced.cost_spec, "revision": priced.revision}
    return source


def _rows(
    sent: Sent, predicted: Predicted, nothing: bytes, whys: Sequence[bytes], ids: Sequence[str]
) -> list[bytes]:
    """The members of each row's object, between its id and its warnings."""
    rows = list[bytes]()
    if (answers := predicted.answers) is not None:
        rows = _answered(answers, predicted.sources)
        if whys:
            rows = [b"%b,%b" % pair for pair in zip(rows, whys, strict=True)]
        if ids:
            rows = [
                b'"prediction_id":%b,%b' % (_ENCODE(id_), one) for id_, one in zip(ids, rows, strict=True)
            ]
    if len(rows) < len(sent):
        found = dict(zip(predicted.sound.tolist(), rows, strict=True))
        rows = [found.get(index, nothing) for index in range(len(sent))]
    return rows


def _whys(loaded: Loaded, predicted: Predicted, priced: Priced | None) -> list[bytes]:
    """Members that say why each sound row was decided as it was; none where nobody asked."""
    answers = predicted.answers
    if answers is None or answers.explanation is None:
        return []
    moved: Iterable[ThresholdReason | None] = repeat(None, len(predicted.sound))
    if answers.source == "expected_cost":
        costs = loaded.predictor.costs if priced is None else priced.costs
        moved = threshold_reasons(loaded, costs, predicted.columns) or moved
    reasons = _reasons(answers.classes, answers.explanation, loaded.model.reason_codes)
    return [_members({**one, "threshold_reason": why}) for one, why in zip(reasons, moved, strict=True)]


def _id(sent: Sent, row: int) -> bytes:
    return b'"id":%b,' % _ENCODE(sent.cell(row, "id")) if sent.has(row, "id") else b""


def _answered(answers: Answers, sources: Sequence[str]) -> list[bytes]:
    """Column by column: the numbers of a column are written in one go, and what all rows share but once."""
    classes, actions = answers.classes, answers.actions
    labels = [*classes, None]  # -1, a review, serves no class yet
    columns: dict[str, _Column] = {
        "probabilities": _objects(classes, answers.probabilities),
        "decision": [_chosen(actions, answers.decision)],
        "label": [_chosen(labels, answers.label)],
        "decision_source": [_texts(sources)],
        "score": _by_class(classes, answers.score),
        "log_odds": _by_class(classes, answers.log_odds),
        "expected_cost": _objects(actions, answers.expected_cost),
        "threshold": [_numbers(answers.threshold)],
        "thresholds": _thresholds(answers),
        "thresholds_exact": [_chosen([False, True], answers.thresholds_exact.astype(np.intp))],
    }
    parts: _Column = []
    for name, column in columns.items():
        parts += [b"%b%b:" % (b"," if parts else b"", _ENCODE(name)), *column]
    return _woven(parts, len(sources))


#: Pieces of what stands in each row, one after the other: for each row its own, or the same for all.
_Column = list[bytes | list[bytes]]


def _woven(parts: _Column, n: int) -> list[bytes]:
    """The rows: of each part its piece."""
    pieces, same = list[Iterable[bytes]](), b""
    for part in parts:
        if isinstance(part, bytes):
            same += part
        else:
            pieces += [repeat(same, n), part]
            same = b""
    return list(map(b"".join, zip(*pieces, repeat(same, n), strict=True)))


def _thresholds(answers: Answers) -> _Column:
    exact, written = answers.thresholds_exact, _objects(answers.classes, answers.thresholds)
    if exact.all():
        return written
    if not exact.any():
        return [b"null"]
    rows = _woven(written, len(exact))
    return [[one if is_exact else b"null" for one, is_exact in zip(rows, exact.tolist(), strict=True)]]


def _by_class(classes: Sequence[str], values: NDArray[np.float64]) -> _Column:
    """Two classes have one score, more have one each."""
    return [_numbers(values)] if values.ndim == 1 else _objects(classes, values)


def _objects(names: Sequence[str], values: NDArray[np.float64]) -> _Column:
    """One object of named numbers for each row of (n, K)."""
    column: _Column = []
    for name, own in zip(names, values.T, strict=True):
        column += [b"%b%b:" % (b"," if column else b"{", _ENCODE(name)), _numbers(own)]
    return [*column, b"}"]


def _numbers(values: NDArray[np.float64]) -> bytes | list[bytes]:
    bits = np.ascontiguousarray(values).view(np.int64)
    is_same = bool((bits == bits[0]).all())
    written = bytes(_ENCODE(values[:1].tolist() if is_same else values.tolist())[1:-1])
    return written if is_same else written.split(b",")


def _chosen(names: Sequence[object], places: NDArray[np.intp]) -> bytes | list[bytes]:
    """The name at each place."""
    written = [bytes(_ENCODE(name)) for name in names]
    if (places == places[0]).all():
        return written[int(places[0])]
    return [written[place] for place in places.tolist()]


def _texts(texts: Sequence[str]) -> bytes | list[bytes]:
    written = {text: _ENCODE(text) for text in set(texts)}
    return written[texts[0]] if len(written) == 1 else [written[text] for text in texts]


def _members(written: Mapping[str, Any]) -> bytes:
    """What stands between the braces of an object."""
    return _ENCODE(written)[1:-1]


def _reasons(
    classes: Sequence[str], explanation: Explanation, codes: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What each row's explained number is made of, the strongest push towards the decision first."""
    moments = {
        name for name, kind in zip(explanation.names, explanation.types, strict=True) if kind == "timestamp"
    }
    return [
        {
            "explained": explanation.explained,
            "explained_class": classes[decided],
            "explanation_method": explanation.method,
            "baseline": baseline,
            "reasons": [
                {
                    "feature": reason.feature,
                    "value": _value(reason.value, is_moment=reason.feature in moments),
                    "contribution": reason.contribution,
                    **({"code": codes[reason.feature]} if reason.feature in codes else {}),
                }
                for reason in explanation.reasons(row)
            ],
        }
        for row, (decided, baseline) in enumerate(
            zip(explanation.decided.tolist(), explanation.baseline.tolist(), strict=True)
        )
    ]


def _value(value: float | bool | str | None, *, is_moment: bool) -> float | bool | str | None:
    return times.written(value) if is_moment and isinstance(value, float) else value


def expected_beside(loaded: Loaded) -> set[str]:
    """Columns that rows may have beside those they are decided by."""
    schema = loaded.version.schema
    return {"id", str(schema.get("id") or "id"), str(schema.get("subject") or "id")}


def unknown_columns(names: Sequence[str]) -> list[dict[str, str]]:
    """Warn of columns that nobody asks for, of the first ones: a row may have thousands."""
    return [{"code": "unknown_column", "feature": name} for name in names[:MAX_UNKNOWN_COLUMNS]]


def _told(loaded: Loaded, sent: Sent, predicted: Predicted) -> dict[int, list[dict[str, str]]]:
    told = defaultdict[int, list[dict[str, str]]](list)
    if predicted.answers is None:
        return told
    known = predicted.columns.keys() | expected_beside(loaded)
    if not known.issuperset(predicted.extra):
        for row in range(len(sent)):
            told[row] += unknown_columns(sent.beyond(row, known))
    if predicted.answers.unreasonable is not None:
        for index in predicted.sound[predicted.answers.unreasonable].tolist():
            told[index].append({"code": "unreasonable_costs", "detail": UNREASONABLE})
    for name, unknown in predicted.answers.unknown.items():
        for index in predicted.sound[unknown].tolist():
            told[index].append({"code": "unknown_category", "feature": name})
    return told
