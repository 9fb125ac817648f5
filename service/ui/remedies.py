"""What to do about a refusal, for those who look at pages; problems say it to those who write requests."""

from collections.abc import Mapping
from typing import Final

from service.domain.problems.registry import REMEDIES

_LISTS: Final = "Choose one that the form lists; the lists in the menu have what there is, and make another."
_FORM: Final = "Correct what is named above, and send it again."
_LATER: Final = (
    "Try again in a few seconds. If it lasts, tell who runs the service: `costboost doctor` looks."
)
_LARGER: Final = (
    "Leave out columns or rows that are not needed, or ask who runs the service to raise its limits."
)

#: By the code of the problem, or of what ended a job.
_NEARER: Final[Mapping[str, str]] = {
    "not_found": "The lists in the menu have what there is; what was deleted is gone.",
    "malformed": (
        "Correct the text: names and words have double quotes, and no comma stands before a bracket's end."
    ),
    "invalid": _FORM,
    "missing": "Fill in what is named above, and send it again.",
    "exclusive": "Fill in one of them and leave the other one empty.",
    "out_of_range": "Choose a value within the bounds that the field tells.",
    "too_large": "Choose a value within the bounds that the field tells.",
    "duplicate": "Name it once, and send it again.",
    "too_few": "Give as many as are asked for, and send it again.",
    "unknown_parameter": "Follow a link of the pages; the address that was asked for has a part too many.",
    "not_acceptable": "Open the page in a browser.",
    "precondition_required": "Load the page again, and send it from there.",
    "precondition_failed": "It has changed meanwhile: load the page again, and decide anew.",
    "not_finite": "Write a number; where it is not known, leave the field or the cell empty.",
    "not_done": "Wait until the job has ended; its page tells how far it is, or why it failed.",
    "model_required": "Choose a model in the overview.",
    "alias_in_use": "Make another version champion first; then this one can go.",
    "conflict": "It has changed meanwhile: load the page again.",
    "unauthorized": "Sign in with another key; `costboost keys create` makes one where the service runs.",
    "insufficient_scope": (
        "Sign in with a key that has the scope, or ask for one: those with the scope `admin` make keys."
    ),
    "foreign_origin": "Open the page at the address of the service itself, and send it from there.",
    "dataset_in_use": "It stays as long as a job or a version can say that it was trained on it.",
    "unsupported_media_type": (
        "Save the table as CSV (a spreadsheet does so by “Save as”), or as JSON, Parquet or Arrow."
    ),
    "body_too_large": _LARGER,
    "dataset_too_large": _LARGER,
    "body_stalled": "Look whether the network is there, and send it again.",
    "empty_body": "Bring a file with a header line and at least two rows.",
    "encoding": "Save the file as UTF-8, which every spreadsheet offers when it saves a CSV.",
    "unreadable": "Look whether the file is whole, and has the ending of what it is.",
    "label_absent": "Write under “Column of the label” which column says what each row turned out to be.",
    "no_feature": "Leave at least one column without a role, so that something can be learned from.",
    "duplicate_role": "Name one column each under label, weight, group, time and id.",
    "too_few_classes": "Bring rows of at least two classes, and look whether “Column of the label” is right.",
    "too_many_classes": "Look whether “Column of the label” is right: a number to be predicted is no class.",
    "unknown_class": "Write the class as the label spells it.",
    "wrong_type": "Correct the cells that are named above.",
    "mixed_types": "Leave these cells empty if they are missing values, and bring the table again.",
    "unknown_column": (
        "Look at the spelling, upper and lower case too; the page of the table lists its columns."
    ),
    "wrong_role": (
        "Bring the table again with another role for the column: “for costs only” for what nothing is "
        "learned from, none for what is."
    ),
    "unknown_dataset": _LISTS,
    "unknown_cost_spec": _LISTS,
    "unknown_algorithm": _LISTS,
    "unknown_version": "The page of the model lists its versions.",
    "invalid_param": "Under “Parameters of the algorithm” stand all of them with their bounds.",
    "invalid_rows": "Correct the fields named above. An empty one is missing, which costs do not take.",
    "missing_column": "Choose a table that has the columns of the one that was trained on.",
    "invalid_costs": "Write a missed positive and a false alarm in the fields, or one of the forms as JSON.",
    "unreasonable_costs": (
        "Look at the costs: a missed positive must cost more than one that is found, a false alarm "
        "more than a negative that is let through. A benefit is a negative cost."
    ),
    "zero_costs": "Say at least what a missed positive and what a false alarm costs.",
    "classes_mismatch": "Name the classes as the label spells them; the page of the table lists them.",
    "cost_not_finite": (
        "Fill in the empty cells of the column that the costs read, and bring the table again."
    ),
    "not_binary": "For more than two classes write the costs as JSON, and leave the empirical rule out.",
    "no_review_action": "Leave the number of reviews empty, or choose costs that have a review.",
    "no_time_column": "Count reviews per file, or bring the table again with a column for the time.",
    "no_rows": "Choose a table.",
    "too_few_rows": "Bring more rows of the class, or ask for fewer folds or another test part.",
    "invalid_data": "Correct the table as is said above, and bring it again.",
    "too_many_jobs": "Wait until some have begun, or end some under “Training”.",
    "busy": _LATER,
    "rate_limited": _LATER,
    "database_unavailable": _LATER,
    "storage_unavailable": _LATER,
    "worker_died": (
        "Ask for it again. If it happens again, the machine lacks memory: take fewer rows or columns."
    ),
    "memory_limit": "Take fewer rows or columns, or ask who runs the service for more memory.",
    "time_limit": "Take fewer rows, rounds or trials, or ask who runs the service for more time.",
    "storage_full": "Delete tables and versions that nobody needs, or tell who runs the service.",
    "internal": "Try it once more. If it lasts, tell who runs the service; its log has what happened.",
    "method_not_allowed": "Open the page anew, and send it from there.",
}


def remedy(code: str) -> str | None:
    """Say what to do about a problem; None where nothing is known of it."""
    return _NEARER.get(code, REMEDIES.get(code))
