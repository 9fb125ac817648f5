"""Tables and rows: their bytes, names, values, roles and labels."""

from service.domain.problems.problem import Problem

TABLES: dict[str, Problem] = {
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
    "unreadable": Problem(
        "Unreadable table",
        "The file could not be read as a table of its media type.",
        "Check that the file is whole, and that its `Content-Type` is what it is; with curl: `-F "
        "'file=@table.parquet;type=application/vnd.apache.parquet'`.",
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
    "missing_column": Problem(
        "Missing column",
        "A row lacks a column that the version needs.",
        "Give the column; `null` where its value is not known. `GET "
        "/v1/models/{model}/versions/{version}/schema` lists all, with an example row.",
    ),
    "missing_value": Problem(
        "Missing value",
        "A value is missing where one is needed: in a weight, time, group or cost.",
        "Fill it in, or leave the row out. Missing values of features are fine.",
    ),
    "missing_label": Problem(
        "Missing label",
        "A row has no label, and nothing can be learned from it.",
        "Label the row, or leave it out.",
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
    "invalid_table": Problem(
        "Invalid table",
        "The table has faults; `errors` lists the first of them with line and column, `errors_total` "
        "counts all.",
        "Correct the lines and send the table again; nothing of it was kept.",
    ),
    "invalid_rows": Problem(
        "Invalid rows",
        "Some rows cannot be scored; `errors` says which and why.",
        'Correct them. With `"on_row_error": "null"` such rows are answered with nulls, and the others '
        "as usual.",
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
    "unknown_dataset": Problem(
        "Unknown dataset",
        "There is no dataset of this id.",
        "List them with `GET /v1/datasets`, or upload one.",
    ),
}
