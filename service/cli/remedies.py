"""What to do about a refusal, for those at a terminal; problems say it to those who write requests."""

from collections.abc import Mapping
from typing import Final

from service.domain.problems.registry import REMEDIES

_LARGER: Final = (
    "Leave out columns or rows that are not needed, or ask who runs the service to raise its limits."
)
_LATER: Final = "Try again in a few seconds; if it lasts, `costboost doctor` looks, where the service runs."

#: Each fault says what would be right.
_SAID: Final = ""
_OTHER: Final = "This service is of another release than this command: `costboost version`."

#: By the code of the problem, or of what ended a job.
_NEARER: Final[Mapping[str, str]] = {
    "malformed": "Look whether the file is whole, and of the kind that its name tells.",
    **dict.fromkeys(("invalid", "missing", "out_of_range", "duplicate", "too_few"), _SAID),
    "unknown_parameter": _OTHER,
    "method_not_allowed": _OTHER,
    "not_acceptable": _OTHER,
    "precondition_required": _OTHER,
    "precondition_failed": "Somebody has changed it meanwhile: look at it, and ask again.",
    "body_stalled": "Look whether the network is there, and ask again.",
    "not_finite": "Write a number; where it is not known, leave the cell empty, in JSON null.",
    "not_done": "Wait for it: `costboost jobs wait`; `costboost jobs show` says why it failed.",
    "model_required": "Name a model: `costboost models list`.",
    "not_found": (
        "Look at the spelling; `list` of `costboost models`, `datasets`, `costs`, `jobs`, `keys` has them."
    ),
    "conflict": "Look at it again: `costboost jobs show`, `costboost models show`.",
    "unauthorized": (
        "Set COSTBOOST_API_KEY to a key of this service; `costboost keys create` makes one where it runs."
    ),
    "insufficient_scope": "Take a key that has the scope: `costboost keys create --scopes …` makes one.",
    "foreign_origin": "Let --url name it as 127.0.0.1 or localhost, from the machine it runs on.",
    "unsupported_media_type": "Save the table as CSV, JSON, NDJSON, Parquet or Arrow.",
    "body_too_large": _LARGER,
    "dataset_too_large": _LARGER,
    "too_large": "Ask for less in `limits` of --spec, or ask who runs the service to raise its own.",
    "unreadable": "Look whether the file is whole, and of the kind that its name tells.",
    "empty_body": "Bring a file with a header line and at least two rows.",
    "label_absent": "Say with --label which column tells what each row turned out to be.",
    "no_feature": "Leave at least one column without a --role, so that something can be learned from.",
    "duplicate_role": "Give the roles label, weight, group, time and id to one column each.",
    "wrong_type": "Correct the values; where another type is meant, say so: --type zip=category.",
    "mixed_types": "Leave these cells empty if they are missing values, or say --type COLUMN=text.",
    "too_few_classes": "Bring rows of at least two classes, and look whether --label names the right column.",
    "too_many_classes": "Look whether --label names the right column: a number to be predicted is no class.",
    "unknown_class": "Write the class as the label spells it.",
    "unknown_column": "Look at the spelling, upper and lower case too.",
    "wrong_role": (
        "Give the column another --role: `cost` if only costs read it, none if it is also learned from."
    ),
    "unknown_dataset": "`costboost datasets list` tells what there is, `datasets upload` brings one.",
    "dataset_in_use": "Delete what was trained on it first: `costboost models delete`.",
    "unknown_cost_spec": "`costboost costs list` tells what there is; `costboost costs create` stores some.",
    "invalid_costs": (
        'Costs are JSON such as {"fn": 500, "fp": 10}; `costboost costs check` says what they lead to.'
    ),
    "unknown_algorithm": "`costboost algorithms` lists them; left out, the default is taken.",
    "invalid_param": "`costboost algorithms --json` has the parameters with their bounds and defaults.",
    "invalid_rows": "Correct these rows; an empty cell is a missing value, which costs do not take.",
    "missing_column": "Add the column; leave its cells empty where the value is not known.",
    "classes_mismatch": "Name the classes as the label spells them.",
    "not_binary": "For more than two classes give costs as a matrix, and leave --threshold out.",
    "no_review_action": "Leave --capacity out, or give costs that have a review.",
    "no_time_column": "Say --capacity 400 for the file, or upload the table with --role COLUMN=time.",
    "no_rows": "Name a --dataset.",
    "too_few_rows": "Bring more rows of the class, or ask for fewer `folds` in `split` of --spec.",
    "invalid_data": "Correct the table as is said above.",
    "unknown_version": "`costboost models versions` lists them.",
    "alias_in_use": "Point the alias elsewhere first: `costboost models promote`.",
    "too_many_jobs": "Wait until some have begun, or end some: `costboost jobs cancel`.",
    "busy": _LATER,
    "rate_limited": _LATER,
    "database_unavailable": _LATER,
    "storage_unavailable": _LATER,
    "worker_died": (
        "Ask for it again; if it happens again, the machine lacks memory: take fewer rows or columns."
    ),
    "memory_limit": 'Allow more by --spec \'{"limits": {"memory_mb": 8192}}\', or take fewer rows.',
    "time_limit": 'Allow more by --spec \'{"limits": {"seconds": 3600}}\', or take fewer rows or rounds.',
}


def remedy(code: str) -> str | None:
    """Say what to do about a problem; nothing where its own words say it."""
    return _NEARER.get(code, REMEDIES.get(code))
