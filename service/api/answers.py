"""The answer of a prediction: arrays over rows become one JSON object a row. JSON has no NaN: it is null."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from service.api.problems import faults_of
from service.learning import Answers, Explanation
from service.rows import Sent, times
from service.usecases.predicting import Predicted, Priced
from service.usecases.scoring import Loaded

UNREASONABLE = "at the costs of this row a wrong decision costs no more than the right one"
#: Of a row that could not be scored everything but its id is null.
NOTHING: dict[str, Any] = dict.fromkeys(
    (
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
)
#: The same where reasons were asked for.
UNEXPLAINED = NOTHING | dict.fromkeys(
    ("explained", "explained_class", "explanation_method", "baseline", "reasons")
)


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
    nothing = UNEXPLAINED if explained else NOTHING
    answer = {
        "model": loaded.model.name,
        "version": loaded.version.number,
        "costs": _source(priced),
        "predictions": _predictions(
            sent,
            predicted,
            _warnings(loaded, sent, predicted),
            nothing,
            ids=ids,
            codes=loaded.model.reason_codes,
        ),
    }
    if predicted.faults:
        answer |= {"errors": faults_of(predicted.faults), "errors_total": predicted.faults_total}
    return msgspec.json.encode(answer)


def _source(priced: Priced | None) -> dict[str, Any]:
    source: dict[str, Any] = {"source": "training" if priced is None else "request"}
    source["repriced"] = priced is not None
    if priced is not None and priced.cost_spec is not None:
        source |= {"cost_spec": priced.cost_spec, "revision": priced.revision}
    return source


def _predictions(
    sent: Sent,
    predicted: Predicted,
    warnings: list[list[dict[str, str]]],
    nothing: dict[str, Any],
    *,
    ids: Sequence[str],
    codes: Mapping[str, str],
) -> list[dict[str, Any]]:
    answered = list[dict[str, Any]]()
    if predicted.answers is not None:
        answered = _answered(predicted.answers, predicted.sources)
        if predicted.answers.explanation is not None:
            reasons = _reasons(predicted.answers.classes, predicted.answers.explanation, codes)
            answered = [one | told for one, told in zip(answered, reasons, strict=True)]
        if ids:
            answered = [{"prediction_id": id_, **one} for id_, one in zip(ids, answered, strict=True)]
    if len(answered) < len(sent):
        found = dict(zip(predicted.sound.tolist(), answered, strict=True))
        answered = [found.get(index, nothing) for index in range(len(sent))]
    return [
        {**_id(sent, row), **one, "warnings": told}
        for row, (one, told) in enumerate(zip(answered, warnings, strict=True))
    ]


def _id(sent: Sent, row: int) -> dict[str, Any]:
    return {"id": sent.cell(row, "id")} if sent.has(row, "id") else {}


def _answered(answers: Answers, sources: Sequence[str]) -> list[dict[str, Any]]:
    classes, actions = answers.classes, answers.actions
    labels = [*classes, None]  # -1, a review, serves no class yet
    exact = answers.thresholds_exact.tolist()
    return [
        {
            "probabilities": dict(zip(classes, p, strict=True)),
            "decision": actions[decision],
            "label": labels[label],
            "decision_source": source,
            "score": _by_class(classes, score),
            "log_odds": _by_class(classes, log_odds),
            "expected_cost": dict(zip(actions, cost, strict=True)),
            "threshold": threshold,
            "thresholds": dict(zip(classes, thresholds, strict=True)) if is_exact else None,
            "thresholds_exact": is_exact,
        }
        for p, decision, label, source, score, log_odds, cost, threshold, thresholds, is_exact in zip(
            answers.probabilities.tolist(),
            answers.decision.tolist(),
            answers.label.tolist(),
            sources,
            answers.score.tolist(),
            answers.log_odds.tolist(),
            answers.expected_cost.tolist(),
            answers.threshold.tolist(),
            answers.thresholds.tolist(),
            exact,
            strict=True,
        )
    ]


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


def _by_class(classes: Sequence[str], value: Any) -> Any:
    """Two classes have one score, more have one each."""
    return dict(zip(classes, value, strict=True)) if isinstance(value, list) else value


def _warnings(loaded: Loaded, sent: Sent, predicted: Predicted) -> list[list[dict[str, str]]]:
    if predicted.answers is None:
        return [[] for _ in range(len(sent))]
    extra = [name for name in predicted.extra if name not in ("id", loaded.version.schema.get("subject"))]
    told: list[list[dict[str, str]]] = [
        [{"code": "unknown_column", "feature": name} for name in extra if sent.has(row, name)]
        for row in range(len(sent))
    ]
    if predicted.answers.unreasonable is not None:
        for index in predicted.sound[predicted.answers.unreasonable].tolist():
            told[index].append({"code": "unreasonable_costs", "detail": UNREASONABLE})
    for name, unknown in predicted.answers.unknown.items():
        for index in predicted.sound[unknown].tolist():
            told[index].append({"code": "unknown_category", "feature": name})
    return told
