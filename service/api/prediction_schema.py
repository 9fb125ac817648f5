"""What the OpenAPI document says about `/predict`, whose body FastAPI does not decode."""

from typing import Any, Final

from service.domain.costs import COSTS

_REF = "#/components/schemas/{model}"

_NUMBERS: Final = {"type": "object", "additionalProperties": {"type": "number"}}

EXAMPLE_REQUEST: Final = {
    "model": "card-fraud",
    "rows": [{"id": "tx-1", "amount": 500, "zip": "01234", "merchant": "x9"}],
    "costs": {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": 5},
    "explain": {"top": 1},
}

EXAMPLE_ANSWER: Final = {
    "model": "card-fraud",
    "version": 7,
    "costs": {"source": "request", "repriced": True},
    "predictions": [
        {
            "id": "tx-1",
            "probabilities": {"legit": 0.934, "fraud": 0.066},
            "decision": "fraud",
            "label": "fraud",
            "decision_source": "expected_cost",
            "score": -1.32,
            "log_odds": -2.65,
            "expected_cost": {"legit": 33.0, "fraud": 4.67},
            "threshold": 0.0099,
            "thresholds": {"legit": 0.9901, "fraud": 0.0099},
            "thresholds_exact": True,
            "explained": "log_odds",
            "explained_class": "fraud",
            "explanation_method": "additive",
            "baseline": -4.2,
            "reasons": [{"feature": "merchant", "value": "x9", "contribution": 1.12}],
            "threshold_reason": {
                "columns": {"amount": 500},
                "typical": {"amount": 62},
                "typical_threshold": 0.0746,
            },
            "warnings": [{"code": "unknown_category", "feature": "merchant"}],
        }
    ],
}

REQUEST: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["rows"],
    "additionalProperties": False,
    "properties": {
        "model": {"type": "string", "description": "May be left out when there is exactly one."},
        "alias": {"type": "string", "description": "champion when neither alias nor version is given."},
        "version": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "description": "Column and value, as the version's schema names them; `id` is given back.",
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            },
        },
        "costs": COSTS.json_schema(ref_template=_REF) | {"description": "Instead of those of training."},
        "cost_spec": {"type": "string", "description": "Id or name of a stored cost spec."},
        "priors": _NUMBERS | {"description": "Share of each class where the rows come from."},
        "threshold": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "Two classes: positive above this probability, whatever the costs.",
        },
        "explain": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"top": {"type": "integer", "minimum": 1, "description": "All when left out."}},
            "description": "Say for each row which columns pushed most towards its decision.",
        },
        "record": {
            "enum": [False, True, "durable"],
            "default": False,
            "description": "true: keep the decisions, each readable within a second by its `prediction_id`; "
            "durable: answer only when they are kept.",
        },
        "on_row_error": {
            "enum": ["fail", "null"],
            "default": "fail",
            "description": "null: a row with a fault is answered with nulls, the others as usual.",
        },
    },
    "example": EXAMPLE_REQUEST,
}

PREDICTION: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Of a row with a fault (on_row_error null) all but `id` and `warnings` is null.",
    "properties": {
        "id": {"type": ["string", "number", "null"], "description": "As sent."},
        "prediction_id": {"type": "string", "description": "With `record`: id of the decision record."},
        "probabilities": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
        "decision": {"type": ["string", "null"], "description": "The chosen action."},
        "label": {"type": ["string", "null"], "description": "The class it serves; null for a review."},
        "decision_source": {
            "enum": ["expected_cost", "threshold", "empirical", "sign", "review", "control", None]
        },
        "score": {"type": ["number", "object", "null"], "description": "F; of each class for more than two."},
        "log_odds": {"type": ["number", "object", "null"]},
        "expected_cost": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
        "threshold": {"type": ["number", "null"]},
        "thresholds": {"type": ["object", "null"], "additionalProperties": {"type": ["number", "null"]}},
        "thresholds_exact": {"type": ["boolean", "null"]},
        "explained": {
            "enum": ["log_odds", "score", None],
            "description": "With `explain`: what baseline and the contributions of all columns sum to. "
            "Log-odds where they are a straight line in the score, else the score. (`log_odds` itself is "
            "that of a probability at least 1e-6 away from 0 and 1; this number has no bound.)",
        },
        "explained_class": {
            "type": ["string", "null"],
            "description": "The class that was decided. For two classes the number is that of the positive "
            "class either way, for more that of this one.",
        },
        "explanation_method": {
            "enum": ["additive", "tree_shapley", "reference_shapley", "reference_permutations", None]
        },
        "baseline": {"type": ["number", "null"], "description": "The number without any contribution."},
        "reasons": {
            "type": ["array", "null"],
            "description": "The strongest push towards the decision first.",
            "items": {
                "type": "object",
                "properties": {
                    "feature": {"type": "string"},
                    "value": {"type": ["string", "number", "boolean", "null"]},
                    "contribution": {"type": "number"},
                    "code": {"type": "string", "description": "Where the model has `reason_codes`."},
                },
            },
        },
        "threshold_reason": {
            "type": ["object", "null"],
            "description": "With `explain`, where costs of the row moved its `threshold`: the columns they "
            "are computed from, and the threshold of a row with the typical values of training.",
            "properties": {
                "columns": _NUMBERS,
                "typical": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
                "typical_threshold": {"type": ["number", "null"]},
            },
        },
        "warnings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "code": {"enum": ["unknown_category", "unknown_column", "unreasonable_costs"]},
                    "feature": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}

ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["model", "version", "costs", "predictions"],
    "properties": {
        "model": {"type": "string"},
        "version": {"type": "integer"},
        "costs": {
            "type": "object",
            "properties": {
                "source": {"enum": ["training", "request"]},
                "repriced": {"type": "boolean"},
                "cost_spec": {"type": "string", "description": "Id of the stored cost spec that was used."},
                "revision": {"type": "integer"},
            },
        },
        "predictions": {"type": "array", "items": {"$ref": _REF.format(model="Prediction")}},
        "errors": {"type": "array", "items": {"$ref": _REF.format(model="Fault")}},
        "errors_total": {"type": "integer"},
    },
    "example": EXAMPLE_ANSWER,
}


def schemas() -> dict[str, Any]:
    """Give the components that the entries below refer to."""
    request = {**REQUEST, "properties": dict(REQUEST["properties"])}
    request["properties"]["costs"] = {
        key: value for key, value in REQUEST["properties"]["costs"].items() if key != "$defs"
    }
    costs = REQUEST["properties"]["costs"].get("$defs", {})
    return {**costs, "PredictRequest": request, "Prediction": PREDICTION, "PredictAnswer": ANSWER}


_BINARY: Final = {"schema": {"type": "string", "format": "binary"}}
#: What a table of rows or of predictions may be beside JSON.
_TABLES: Final[dict[str, Any]] = {
    "application/x-ndjson": {"schema": {"type": "string", "description": "One row a line."}},
    "text/csv": {"schema": {"type": "string"}},
    "application/vnd.apache.parquet": _BINARY,
    "application/vnd.apache.arrow.stream": _BINARY,
}


def _parameter(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": description}


_TEXT: Final = {"type": "string"}
_PARAMETERS: Final[list[dict[str, Any]]] = [
    _parameter("model", _TEXT, "Which model; may be left out when there is exactly one."),
    _parameter("alias", _TEXT, "Which alias; champion when neither is given."),
    _parameter("version", {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, "Which version instead."),
    _parameter("cost_spec", _TEXT, "Id or name of stored costs, instead of those of training."),
    _parameter("priors", _TEXT, "JSON object: share of each class where the rows come from."),
    _parameter("threshold", {"type": "number", "minimum": 0, "maximum": 1}, "As in JSON."),
    _parameter("on_row_error", {"enum": ["fail", "null"]}, "As in JSON."),
    _parameter("explain", _TEXT, "How many reasons, or `all`; only where JSON is answered."),
    _parameter("record", {"enum": ["true", "false", "durable"]}, "As in JSON."),
]

OPENAPI: Final[dict[str, Any]] = {
    "parameters": _PARAMETERS,
    "requestBody": {
        "required": True,
        "description": "JSON has rows and options; another table has its options in the query. NDJSON that "
        "is answered as NDJSON may have any number of rows.",
        "content": {
            "application/json": {"schema": {"$ref": _REF.format(model="PredictRequest")}},
            **_TABLES,
        },
    },
}

PREDICTED: Final[dict[str, Any]] = {
    "description": "One prediction for each row, in the order of the rows; in the media type of the body "
    "unless `Accept` says otherwise. Tables have the columns `id`, `decision`, `label`, `score`, "
    "`probability_<class>`, `expected_cost_<action>`, `threshold`, and `prediction_id` with `record`.",
    "content": {
        "application/json": {"schema": {"$ref": _REF.format(model="PredictAnswer")}},
        **_TABLES,
    },
}
