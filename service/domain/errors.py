"""What can go wrong, in the words of the domain; `service.api.errors` gives each class its status code.

Every error has a `code` of the registry `PROBLEMS`, which also makes the pages under `/problems/`.
Details name places (field, row, column), never the submitted value.
"""

from collections.abc import Sequence
from dataclasses import dataclass

#: How many single faults an answer lists; the rest is counted in `errors_total`.
MAX_LISTED_ERRORS = 20


def pointer(*parts: str | int) -> str:
    """RFC 6901 pointer of a place: `pointer("rows", 0, "a/b")` is "/rows/0/a~1b"."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


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
    """

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

    def __init__(self, kind: str, name: str) -> None:
        super().__init__("not_found", f"no such {kind}")
        self.kind = kind
        self.name = name


class ConflictError(CostboostError):
    """The thing is in the wrong state for this request (409)."""


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


class ForbiddenError(CostboostError):
    """Known but not allowed (403)."""


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
        "Not found", "Nothing with this id or name exists here.", "Check the id, or list the resource."
    ),
    "malformed": Problem(
        "Malformed request", "The body is not readable in its media type.", "Send well-formed data."
    ),
    "invalid": Problem(
        "Invalid request", "The body was read but a field is wrong.", "See `errors` for each place."
    ),
    "conflict": Problem(
        "Conflict", "The resource is in a state that does not allow this.", "Read it and decide again."
    ),
    "unknown_parameter": Problem(
        "Unknown parameter", "The query has a parameter that is not known here.", "See the documentation."
    ),
    "method_not_allowed": Problem(
        "Method not allowed", "The path exists, but not with this method.", "`Allow` lists its methods."
    ),
    "not_acceptable": Problem(
        "Not acceptable", "`Accept` asks for a media type not written here.", "Ask for application/json."
    ),
    "foreign_origin": Problem(
        "Foreign origin",
        "A service without API keys answers only to loopback names and to its own pages.",
        "Address it as 127.0.0.1 or localhost, from the same machine.",
    ),
    "body_too_large": Problem(
        "Body too large", "The body has more bytes than the limit.", "Send less, or raise the limit."
    ),
    "too_many_rows": Problem(
        "Too many rows", "One request may bring only so many rows.", "Send several requests."
    ),
    "headers_too_large": Problem(
        "Headers too large", "The headers have more bytes than the limit.", "Send fewer or shorter headers."
    ),
    "unsupported_media_type": Problem(
        "Unsupported media type", "The body is in a form not read here.", "Send one of the listed types."
    ),
    "precondition_required": Problem(
        "Precondition required",
        "Changing or deleting this needs `If-Match` with the ETag that was read.",
        "Read the resource and send its ETag.",
    ),
    "precondition_failed": Problem(
        "Precondition failed", "It was changed since it was read.", "Read it again and decide again."
    ),
    "alias_in_use": Problem(
        "Alias in use", "An alias points to the version.", "Move or delete the alias first."
    ),
    "artifact_corrupt": Problem(
        "Artifact corrupt",
        "The stored bytes of the version are not those that training wrote.",
        "Restore the store from a backup, or move the alias to another version.",
    ),
    "artifact_missing": Problem(
        "Artifact missing",
        "The stored bytes of the version are no longer there.",
        "Restore the store from a backup, or move the alias to another version.",
    ),
    "invalid_costs": Problem(
        "Invalid costs", "The costs are not spelled as they should be.", "See `errors` for each place."
    ),
    "unknown_cost_spec": Problem(
        "Unknown cost spec", "There is no cost spec of this id.", "List the cost specs, or give `costs`."
    ),
    "busy": Problem(
        "Busy", "Too many large predictions are waiting already.", "Try again after `Retry-After`."
    ),
    "model_required": Problem(
        "Model required", "There is not exactly one model, so the request must name one.", "Give `model`."
    ),
    "not_supported_yet": Problem(
        "Not supported yet", "The field belongs to the contract but not to this release.", "Leave it out."
    ),
    "database_unavailable": Problem(
        "Database unavailable", "The database cannot be reached just now.", "Try again after `Retry-After`."
    ),
    "storage_full": Problem(
        "Storage full", "No space is left to store this.", "Free some space, then try again."
    ),
    "empty_body": Problem(
        "Empty body", "The table has no bytes, no header or no rows.", "Send a header and at least two rows."
    ),
    "encoding": Problem(
        "Encoding", "The text is not UTF-8.", "Save the file as UTF-8; a byte order mark is fine."
    ),
    "nul": Problem("NUL", "Text holds a NUL character.", "Remove it; a file with many of them is no text."),
    "line_too_long": Problem(
        "Line too long",
        "A line is too long to be a row.",
        "Check the line ends, and for a quote that never closes.",
    ),
    "unclosed_quote": Problem(
        "Unclosed quote", "A quoted cell has no end.", "Close the quote; a quote inside of one is doubled."
    ),
    "csv_quote": Problem(
        "Quote", "Text follows a closing quote.", "Double the quotes inside of a quoted cell."
    ),
    "csv_syntax": Problem(
        "CSV syntax", "The line is no CSV.", "End lines with LF or CRLF, and quote cells that hold line ends."
    ),
    "ragged_row": Problem(
        "Ragged row", "A row has other columns than the header.", "Give each row one cell for each column."
    ),
    "empty_header": Problem("Empty header", "A column has no name.", "Name each column."),
    "duplicate_header": Problem(
        "Duplicate header", "Two columns have one name.", "Give each column a name of its own."
    ),
    "column_name": Problem(
        "Column name", "The name of a column is too long or not printable.", "Choose another name."
    ),
    "wrong_type": Problem(
        "Wrong type",
        "A value is not of the type of its column.",
        "See `errors`; declare another type where it is meant.",
    ),
    "mixed_types": Problem(
        "Mixed types",
        "A few cells of a column are of another kind.",
        "Correct them, or declare the type of the column.",
    ),
    "not_finite": Problem(
        "Not finite",
        "A number is infinite, or NaN where JSON has none.",
        "Send a finite number; a missing one is null.",
    ),
    "cell_too_long": Problem("Cell too long", "A text is too long for a cell.", "Shorten it."),
    "missing_label": Problem("Missing label", "A row has no label.", "Label it, or leave the row out."),
    "missing_value": Problem(
        "Missing value", "A value is missing where one is needed.", "Fill it in, or leave the row out."
    ),
    "negative_weight": Problem("Negative weight", "A weight is below zero.", "Weights are zero or more."),
    "too_few_classes": Problem(
        "Too few classes", "All rows have the same label.", "Send rows of at least two classes."
    ),
    "too_many_classes": Problem(
        "Too many classes",
        "The label has more classes than decisions are made between.",
        "Check which column is the label.",
    ),
    "unknown_class": Problem(
        "Unknown class",
        "A class is named that the label does not have.",
        "Name a class as the label spells it.",
    ),
    "missing_class": Problem(
        "Missing class", "The label has a class that is not listed.", "List all classes, or none."
    ),
    "not_binary": Problem(
        "Not binary", "This is for two classes.", "See the documentation for the form with more."
    ),
    "label_absent": Problem(
        "Label absent", "The table has no column of the name of the label.", "Name the column with `label`."
    ),
    "no_feature": Problem(
        "No feature", "No column is left to learn from.", "Give at least one column the role feature."
    ),
    "unknown_column": Problem(
        "Unknown column",
        "The table has no column of this name.",
        "Check the spelling, upper and lower case too.",
    ),
    "duplicate_role": Problem(
        "Duplicate role", "Two columns have a role that only one can have.", "Keep it for one of them."
    ),
    "duplicate": Problem("Duplicate", "Something is named twice.", "Name it once."),
    "invalid_table": Problem(
        "Invalid table",
        "The table has faults of several kinds.",
        "See `errors` for the line and column of each.",
    ),
    "dataset_too_large": Problem(
        "Dataset too large",
        "The table has more rows, columns or bytes than the limits.",
        "Send less, or raise the limit.",
    ),
    "dataset_in_use": Problem(
        "Dataset in use", "A training job or version refers to the dataset.", "Delete the versions first."
    ),
    "invalid_rows": Problem(
        "Invalid rows", "Some rows cannot be scored.", "See `errors`; `on_row_error` can leave such rows out."
    ),
    "unreasonable_costs": Problem(
        "Unreasonable costs",
        "A wrong decision costs no more than the right one.",
        "Check the cells that are named.",
    ),
    "zero_costs": Problem(
        "Zero costs", "All costs are zero, so no decision is better.", "Give at least fn and fp."
    ),
    "unserved_class": Problem(
        "Unserved class", "It is not clear which class an action is for.", "Say it with `for`."
    ),
    "classes_mismatch": Problem(
        "Classes mismatch", "The costs have other classes than the data.", "Name the classes of the data."
    ),
    "cost_not_finite": Problem(
        "Cost not finite",
        "The cost of a row is not a finite number.",
        "Check the columns that costs are computed from.",
    ),
    "invalid_priors": Problem(
        "Invalid priors",
        "The priors are no shares of the classes.",
        "Give shares between 0 and 1 with sum 1.",
    ),
    "invalid_data": Problem("Invalid data", "The data cannot be split or priced as asked.", "See `errors`."),
    "internal": Problem(
        "Internal error", "Something unexpected; this is a fault of the service.", "Report the request id."
    ),
    "missing": Problem("Missing", "A field that is needed is absent.", "Give it; `errors` says where."),
    "missing_column": Problem(
        "Missing column", "A row lacks a column that the version needs.", "Read the schema of the version."
    ),
    "out_of_range": Problem(
        "Out of range", "A value lies outside its bounds.", "See `errors` for the bounds."
    ),
    "exclusive": Problem(
        "Exclusive fields", "Fields were given together of which only one may be.", "Give one of them."
    ),
    "too_few": Problem("Too few", "A list holds fewer items than are needed.", "See `errors` for how many."),
    "too_large": Problem(
        "Too large a limit", "A limit of the request is above what this service allows.", "Ask for less."
    ),
    "too_few_rows": Problem(
        "Too few rows",
        "A class has too few rows to train, validate and test on.",
        "Send more rows of each class.",
    ),
    "unknown_algorithm": Problem(
        "Unknown algorithm", "There is no algorithm of this name.", "`/v1/algorithms` lists them."
    ),
    "invalid_param": Problem(
        "Invalid parameter",
        "A parameter of the algorithm is unknown or out of its bounds.",
        "Its JSON Schema is under `/v1/algorithms`.",
    ),
    "wrong_role": Problem(
        "Wrong role", "A column has a role that does not allow this use.", "See the columns of the dataset."
    ),
    "unknown_version": Problem(
        "Unknown version", "The model has no version of this number.", "List the versions of the model."
    ),
    "unreadable": Problem(
        "Unreadable table",
        "The file could not be read as a table of its media type.",
        "Check the file and its `Content-Type`.",
    ),
    "unknown_dataset": Problem(
        "Unknown dataset", "There is no dataset of this id.", "List the datasets, or upload one."
    ),
}
