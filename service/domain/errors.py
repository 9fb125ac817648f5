"""What can go wrong, in the words of the domain; `service.api.errors` gives each class its status code.

Every error has a `code` of the registry `PROBLEMS`, which also makes the pages under `/problems/`.
Details name places (field, row, column), never the submitted value.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: How many single faults an answer lists; the rest is counted in `errors_total`.
MAX_LISTED_ERRORS = 20
_NAME_SHOWN = 40


def pointer(*parts: str | int) -> str:
    """RFC 6901 pointer of a place: `pointer("rows", 0, "a/b")` is "/rows/0/a~1b"."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def listed(names: Iterable[str], most: int = 20) -> str:
    """Names of columns or classes for a message: the first ones, and none at its full length if long."""
    every = [name if len(name) <= _NAME_SHOWN else f"{name[:_NAME_SHOWN]}..." for name in names]
    more = [f"... ({len(every)} in all)"] if len(every) > most else []
    return ", ".join(every[:most] + more)


@dataclass(frozen=True)
class FieldError:
    """One fault at one place of what was sent.

    Attributes
    ----------
    pointer : str
        RFC 6901 pointer into the request ("/rows/0/amount", "/costs/fn"), or "/file" for an uploaded table.
    code : str
        Machine-readable name of the fault.
    detail : str
        What is wrong and what would be right, without the submitted value.
    line : int or None
        Line of an uploaded text table, the header being line 1.
    column : str or None
        Column of an uploaded table.
    """

    pointer: str
    code: str
    detail: str
    line: int | None = None
    column: str | None = None


class CostboostError(Exception):
    """Root of every error the service answers; never raised itself.

    Attributes
    ----------
    errors : tuple of FieldError
        The single faults; a table with a million of them carries only the first ones.
    errors_total : int
        How many faults there are in all, listed or not.
    retry_after : int or None
        Seconds after which the same request may fare better.
    """

    retry_after: int | None = None

    def __init__(
        self, code: str, detail: str, errors: Sequence[FieldError] = (), errors_total: int | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.errors_total = len(self.errors) if errors_total is None else errors_total


class MalformedError(CostboostError):
    """The request could not be read at all (400)."""


class NotFoundError(CostboostError):
    """No such thing for this tenant (404)."""

    def __init__(self, kind: str, name: str, at: str | None = None) -> None:
        detail = f"no such {kind}"
        errors = [] if at is None else [FieldError(at, "not_found", detail)]
        super().__init__("not_found", detail, errors)
        self.kind = kind
        self.name = name


class ConflictError(CostboostError):
    """The thing is in the wrong state for this request (409)."""


class InProgressError(ConflictError):
    """The same request is still under way (409)."""

    retry_after = 1


class PreconditionFailedError(CostboostError):
    """`If-Match` names another revision (412)."""


class PreconditionRequiredError(CostboostError):
    """`If-Match` is missing where it is required (428)."""


class TooLargeError(CostboostError):
    """More bytes or rows than the limits allow (413)."""


class UnsupportedMediaTypeError(CostboostError):
    """A body of a media type that is not read here (415)."""


class NotAcceptableError(CostboostError):
    """An answer was asked for in a media type that is not written here (406)."""


class InvalidError(CostboostError):
    """Understood but invalid (422)."""


class UnauthorizedError(CostboostError):
    """It is not known who asks (401)."""


class ForbiddenError(CostboostError):
    """Known but not allowed (403)."""


class TooManyError(CostboostError):
    """More than a quota allows; try again after `retry_after` seconds (429)."""

    def __init__(self, code: str, detail: str, retry_after: int) -> None:
        super().__init__(code, detail)
        self.retry_after = retry_after


class UnavailableError(CostboostError):
    """Cannot be answered just now; try again after `retry_after` seconds (503)."""

    def __init__(self, code: str, detail: str, retry_after: int = 5) -> None:
        super().__init__(code, detail)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Problem:
    """A kind of error as its page shows it."""

    title: str
    meaning: str
    remedy: str


#: code -> what it means and what to do; whoever raises a new code adds its line here.
PROBLEMS: dict[str, Problem] = {
    "not_found": Problem(
        "Not found",
        "Nothing with this id or name exists here, or it was deleted.",
        "Check the id or name in the path, or list the resource: `GET /v1/models`, `GET /v1/datasets`, "
        "`GET /v1/training-jobs`.",
    ),
    "malformed": Problem(
        "Malformed request",
        "The body or the address could not be read at all: no JSON, NaN or Infinity, a NUL, or a form "
        "without its parts.",
        "Send well-formed data. Strict JSON has double quotes, no trailing comma and no NaN; a missing "
        "value is `null`.",
    ),
    "invalid": Problem(
        "Invalid request",
        "The body was read, but at least one field is wrong. `errors` lists each with a pointer, a "
        "code and what would be right.",
        "Correct the fields that the pointers name: `/costs/fn` is the field `fn` of `costs`, "
        "`/rows/0/amount` the `amount` of the first row. The fields and their bounds stand under "
        "`/docs`.",
    ),
    "conflict": Problem(
        "Conflict",
        "The resource is in a state that does not allow this, such as cancelling a job that is done.",
        "Read the resource again; its `status` says what is possible.",
    ),
    "idempotency_in_progress": Problem(
        "Key in use",
        "A request with this `Idempotency-Key` is still under way, or its process has just died.",
        "Send the same request again in a few seconds: it gets the answer of the first one.",
    ),
    "idempotency_mismatch": Problem(
        "Key of another body",
        "This `Idempotency-Key` came with another body before, so one of the two is not a retry.",
        "Take a new key for each thing that is to be made, and the same key only to send the same again.",
    ),
    "unknown_parameter": Problem(
        "Unknown parameter",
        "The query has a parameter that this operation does not know. Nothing is ignored in silence.",
        "Check the spelling; `errors` names the known ones.",
    ),
    "method_not_allowed": Problem(
        "Method not allowed",
        "The path exists, but not with this method.",
        "Use one of the methods that the header `Allow` of the answer lists.",
    ),
    "not_acceptable": Problem(
        "Not acceptable",
        "`Accept` asks for a media type that is not written here.",
        "Ask for `application/json`, or leave `Accept` out. Tables are also written as `text/csv` and "
        "`application/vnd.apache.parquet`.",
    ),
    "unauthorized": Problem(
        "Unauthorized",
        "The request has no API key, or one that is not valid here: mistyped, revoked or of another service.",
        "Send `Authorization: Bearer cb_…`. A first key is made where the service runs: `costboost keys "
        "create --tenant NAME --scopes admin`; others by `POST /v1/api-keys`.",
    ),
    "insufficient_scope": Problem(
        "Insufficient scope",
        "The API key is valid, but may not do this; `detail` names the scopes of which it needs one.",
        "Take a key with the scope. Keys are made by `POST /v1/api-keys` with a key of scope `admin`.",
    ),
    "foreign_origin": Problem(
        "Foreign origin",
        "A service without API keys answers only to loopback names and to its own pages, so that no "
        "web page and no other machine can use it.",
        "Address it as `127.0.0.1` or `localhost`, from the same machine. From another machine, take "
        "an SSH tunnel: `ssh -L 8000:127.0.0.1:8000 host`.",
    ),
    "body_too_large": Problem(
        "Body too large",
        "The body has more bytes than the limit.",
        "Send less: Parquet is much smaller than CSV. Or raise `COSTBOOST_MAX_UPLOAD_BYTES` (tables, "
        "256 MiB) or `COSTBOOST_MAX_PREDICT_BYTES` (predictions, 64 MiB) and start the service again; "
        "any other body may have 1 MiB.",
    ),
    "body_stalled": Problem(
        "Body stalled",
        "The body stopped before its end: for ten seconds nothing came.",
        "Send the request again, with an `Idempotency-Key` where something is made; look at the network "
        "and at what produces the body.",
    ),
    "too_many_rows": Problem(
        "Too many rows",
        "One prediction request brings more rows than the limit.",
        "Send several requests; the answers are the same. Or raise `COSTBOOST_MAX_PREDICT_ROWS` "
        "(10000) and start the service again.",
    ),
    "headers_too_large": Problem(
        "Headers too large",
        "The headers have more than 64 KiB.",
        "Send fewer or shorter headers; look for cookies of another service on the same host.",
    ),
    "unsupported_media_type": Problem(
        "Unsupported media type",
        "The body is in a form that is not read here, or its `Content-Type` is missing. curl says "
        "`application/x-www-form-urlencoded` unless told otherwise.",
        "Name the form of the body in `Content-Type`: `application/json` for documents; a table is "
        "read as `text/csv`, `application/json`, `application/x-ndjson`, Parquet or Arrow. A "
        "compressed body is not read; Parquet is the compressed form.",
    ),
    "precondition_required": Problem(
        "Precondition required",
        "Changing or deleting this needs the header `If-Match` with the ETag that was read, so that "
        "nobody overwrites what they have not seen.",
        "Read the resource, take `ETag` from the answer's headers, and send it back as `If-Match`.",
    ),
    "precondition_failed": Problem(
        "Precondition failed",
        "The resource was changed since it was read: its ETag is another one now.",
        "Read it again, decide again, and send its new ETag as `If-Match`.",
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
    "artifact_corrupt": Problem(
        "Artifact corrupt",
        "The stored bytes of the version are not those that training wrote: the disk or somebody "
        "changed them.",
        "Restore the folder of `COSTBOOST_STORE_URL` from a backup, or point the alias at another "
        "version; training again with the same spec and seed gives the same version.",
    ),
    "artifact_missing": Problem(
        "Artifact missing",
        "The stored bytes of the version are no longer there.",
        "Restore the folder of `COSTBOOST_STORE_URL` from a backup, or point the alias at another "
        "version; check that API and worker have the same `COSTBOOST_STORE_URL`.",
    ),
    "invalid_costs": Problem(
        "Invalid costs",
        "The costs cannot be used as they are written: two forms were mixed, a cell is missing, or a "
        "column or class is not one of the data.",
        "Use one form: `fn` and `fp`; or `classes`, `matrix` and `orientation`; or `classes`, "
        "`actions` and `costs`. `POST /v1/cost-specs/validate` checks costs without keeping them.",
    ),
    "unknown_cost_spec": Problem(
        "Unknown cost spec",
        "There is no cost spec of this id.",
        "List them with `GET /v1/cost-specs`, or give `costs` in the request.",
    ),
    "busy": Problem(
        "Busy",
        "Too many large predictions are waiting already.",
        "Send the request again after the seconds of `Retry-After`, or fewer rows at a time.",
    ),
    "rate_limited": Problem(
        "Rate limited",
        "The API key has sent more requests than `COSTBOOST_MAX_REQUESTS_PER_MINUTE` allows.",
        "Send the request again after the seconds of `Retry-After`; many rows fit into one prediction "
        "request.",
    ),
    "too_many_jobs": Problem(
        "Too many jobs",
        "The tenant has as many jobs waiting as `COSTBOOST_MAX_QUEUED_JOBS` allows.",
        "Wait until some have begun, or cancel some: `GET /v1/training-jobs?status=queued`.",
    ),
    "model_required": Problem(
        "Model required",
        "The request names no model, and there is none or more than one.",
        "Give `model` with a name from `GET /v1/models`.",
    ),
    "not_supported_yet": Problem(
        "Not supported yet",
        "The field belongs to the contract, but this release cannot do it yet.",
        "Leave the field out; the readme says what is coming.",
    ),
    "database_unavailable": Problem(
        "Database unavailable",
        "The database cannot be reached just now, or has no free connection.",
        "Send the request again after `Retry-After`. If it lasts: `GET /readyz`, "
        "`COSTBOOST_DATABASE_URL`, and for many clients `COSTBOOST_DATABASE_POOL`.",
    ),
    "storage_unavailable": Problem(
        "Storage unavailable",
        "The folder or bucket in which datasets and models are kept cannot be used just now.",
        "Send the request again after `Retry-After`. If it lasts: `GET /readyz` and `COSTBOOST_STORE_URL`.",
    ),
    "storage_full": Problem(
        "Storage full",
        "No space is left to store this.",
        "Free space where `COSTBOOST_STORE_URL` and `COSTBOOST_DATABASE_URL` lie: delete datasets and "
        "versions that nobody needs. Then send the request again.",
    ),
    "empty_body": Problem(
        "Empty body",
        "The table has no bytes, no header or no rows.",
        "Send a header and at least two rows. With curl a file goes along as `--data-binary @file.csv` "
        "or `-F file=@file.csv`.",
    ),
    "encoding": Problem(
        "Encoding",
        "The text is not UTF-8.",
        "Save the file as UTF-8; a byte order mark is fine. `iconv -f latin1 -t utf-8 old.csv > "
        "new.csv` converts.",
    ),
    "nul": Problem(
        "NUL",
        "Text holds a NUL character.",
        "Remove it; a file with many of them is no text, perhaps UTF-16 or a spreadsheet: export it as "
        "CSV in UTF-8.",
    ),
    "line_too_long": Problem(
        "Line too long",
        "A line is too long to be a row.",
        "Check the line ends, and look for a quote that never closes.",
    ),
    "unclosed_quote": Problem(
        "Unclosed quote",
        "A quoted cell has no end.",
        "Close the quote; a quote inside of a quoted cell is doubled.",
    ),
    "csv_quote": Problem(
        "Quote",
        "Text follows a closing quote.",
        "Double each quote inside of a quoted cell.",
    ),
    "csv_syntax": Problem(
        "CSV syntax",
        "The line is no CSV.",
        "Separate cells by commas, end lines with LF or CRLF, and quote cells that hold commas or line ends.",
    ),
    "ragged_row": Problem(
        "Ragged row",
        "A row has more or fewer cells than the header.",
        "Give each row one cell for each column; an empty cell is a missing value. A comma in a number "
        "or text needs quotes around the cell.",
    ),
    "empty_header": Problem(
        "Empty header",
        "A column has no name.",
        "Name each column in the first line; a comma at its end makes an empty name.",
    ),
    "duplicate_header": Problem(
        "Duplicate header",
        "Two columns have one name.",
        "Give each column a name of its own.",
    ),
    "column_name": Problem(
        "Column name",
        "The name of a column is too long or not printable.",
        "Choose a name of at most 256 printable characters.",
    ),
    "wrong_type": Problem(
        "Wrong type",
        "A value is not of the type its field or column has.",
        "Send the type that `errors` names: a number without quotes, a category in quotes. In a table, "
        'declare another type where it is meant: `types={"zip": "category"}`.',
    ),
    "mixed_types": Problem(
        "Mixed types",
        "Most cells of a column are of one kind, and a few of another, such as `unknown` among numbers.",
        "Leave those cells empty if they are missing values, or declare the type of the column: "
        '`types={"amount": "text"}`.',
    ),
    "not_finite": Problem(
        "Not finite",
        "A number is infinite or too large, or NaN stands where JSON has none.",
        "Send a finite number; a missing one is an empty cell, in JSON `null`.",
    ),
    "cell_too_long": Problem(
        "Cell too long",
        "A text is too long for a cell.",
        "Shorten it, or leave the column out.",
    ),
    "missing_label": Problem(
        "Missing label",
        "A row has no label, and nothing can be learned from it.",
        "Label the row, or leave it out.",
    ),
    "missing_value": Problem(
        "Missing value",
        "A value is missing where one is needed: in a weight, time, group or cost.",
        "Fill it in, or leave the row out. Missing values of features are fine.",
    ),
    "negative_weight": Problem(
        "Negative weight",
        "A weight is below zero.",
        "Give weights of zero or more.",
    ),
    "too_few_classes": Problem(
        "Too few classes",
        "All rows have the same label.",
        "Send rows of at least two classes, and check that `label` names the right column.",
    ),
    "too_many_classes": Problem(
        "Too many classes",
        "The label has more classes than decisions are made between.",
        "Check that `label` names the right column; a number to be predicted is no class.",
    ),
    "unknown_class": Problem(
        "Unknown class",
        "A class is named that the label does not have.",
        "Name a class as the label spells it: `GET /v1/datasets/{dataset}` lists `classes`. They are "
        'text: `"1"`, not `1`.',
    ),
    "missing_class": Problem(
        "Missing class",
        "The label has a class that `classes` does not list.",
        "List all classes, or leave `classes` out.",
    ),
    "not_binary": Problem(
        "Not binary",
        "This is for two classes, and the label has more.",
        "For costs, take the form with `classes`, `matrix` and `orientation`; leave `threshold` and "
        "the rule `empirical` out.",
    ),
    "label_absent": Problem(
        "Label absent",
        "The table has no column of the name of the label, which is `label` unless said otherwise.",
        "Name the column with `label`.",
    ),
    "no_feature": Problem(
        "No feature",
        "No column is left to learn from: all have other roles.",
        "Give at least one column the role `feature` in `roles`.",
    ),
    "unknown_column": Problem(
        "Unknown column",
        "A column is named that the table does not have.",
        "Check the spelling, upper and lower case too; `GET /v1/datasets/{dataset}` lists `columns`.",
    ),
    "duplicate_role": Problem(
        "Duplicate role",
        "Two columns have a role that only one can have.",
        "Keep `label`, `weight`, `group`, `time` and `id` for one column each.",
    ),
    "duplicate": Problem(
        "Duplicate",
        "Something is named twice.",
        "Name it once; `errors` says where.",
    ),
    "invalid_table": Problem(
        "Invalid table",
        "The table has faults; `errors` lists the first of them with line and column, `errors_total` "
        "counts all.",
        "Correct the lines and send the table again; nothing of it was kept.",
    ),
    "dataset_too_large": Problem(
        "Dataset too large",
        "The table has more rows, columns or bytes than the limits.",
        "Send less: leave out columns that nothing is learned from, or a part of the rows of a "
        "frequent class. Or raise `COSTBOOST_MAX_ROWS` (2000000), `COSTBOOST_MAX_COLUMNS` (2000) or "
        "`COSTBOOST_MAX_DECODED_BYTES` (1 GiB) and start the service again; `COSTBOOST_INTAKE_SECONDS` "
        "and `COSTBOOST_INTAKE_MEMORY_MB` limit the reading itself.",
    ),
    "dataset_in_use": Problem(
        "Dataset in use",
        "A training job or version refers to the dataset, so it cannot be deleted.",
        "Delete the versions trained on it first; a version must be able to say what it was trained on.",
    ),
    "invalid_rows": Problem(
        "Invalid rows",
        "Some rows cannot be scored; `errors` says which and why.",
        'Correct them. With `"on_row_error": "null"` such rows are answered with nulls, and the others '
        "as usual.",
    ),
    "unreasonable_costs": Problem(
        "Unreasonable costs",
        "A wrong decision costs no more than the right one, so one decision would always be best. "
        "`errors` names the cells.",
        "Check the cells: `fn` must be larger than `tp`, and `fp` larger than `tn`; in a matrix the "
        "diagonal is the cheapest of its row. A benefit is a negative cost.",
    ),
    "zero_costs": Problem(
        "Zero costs",
        "All costs are zero, so no decision is better than another.",
        "Give at least `fn` and `fp`.",
    ),
    "unserved_class": Problem(
        "Unserved class",
        "It is not clear which class an action is for: its name is none of the classes, and no class "
        "makes it the cheapest. Or all actions are for one class, and the others could never be decided.",
        "Say it with `for`.",
    ),
    "classes_mismatch": Problem(
        "Classes mismatch",
        "The costs have other classes than the data.",
        "Name the classes as the label spells them: `GET /v1/datasets/{dataset}` lists `classes`.",
    ),
    "cost_not_finite": Problem(
        "Cost not finite",
        "The cost of a row is not a finite number, mostly because a column that costs read is missing in it.",
        "Fill the column in that `per` names. `min` and `max` do not stand in for a missing value.",
    ),
    "invalid_priors": Problem(
        "Invalid priors",
        "The priors are no shares of the classes.",
        "Give each class a share between 0 and 1, with sum 1.",
    ),
    "not_done": Problem(
        "Not done",
        "The job has no output: it has not ended yet, or it failed.",
        "`GET` the job: once `status` is `succeeded` its output is there; `error` says why it is not.",
    ),
    "no_time_column": Problem(
        "No time column",
        "Reviews are counted per hour, day, week or month, and no column says when a row came.",
        'Say which column it is when the table is uploaded: `roles={"at": "time"}`. Or count per `file`, '
        "which needs no such column.",
    ),
    "no_review_action": Problem(
        "No review",
        "A capacity for reviews is given, and none of the actions is a review.",
        "Leave `capacity` out, or send costs with a review among their actions, in the form with `actions`: "
        "the example has one.",
    ),
    "no_rows": Problem(
        "No rows",
        "The costs read columns of the rows, and the rows themselves are not kept here.",
        "Use costs that read no column, or name a `dataset`.",
    ),
    "not_explainable": Problem(
        "Not explainable",
        "The version was stored without what contributions are measured from, so it has no reasons.",
        "Train the model again: every new version can explain.",
    ),
    "invalid_data": Problem(
        "Invalid data",
        "The data cannot be split, priced or learned from as asked.",
        "`errors` or `detail` says what is missing: rows of a class, groups, times, or a finite cost.",
    ),
    "internal": Problem(
        "Internal error",
        "Something unexpected: this is a fault of the service, not of the request.",
        "Report the `request_id`; the log of the service has the place under it.",
    ),
    "missing": Problem(
        "Missing",
        "A field that is needed is absent.",
        "Give the field that the pointer names.",
    ),
    "missing_column": Problem(
        "Missing column",
        "A row lacks a column that the version needs.",
        "Give the column; `null` where its value is not known. `GET "
        "/v1/models/{model}/versions/{version}/schema` lists all, with an example row.",
    ),
    "out_of_range": Problem(
        "Out of range",
        "A value lies outside its bounds.",
        "Choose a value within the bounds that `errors` names; they stand under `/docs` too.",
    ),
    "exclusive": Problem(
        "Exclusive fields",
        "Fields were given together of which only one may be.",
        "Give one of them and leave the other out.",
    ),
    "too_few": Problem(
        "Too few",
        "A list holds fewer items than are needed.",
        "`errors` says how many are needed.",
    ),
    "too_large": Problem(
        "Too large a limit",
        "A limit of the request is above what this service allows.",
        "Ask for less, or raise `COSTBOOST_MAX_JOB_SECONDS` or `COSTBOOST_MAX_JOB_MEMORY_MB` and start "
        "the service again.",
    ),
    "too_few_rows": Problem(
        "Too few rows",
        "A class has too few rows to train, validate and test on.",
        "Send more rows of the class, or ask for fewer `folds` or another `test_fraction` in `split`.",
    ),
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
    "wrong_role": Problem(
        "Wrong role",
        "A column has a role that does not allow this use, such as costs that read an ignored column.",
        "Upload the table with another role for the column: `cost` for columns that costs read and "
        "nothing learns from, `feature` for columns to learn from (costs may read those too).",
    ),
    "unknown_version": Problem(
        "Unknown version",
        "The model has no version of this number.",
        "List them with `GET /v1/models/{model}/versions`.",
    ),
    "unreadable": Problem(
        "Unreadable table",
        "The file could not be read as a table of its media type.",
        "Check that the file is whole, and that its `Content-Type` is what it is; with curl: `-F "
        "'file=@table.parquet;type=application/vnd.apache.parquet'`.",
    ),
    "unknown_dataset": Problem(
        "Unknown dataset",
        "There is no dataset of this id.",
        "List them with `GET /v1/datasets`, or upload one.",
    ),
}
