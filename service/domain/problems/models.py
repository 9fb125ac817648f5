"""Training jobs, and the models and versions that come of them."""

from service.domain.problems.problem import Problem

MODELS: dict[str, Problem] = {
    "unknown_algorithm": Problem(
        "Unknown algorithm",
        "There is no algorithm of this name.",
        "Take a name from `GET /v1/algorithms`, or leave `algorithm` out.",
    ),
    "invalid_param": Problem(
        "Invalid parameter",
        "A parameter of the algorithm is unknown or out of its bounds.",
        "`GET /v1/algorithms/{name}` has the JSON Schema of its parameters, with bounds and defaults.",
    ),
    "invalid_data": Problem(
        "Invalid data",
        "The data cannot be split, priced or learned from as asked.",
        "`errors` or `detail` says what is missing: rows of a class, groups, times, or a finite cost.",
    ),
    "not_binary": Problem(
        "Not binary",
        "This is for two classes, and the label has more.",
        "For costs, take the form with `classes`, `matrix` and `orientation`; leave `threshold` and "
        "the rule `empirical` out.",
    ),
    "too_few_rows": Problem(
        "Too few rows",
        "A class has too few rows to train, validate and test on.",
        "Send more rows of the class, or ask for fewer `folds` or another `test_fraction` in `split`.",
    ),
    "wrong_role": Problem(
        "Wrong role",
        "A column has a role that does not allow this use, such as costs that read an ignored column.",
        "Upload the table with another role for the column: `cost` for columns that costs read and "
        "nothing learns from, `feature` for columns to learn from (costs may read those too).",
    ),
    "not_done": Problem(
        "Not done",
        "The job has no output: it has not ended yet, or it failed.",
        "`GET` the job: once `status` is `succeeded` its output is there; `error` says why it is not.",
    ),
    "model_required": Problem(
        "Model required",
        "The request names no model, and there is none or more than one.",
        "Give `model` with a name from `GET /v1/models`.",
    ),
    "unknown_version": Problem(
        "Unknown version",
        "The model has no version of this number.",
        "List them with `GET /v1/models/{model}/versions`.",
    ),
    "alias_in_use": Problem(
        "Alias in use",
        "An alias points to the version, so it cannot be deleted.",
        "Point the alias at another version (`PUT /v1/models/{model}/aliases/{alias}`) or delete the "
        "alias first.",
    ),
    "no_report": Problem(
        "No report",
        "The version was made by a release that kept neither curves nor its test part.",
        "Train the model again: the same dataset, spec and seed give the same version, with a report.",
    ),
    "not_explainable": Problem(
        "Not explainable",
        "The version was stored without what contributions are measured from, so it has no reasons.",
        "Train the model again: every new version can explain.",
    ),
}
