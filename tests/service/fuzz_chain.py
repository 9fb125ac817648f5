"""Lets part of the drawn requests succeed, so that links are followed from a table to a decision.

Loaded by the command of schemathesis, see `long_fuzz.py`. What is drawn at random is hardly ever a table with
two classes or a job that can be trained; without such answers there is no id for a link to lead on with.
"""

from typing import Any

import schemathesis

from tests.service import fuzz_hooks  # noqa: F401
from tests.service.conftest import table

MODEL = "chained"
TABLE = table(200).encode()
ROW = {"amount": 120.5, "hour": 3, "merchant": "d"}
JOB = {"model": MODEL, "costs": {"fn": 20, "fp": 1}, "algorithm": "cgada", "params": {"n_estimators": 3}}

_datasets: list[str] = []


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case, **__: Any) -> None:
    """Replace every other body by one that is right; an id that a link has put into it stays."""
    operation = _name_of(case)
    if operation == "read_training_job":
        case.headers = {"Prefer": "wait=5"}
    if len(repr(case.body)) % 2:
        return
    if operation == "create_dataset":
        case.media_type, case.body, case.query = "text/csv", TABLE, {}
        case.headers = {"Content-Type": "text/csv"}
    elif operation == "create_training_job" and _datasets:
        given = case.body.get("dataset") if isinstance(case.body, dict) else None
        case.media_type = "application/json"
        case.body = JOB | {"dataset": given if given in _datasets else _datasets[-1]}
    elif operation == "predict_with_model":
        case.media_type, case.body = "application/json", {"rows": [ROW]}


@schemathesis.hook
def after_call(_: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response) -> None:
    """Remember what can be trained on."""
    if _name_of(case) == "create_dataset" and response.status_code == 201:
        _datasets.append(response.json()["id"])


def _name_of(case: schemathesis.Case) -> Any:
    return case.operation.definition.raw.get("operationId")
