"""How a request is put: its address, headers, key, revision, and the form of its body."""

from service.domain.problems.problem import Problem

REQUESTS: dict[str, Problem] = {
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
    "unknown_parameter": Problem(
        "Unknown parameter",
        "The query has a parameter that this operation does not know. Nothing is ignored in silence.",
        "Check the spelling; `errors` names the known ones.",
    ),
    "missing": Problem(
        "Missing",
        "A field that is needed is absent.",
        "Give the field that the pointer names.",
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
    "duplicate": Problem(
        "Duplicate",
        "Something is named twice.",
        "Name it once; `errors` says where.",
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
    "unsupported_media_type": Problem(
        "Unsupported media type",
        "The body is in a form that is not read here, or its `Content-Type` is missing. curl says "
        "`application/x-www-form-urlencoded` unless told otherwise.",
        "Name the form of the body in `Content-Type`: `application/json` for documents; a table is "
        "read as `text/csv`, `application/json`, `application/x-ndjson`, Parquet or Arrow. A "
        "compressed body is not read; Parquet is the compressed form.",
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
    "headers_too_large": Problem(
        "Headers too large",
        "The headers have more than 64 KiB.",
        "Send fewer or shorter headers; look for cookies of another service on the same host.",
    ),
    "too_many_rows": Problem(
        "Too many rows",
        "One prediction request brings more rows than the limit.",
        "Send several requests; the answers are the same. Or raise `COSTBOOST_MAX_PREDICT_ROWS` "
        "(10000) and start the service again.",
    ),
    "not_found": Problem(
        "Not found",
        "Nothing with this id or name exists here, or it was deleted.",
        "Check the id or name in the path, or list the resource: `GET /v1/models`, `GET /v1/datasets`, "
        "`GET /v1/training-jobs`.",
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
}
