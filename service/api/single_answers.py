"""The answer to a single row: what `answers` writes, without arrays."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from service.api.answers import UNREASONABLE, expected_beside, unknown_columns
from service.usecases.scoring import Loaded
from service.usecases.single_row import DecidedRow

_ENCODE = msgspec.json.Encoder().encode
_COSTS_OF_TRAINING = {"source": "training", "repriced": False}


def encode_row(loaded: Loaded, decided: DecidedRow) -> bytes:
    """Write the whole answer."""
    return _ENCODE(
        {
            "model": loaded.model.name,
            "version": loaded.version.number,
            "costs": _COSTS_OF_TRAINING,
            "predictions": [_prediction(loaded, decided)],
        }
    )


def _prediction(loaded: Loaded, decided: DecidedRow) -> dict[str, Any]:
    answer, row, predictor = decided.answer, decided.answer.decided, loaded.predictor
    classes, actions = predictor.classes, predictor.actions
    is_exact = not math.isnan(row.thresholds[0])
    has_threshold = not (answer.unreasonable or math.isnan(row.threshold))
    written = {
        "probabilities": dict(zip(classes, answer.probabilities, strict=True)),
        "decision": actions[row.decision],
        "label": classes[row.label] if row.label >= 0 else None,
        "decision_source": "expected_cost" if row.label >= 0 else "review",
        "score": _by_class(classes, answer.score),
        "log_odds": _by_class(classes, answer.log_odds),
        "expected_cost": dict(zip(actions, row.expected_cost, strict=True)),
        "threshold": row.threshold if has_threshold else None,
        "thresholds": dict(zip(classes, row.thresholds, strict=True)) if is_exact else None,
        "thresholds_exact": is_exact,
        "warnings": _warnings(loaded, decided),
    }
    return {"id": decided.row["id"], **written} if "id" in decided.row else written


def _by_class(classes: Sequence[str], values: Sequence[float]) -> float | dict[str, float]:
    """Two classes have one score, more have one each."""
    return values[0] if len(values) == 1 else dict(zip(classes, values, strict=True))


def _warnings(loaded: Loaded, decided: DecidedRow) -> list[dict[str, str]]:
    beside = expected_beside(loaded) if decided.extra else set[str]()
    told = unknown_columns([name for name in decided.extra if name not in beside])
    if decided.answer.unreasonable:
        told.append({"code": "unreasonable_costs", "detail": UNREASONABLE})
    return told + [{"code": "unknown_category", "feature": name} for name in decided.answer.unknown]
